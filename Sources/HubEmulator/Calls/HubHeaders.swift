public import NotificationHub

/// HTTP header fields in the order they were sent. Names compare without regard to case.
public struct HubHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    public private(set) var fields: [HeaderField] = []

    public init() {}

    public init(fields: [HeaderField]) {
        self.fields = fields
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { HeaderField($0.0, $0.1) }
    }

    public mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    public mutating func append(_ name: String, _ value: String) {
        fields.append(HeaderField(name, value))
    }

    /// The first field of that name.
    public subscript(name: String) -> String? {
        fields.first { $0.name.equalsIgnoringCase(name) }?.value
    }
}

extension String {
    /// ASCII letters compare without regard to case, everything else as it is.
    func equalsIgnoringCase(_ other: String) -> Bool {
        let (left, right) = (utf8, other.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).allSatisfy {
            $0 == $1 || ($0 | 0x20 == $1 | 0x20 && $0 | 0x20 >= 97 && $0 | 0x20 <= 122)
        }
    }

    func hasPrefixIgnoringCase(_ prefix: String) -> Bool {
        let (left, right) = (utf8, prefix.utf8)
        guard left.count >= right.count else { return false }
        return zip(left, right).allSatisfy {
            $0 == $1 || ($0 | 0x20 == $1 | 0x20 && $0 | 0x20 >= 97 && $0 | 0x20 <= 122)
        }
    }

    /// Without the blanks, tabs and line ends around it.
    func trimmed() -> String {
        let bytes = utf8
        guard let start = bytes.firstIndex(where: { !Self.isBlank($0) }),
            let end = bytes.lastIndex(where: { !Self.isBlank($0) })
        else { return "" }
        return String(self[start...end])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
}
