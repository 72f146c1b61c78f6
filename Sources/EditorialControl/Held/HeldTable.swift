import NewsModel

/// The held events by name, for people. Takes a few hundred bytes per event.
public struct HeldTable: Sendable {
    private struct Key: Hashable {
        var story: String
        var partition: Int32
    }

    /// An event with what people know it by.
    public struct Row: Sendable, Hashable {
        public var event: HeldEvent
        public var categories: [String]
        /// The run of `newswire publish` that it belongs to.
        public var run: String?
    }

    private struct Held: Sendable {
        var row: Row
        var since: Int64
    }

    private var held: [Key: Held] = [:]
    /// Number of invalid records.
    public private(set) var unreadable = 0

    public init() {}

    /// Applies a record. The records of a partition must arrive in the order of their offsets.
    public mutating func apply(
        _ reading: HeldRecord.Reading, at place: HeldPlace, categories: [String] = [], run: String? = nil
    ) {
        switch reading {
        case .unreadable: unreadable += 1
        case .held(let event, let since):
            let key = Key(story: event.story, partition: place.partition)
            let next = Held(
                row: Row(event: event, categories: categories, run: run), since: since ?? place.offset)
            if let known = held[key] {
                let isNewer = VersionRank(event.version).isNewer(than: VersionRank(known.row.event.version))
                guard isNewer ?? (next.since >= known.since) else { return }
            }
            held[key] = next
        case .erased(let story, let upTo, let original):
            let key = Key(story: story, partition: place.partition)
            if let known = held[key], known.since <= upTo ?? place.offset,
                HeldOriginal(of: known.row.event).mayBe(original)
            {
                held[key] = nil
            }
        }
    }

    public var events: [HeldEvent] { rows.map(\.event) }

    /// The held events, sorted by due time, then by story.
    public var rows: [Row] {
        held.values.map(\.row).sorted {
            ($0.event.due, $0.event.story, $0.event.source.partition)
                < ($1.event.due, $1.event.story, $1.event.source.partition)
        }
    }
}
