public import EditorialControl
public import NewsModel

/// One record of a life, and when it is written to its topic.
public struct NewsItem: Sendable {
    /// Names it in this life, whatever else is left out.
    public let serial: Int
    /// Since the life's beginning.
    public var at: Duration
    public var lane: Int
    public var topic: String
    /// The hash of the story: modulo the topic's length, as it is then, this is the record's partition.
    public var keyHash: Int
    /// Offsets left out before and behind it (compacted records, transaction markers).
    public var gapBefore: Int64
    public var gapAfter: Int64
    public var kind: Kind
    /// The same event as another record.
    public var copy: Copy?
    /// The one platform that it is for, as it was redriven, maybe before it was held; `nil` for all.
    public var platform: Platform?
    public var eventID: String
    /// As the event names them.
    public var categories: [String]
    /// The feed that it comes from, or the run of `publish`.
    public var feed: String?
    public var run: String?
    public var story: String
    public var version: Int?
    public var embargoUntil: Instant?
    public var expiresAt: Instant?
    /// Without its offset.
    public var record: SourceRecord

    public enum Kind: Sendable, Hashable {
        case usable
        /// The hub answers 400.
        case refused
        case undecodable, unroutable, withheld, canceled
    }

    public enum Copy: Sendable, Hashable {
        /// An editor's second try, with the same id and version.
        case republished
        /// Put back on its lane for one platform.
        case redriven(Platform)
        /// Back from the held topic.
        case returned(ReturnReason)
        /// Put back on its lane by the process that knew it as held, after the held topic was deleted.
        case restored
    }

    /// A request for it may leave.
    var maySend: Bool { kind == .usable || kind == .refused }

    var isReturned: Bool { if case .returned = copy { true } else { false } }
    var isRedriven: Bool { platform != nil }
}

extension NewsItem: CustomStringConvertible {
    public var description: String {
        let version = version.map { " version \($0)" } ?? ""
        let copy = copy.map { ", \($0)" } ?? ""
        return
            "~\(serial)~ at \(at.short) \(topic): \(kind)\(copy) \(eventID), story \(story)\(version), \(record.byteCount) B"
    }
}
