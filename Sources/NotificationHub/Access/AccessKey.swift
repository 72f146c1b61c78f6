import ByteText
import Crypto

/// The secret key of an access rule. It looks like base64 but is used as text: its UTF-8 bytes are the HMAC key.
///
/// Its description, its mirror and `dump` hide the text; only `revealed` returns it.
public struct AccessKey: Sendable {
    /// The limit of the client libraries.
    public static let lengthMax = 256

    /// The secret itself.
    public let revealed: String

    public init(_ text: String) {
        revealed = text
    }

    /// The base64 of the HMAC-SHA256 of `text`.
    package func signature(of text: String) -> String {
        let key = SymmetricKey(data: Array(revealed.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
        // As bytes: as a sequence it would allocate for each of them.
        return code.withUnsafeBytes { Base64.encode(Array($0)) }
    }
}

extension AccessKey: Hashable {
    public static func == (lhs: AccessKey, rhs: AccessKey) -> Bool {
        lhs.revealed.isEqualInConstantTime(to: rhs.revealed)
    }
}

extension AccessKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(hidden)" }
    public var debugDescription: String { "(hidden)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension String {
    /// Takes the same time wherever two texts of equal length differ.
    func isEqualInConstantTime(to other: String) -> Bool {
        let (left, right) = (Array(utf8), Array(other.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// An access rule of a hub or a namespace: a name, one or two keys, and their rights.
public struct AccessRule: Sendable, Hashable {
    public var name: String
    public var primaryKey: AccessKey
    /// Allows the primary key to be replaced without interruption.
    public var secondaryKey: AccessKey?
    public var rights: Rights

    public init(name: String, primaryKey: AccessKey, secondaryKey: AccessKey? = nil, rights: Rights) {
        self.name = name
        self.primaryKey = primaryKey
        self.secondaryKey = secondaryKey
        self.rights = rights
    }

    public struct Rights: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Register devices.
        public static let listen = Rights(rawValue: 1)
        public static let send = Rights(rawValue: 2)
        /// Read and change the registrations of others.
        public static let manage = Rights(rawValue: 4)
    }
}
