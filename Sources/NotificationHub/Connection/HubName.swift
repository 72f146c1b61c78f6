import ByteText

/// The name of a notification hub. It has 1…260 ASCII letters, digits, `.`, `-` and `_`, as in the official clients,
/// and needs no escaping in a URI.
public struct HubName: Sendable, Hashable, CustomStringConvertible {
    public static let lengthMax = 260

    /// The name as given. Hubs compare names without regard to case.
    public let text: String

    public init(_ text: some StringProtocol) throws(HubNameProblem) {
        let length = text.utf8.count
        guard length > 0 else { throw .empty }
        guard length <= Self.lengthMax else { throw .tooLong }
        let accepts = { (byte: UInt8) in byte.isASCIILetter || byte.isASCIIDigit || ".-_".utf8.contains(byte) }
        guard text.utf8.allSatisfy(accepts) else { throw .character }
        // These path segments mean "here" and "one level up".
        guard text != ".", text != ".." else { throw .character }
        self.text = String(text)
    }

    public var description: String { text }
}

/// The reason why a text is not a hub's name.
public enum HubNameProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case empty, tooLong, character

    public var description: String {
        switch self {
        case .empty: "the hub's name is empty; write the name shown in the portal, such as breaking-news"
        case .tooLong: "the hub's name is longer than \(HubName.lengthMax) characters; a hub has no such name"
        case .character:
            "the hub's name may only hold letters, digits, '.', '-' and '_'; write the name alone, not its address"
        }
    }
}
