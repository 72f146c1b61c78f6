public import NewsModel

/// The fate of a story according to its results: what readers have received of it, and what a recall has ended.
public struct StoryHistory: Sendable {
    public let story: String
    private var events: [String: Accepted] = [:]
    /// Number of accepted results that were dropped for lack of room.
    public private(set) var dropped = 0

    private static let eventsMax = 1_000

    /// An event accepted by the hub.
    public struct Accepted: Sendable, Hashable {
        public var eventID: String
        /// Time at which the hub first accepted the event.
        public var at: Instant
        /// Its readers' categories; empty if it went only to single readers.
        public var categories: [String]
        /// True if it went to readers that it named.
        public var hasSingleReaders = false
        /// True if it went to testers only.
        public var isTest: Bool
    }

    public init(story: String) { self.story = story }

    /// - Parameter result: any result; those of other stories change nothing.
    public mutating func take(_ result: ResultRecord) {
        guard let id = result.eventID, result.story ?? id == story else { return }
        noteEnd(of: id, result)
        guard result.outcome == .accepted else { return }
        guard events[id] != nil || events.count < Self.eventsMax else {
            dropped += 1
            return
        }
        var event = events[id] ?? Accepted(eventID: id, at: result.settledAt, categories: [], isTest: result.isTest)
        event.at = min(event.at, result.settledAt)
        if result.users.isEmpty {
            for category in result.categories where !event.categories.contains(category) {
                event.categories.append(category)
            }
        } else {
            event.hasSingleReaders = true
        }
        events[id] = event
    }

    /// Deliveries ended by a recall. A later result of the same delivery with another outcome removes the entry.
    private var ends: [DeliveryName: ResultRecord] = [:]

    private struct DeliveryName: Hashable {
        var event: String
        var platform: Platform
    }

    private mutating func noteEnd(of event: String, _ result: ResultRecord) {
        let name = DeliveryName(event: event, platform: result.platform)
        guard result.outcome == .canceled, result.error?.code == Self.recalled else {
            // A duplicate says nothing about the first copy.
            if result.outcome != .duplicate { ends[name] = nil }
            return
        }
        if ends[name] != nil || ends.count < Self.eventsMax { ends[name] = result }
    }

    /// Error code of a result that was ended by a recall.
    private static let recalled = "recalled"

    /// Results of deliveries that a recall ended and that were not sent since, sorted by source position.
    public var ended: [ResultRecord] {
        ends.values.sorted {
            ($0.source.partition, $0.source.offset, $0.platform.rawValue)
                < ($1.source.partition, $1.source.offset, $1.platform.rawValue)
        }
    }

    /// Accepted events, the earliest first.
    public var accepted: [Accepted] { events.values.sorted { ($0.at, $0.eventID) < ($1.at, $1.eventID) } }
}
