import ByteText
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
        fields.first { $0.name.equalsIgnoringASCIICase(name) }?.value
    }
}
