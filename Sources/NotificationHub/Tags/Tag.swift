import ByteText

/// A word by which a hub routes sends to devices. Devices register tags, and sends name them.
///
/// Tags that differ only in ASCII letter case are equal, as in the client libraries; the text keeps its case.
public struct Tag: Sendable, CustomStringConvertible {
    /// The longest tag, in characters; for a reserved tag, the part between the braces.
    public static let lengthMax = 120

    public let text: String
    public let kind: Kind
    private let folded: String

    public enum Kind: Sendable, Hashable {
        /// ASCII letters, digits, `_ @ # . : -`.
        case ordinary
        /// `$InstallationId:{…}`: a hub adds it to all registrations of an installation.
        case installation
        /// `$UserId:{…}`: a hub derives it from an installation's user.
        case user
    }

    /// Reads one tag, which may be a reserved one.
    public init(_ text: some StringProtocol) throws(TagProblem) {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "$") else {
            try self.init(String(text), kind: .ordinary, inner: bytes[...], position: 1)
            return
        }
        for (kind, opening) in [(Kind.installation, Self.installationOpening), (.user, Self.userOpening)] {
            let length = opening.utf8.count
            guard String(decoding: bytes.prefix(length), as: UTF8.self).equalsIgnoringASCIICase(opening) else {
                continue
            }
            guard bytes.last == UInt8(ascii: "}") else {
                throw TagProblem(.unclosedBrace, position: bytes.count + 1)
            }
            try self.init(
                String(text), kind: kind, inner: bytes.dropFirst(length).dropLast(), position: length + 1)
            return
        }
        throw TagProblem(.reserved, position: 1)
    }

    /// Creates the reserved tag `$InstallationId:{id}`.
    public init(installation id: some StringProtocol) throws(TagProblem) {
        try self.init("\(Self.installationOpening)\(id)}")
    }

    /// Creates the reserved tag `$UserId:{id}`.
    public init(user id: some StringProtocol) throws(TagProblem) {
        try self.init("\(Self.userOpening)\(id)}")
    }

    private init(_ text: String, kind: Kind, inner: ArraySlice<UInt8>, position: Int) throws(TagProblem) {
        guard !inner.isEmpty else { throw TagProblem(.empty, position: position) }
        if let (offset, _) = inner.enumerated().first(where: { !Self.accepts($0.element, in: kind) }) {
            throw TagProblem(.character, position: position + offset)
        }
        guard inner.count <= Self.lengthMax else {
            throw TagProblem(.tooLong, position: position + Self.lengthMax)
        }
        self.text = text
        self.kind = kind
        folded = text.asciiLowercased
    }

    static let installationOpening = "$InstallationId:{"
    static let userOpening = "$UserId:{"

    static func accepts(_ byte: UInt8, in kind: Kind) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "-_@#.:".utf8.contains(byte)
            || (kind != .ordinary && byte == UInt8(ascii: "="))
    }

    public var description: String { text }
}

extension Tag: Hashable, Comparable {
    public static func == (lhs: Tag, rhs: Tag) -> Bool { lhs.folded == rhs.folded }
    public static func < (lhs: Tag, rhs: Tag) -> Bool { lhs.folded < rhs.folded }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(folded)
    }
}

/// The reason why a text is not a tag, with the position of the invalid character, counted from 1.
public struct TagProblem: Error, Sendable, Hashable, CustomStringConvertible {
    public var kind: Kind
    public var position: Int

    public enum Kind: Sendable, Hashable {
        case empty, character, tooLong, reserved, unclosedBrace
    }

    init(_ kind: Kind, position: Int) {
        self.kind = kind
        self.position = position
    }

    public var description: String {
        "tag, character \(position): \(kind.message)"
    }
}

extension TagProblem.Kind {
    var message: String {
        switch self {
        case .empty: "a tag has at least one character"
        case .character: "a tag may only hold ASCII letters, digits and _ @ # . : -"
        case .tooLong: "a tag has at most \(Tag.lengthMax) characters; choose a shorter one"
        case .reserved: "tags that start with '$' are the hub's own: only $InstallationId:{…} and $UserId:{…} exist"
        case .unclosedBrace: "the reserved tag has no '}' at its end; write $InstallationId:{…} or $UserId:{…}"
        }
    }
}

extension Tag: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(TagProblem) { try self.init(text) } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
