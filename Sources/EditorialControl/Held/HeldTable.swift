import NewsModel

/// The held events by name, for people. Takes a few hundred bytes per event.
public struct HeldTable: Sendable {
    private struct Key: Hashable {
        var story: String
        var partition: Int32
    }

    private struct Held: Sendable {
        var event: HeldEvent
        var since: Int64
    }

    private var held: [Key: Held] = [:]
    /// Number of invalid records.
    public private(set) var unreadable = 0

    public init() {}

    /// Applies a record. The records of a partition must arrive in the order of their offsets.
    public mutating func apply(_ reading: HeldRecord.Reading, at place: HeldPlace) {
        switch reading {
        case .unreadable: unreadable += 1
        case .held(let event, let since):
            let key = Key(story: event.story, partition: place.partition)
            let next = Held(event: event, since: since ?? place.offset)
            if let known = held[key] {
                let isNewer = VersionRank(event.version).isNewer(than: VersionRank(known.event.version))
                guard isNewer ?? (next.since >= known.since) else { return }
            }
            held[key] = next
        case .erased(let story, let upTo, let original):
            let key = Key(story: story, partition: place.partition)
            if let known = held[key], known.since <= upTo ?? place.offset,
                HeldOriginal(of: known.event).mayBe(original)
            {
                held[key] = nil
            }
        }
    }

    /// The held events, sorted by due time, then by story.
    public var events: [HeldEvent] {
        held.values.map(\.event).sorted {
            ($0.due, $0.story, $0.source.partition) < ($1.due, $1.story, $1.source.partition)
        }
    }
}
