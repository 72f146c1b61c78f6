public import NewsModel

/// What became of a story, as results say: what readers have of it, and what a recall has ended.
public struct StoryHistory: Sendable {
    public let story: String
    private var events: [String: Accepted] = [:]
    /// Events that there was no room for.
    public private(set) var dropped = 0

    private static let eventsMax = 1_000

    /// An event that the hub took.
    public struct Accepted: Sendable, Hashable {
        public var eventID: String
        /// When the hub took it first.
        public var at: Instant
        /// Its readers'; empty for single readers.
        public var categories: [String]
        /// It went to readers whom it named.
        public var hasSingleReaders = false
        /// It went to the testers only.
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

    /// Deliveries that a recall ended, until the same one has another outcome.
    private var ends: [DeliveryName: ResultRecord] = [:]

    private struct DeliveryName: Hashable {
        var event: String
        var platform: Platform
    }

    private mutating func noteEnd(of event: String, _ result: ResultRecord) {
        let name = DeliveryName(event: event, platform: result.platform)
        guard result.outcome == .canceled, result.error?.code == Self.recalled else {
            // A copy says nothing about the first one.
            if result.outcome != .duplicate { ends[name] = nil }
            return
        }
        if ends[name] != nil || ends.count < Self.eventsMax { ends[name] = result }
    }

    /// The code of a result that a recall has ended.
    private static let recalled = "recalled"

    /// The results of deliveries that a recall ended and that nothing was sent for since, in the order of their places.
    public var ended: [ResultRecord] {
        ends.values.sorted {
            ($0.source.partition, $0.source.offset, $0.platform.rawValue)
                < ($1.source.partition, $1.source.offset, $1.platform.rawValue)
        }
    }

    /// The earliest first.
    public var accepted: [Accepted] { events.values.sorted { ($0.at, $0.eventID) < ($1.at, $1.eventID) } }
}
