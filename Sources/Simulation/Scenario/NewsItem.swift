public import EditorialControl
public import KafkaModel
public import NewsModel
public import NotificationHub

/// One record of a life and the time at which it is written.
public struct NewsItem: Sendable {
    /// Identifies it in this life even if other records are removed.
    public let serial: Int
    /// Time since the start of the life.
    public var at: Duration
    public var lane: LaneID
    public var topic: String
    /// The hash of the story. Its remainder by the topic's present length is the record's partition.
    public var keyHash: Int
    /// Unused offsets before and after it (compacted records, transaction markers).
    public var gapBefore: Int64
    public var gapAfter: Int64
    public var kind: Kind
    /// The kind of copy, if it repeats the event of another record.
    public var copy: Copy?
    /// The platforms that a redriven record or a copy of a held event names; `nil` for all platforms.
    public var platforms: [Platform]?
    /// The platform for which the hub refuses it; `nil` for none.
    public var refusedBy: Platform?
    public var eventID: String
    /// The categories named by the event.
    public var categories: [String]
    /// The interests named by the event that readers can follow, as the settings write them.
    public var interests: [String] = []
    /// The single readers whom it is for; empty for all readers.
    public var users: [String] = []
    var isPersonal: Bool { !users.isEmpty }
    /// The number of requests that its tags need.
    public var sends: Int { max(1, (categories.count + interests.count + 19) / 20) }
    /// The feed that it comes from, or the run of `publish`.
    public var feed: String?
    public var run: String?
    public var story: String
    public var version: Int?
    public var embargoUntil: Instant?
    public var expiresAt: Instant?
    /// The record, before it has an offset.
    public var record: SourceRecord

    public enum Kind: Sendable, Hashable {
        case usable
        /// The hub rejects it with status 400.
        case refused
        case undecodable, unroutable, withheld, canceled
    }

    public enum Copy: Sendable, Hashable {
        /// An editor's second try, with the same id and version.
        case republished
        /// Returned to its lane for one platform.
        case redriven(Platform)
        /// Returned from the held topic.
        case returned(ReturnReason)
        /// Written to its lane again by a process that knew it as held, after the held topic was deleted.
        case restored
        /// Replaces a story on the platforms that accepted it, by the recall of this id.
        case replacement(of: String, [Platform])
    }

    /// True if a request for it may leave.
    var maySend: Bool { kind == .usable || kind == .refused }

    var isReturned: Bool { if case .returned = copy { true } else { false } }
    var isRedriven: Bool { record.headers.contains { $0.name == HeaderName.redrive } }
    /// The delivery that the redriven record repeats; `nil` if any number of records may.
    var redriveOf: String? { record.headers.last { $0.name == HeaderName.redriveOf }?.text }

    /// The id of the recall whose replacement it is, and the platforms that it is for; `nil` for other news.
    var replacement: (order: String, platforms: [Platform])? {
        if case .replacement(let order, let platforms) = copy { (order, platforms) } else { nil }
    }

    /// Returns true if both are for the same readers, so that they have one place on the held topic.
    func hasSameReaders(as other: NewsItem) -> Bool { Set(users) == Set(other.users) }

    /// Returns true if it reaches a reader of the other one, so that their versions are compared.
    func sharesReaders(with other: NewsItem) -> Bool {
        users.isEmpty ? other.users.isEmpty : !Set(users).isDisjoint(with: other.users)
    }

    /// Returns true if the hub refuses it with status 400.
    func isRefused(on platform: Platform) -> Bool { kind == .refused || refusedBy == platform }
}

extension NewsItem: CustomStringConvertible {
    public var description: String {
        let version = version.map { " version \($0)" } ?? ""
        let copy = copy.map { ", \($0)" } ?? ""
        return
            "~\(serial)~ at \(at.short) \(topic): \(kind)\(copy) \(eventID), story \(story)\(version), \(record.byteCount) B"
    }
}
