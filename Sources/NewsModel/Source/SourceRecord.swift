/// One record as it stands in a partition: bytes, not yet believed to be anything.
public struct SourceRecord: Sendable, Hashable {
    public var offset: Int64
    /// The broker's or producer's timestamp; `nil` when the record carries none.
    public var timestamp: Instant?
    public var key: [UInt8]?
    /// `nil` is a tombstone.
    public var value: [UInt8]?
    public var headers: [RecordHeader]

    public init(
        offset: Int64, timestamp: Instant? = nil, key: [UInt8]? = nil, value: [UInt8]?, headers: [RecordHeader] = []
    ) {
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// What the record holds in memory, in bytes: key, value and headers.
    public var byteCount: Int {
        (key?.count ?? 0) + (value?.count ?? 0) + headers.reduce(0) { $0 + $1.byteCount }
    }
}

/// A record header. Names may repeat; values may be absent.
public struct RecordHeader: Sendable, Hashable {
    public var name: String
    public var value: [UInt8]?

    public init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    public init(_ name: String, _ text: String) {
        self.init(name: name, value: Array(text.utf8))
    }

    /// Name and value.
    public var byteCount: Int { name.utf8.count + (value?.count ?? 0) }

    /// The value as text; `nil` when absent or not UTF-8.
    public var text: String? { value.flatMap { String(validating: $0, as: UTF8.self) } }
}
