public import NewsModel

/// One record of a life, and when it is written to its topic.
public struct NewsItem: Sendable {
    /// Names it in this life, whatever else is left out.
    public let serial: Int
    /// Since the life's beginning.
    public var at: Duration
    public var lane: Int
    public var partition: TopicPartition
    /// Offsets left out before and behind it (compacted records, transaction markers).
    public var gapBefore: Int64
    public var gapAfter: Int64
    public var kind: Kind
    public var eventID: String
    public var story: String
    public var version: Int?
    /// Without its offset.
    public var record: SourceRecord

    public enum Kind: Sendable, Hashable {
        case usable
        /// The hub answers 400.
        case refused
        case undecodable, unroutable, withheld, canceled
        /// Put back on its lane for one platform.
        case redriven(Platform)
    }

    /// Whether a request for it may ever leave.
    var maySend: Bool {
        switch kind {
        case .usable, .refused, .redriven: true
        case .undecodable, .unroutable, .withheld, .canceled: false
        }
    }
}

extension NewsItem: CustomStringConvertible {
    public var description: String {
        let version = version.map { " version \($0)" } ?? ""
        return "at \(at.short) \(partition): \(kind) \(eventID), story \(story)\(version), \(record.byteCount) B"
    }
}
