import NewsModel

/// What is held, by name: for people who look at it. A few hundred bytes an event.
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
    /// Records that could not be understood.
    public private(set) var unreadable = 0

    public init() {}

    /// Records of one partition in the order of their offsets.
    public mutating func take(_ reading: HeldRecord.Reading, at place: HeldPlace) {
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
        case .erased(let story, let upTo):
            let key = Key(story: story, partition: place.partition)
            if let known = held[key], known.since <= upTo ?? place.offset { held[key] = nil }
        }
    }

    /// By the times they are due, then by their stories.
    public var events: [HeldEvent] {
        held.values.map(\.event).sorted {
            ($0.due, $0.story, $0.source.partition) < ($1.due, $1.story, $1.source.partition)
        }
    }
}
