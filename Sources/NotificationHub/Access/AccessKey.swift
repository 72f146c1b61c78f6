import ByteText
import Crypto

/// The secret key of an access rule. It resembles base64 but is used as text: its UTF-8 bytes are the HMAC key.
///
/// Its description, its mirror and `dump` hide the text; only `revealed` returns it.
public struct AccessKey: Sendable {
    /// The longest key, in characters, as in the client libraries.
    public static let lengthMax = 256

    /// The secret text of the key.
    public let revealed: String

    public init(_ text: String) {
        revealed = text
    }

    /// The base64 of the HMAC-SHA256 of `text`.
    package func signature(of text: String) -> String {
        let key = SymmetricKey(data: Array(revealed.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
        // The bytes are passed as a buffer, because reading them as a sequence allocates for each.
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
    /// Compares two texts of equal length in a time that does not depend on where they differ.
    package func isEqualInConstantTime(to other: String) -> Bool {
        let (left, right) = (Array(utf8), Array(other.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// An access rule of a hub or a namespace: a name, one or two keys, and their rights.
public struct AccessRule: Sendable, Hashable {
    public var name: String
    public var primaryKey: AccessKey
    /// The second key, which allows the primary key to be replaced without interruption.
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

        /// Permits the registration of devices.
        public static let listen = Rights(rawValue: 1)
        public static let send = Rights(rawValue: 2)
        /// Permits reading and changing the registrations of others.
        public static let manage = Rights(rawValue: 4)
        package static let all: Rights = [.listen, .send, .manage]
    }
}
