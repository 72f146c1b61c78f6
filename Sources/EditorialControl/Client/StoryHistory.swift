public import NewsModel
import NotificationHub

/// The fate of a story according to its results: what readers have received of it, and what a recall has ended.
public struct StoryHistory: Sendable {
    public let story: String
    private var events: [String: Sent] = [:]
    /// Deliveries whose outcome is unknown, and those that the hub accepted.
    private var doubts: [DeliveryName: Sent] = [:]
    private var taken: Set<DeliveryName> = []
    /// The notifications of `newswire send` about the story. Their requests without a result may be in flight.
    public private(set) var sends: AnnouncedSends
    /// True if the topic names the story in any result.
    public private(set) var hasResults = false
    /// True if results of the last week may be missing, because records were removed from their topic.
    public var lacksResults = false
    /// Number of accepted and unknown results that were dropped for lack of room.
    public private(set) var dropped = 0

    private static let eventsMax = 1_000

    /// An event that the hub has accepted or may have accepted.
    public struct Sent: Sendable, Hashable {
        public var eventID: String
        /// Time of the event's first such result.
        public var at: Instant
        /// Its readers' categories and interests; empty if it went only to single readers.
        public var categories: [String]
        /// True if it went to readers that it named.
        public var hasSingleReaders = false
        /// True if it went to testers only.
        public var isTest: Bool

        fileprivate mutating func add(_ result: ResultRecord) {
            at = min(at, result.settledAt)
            guard result.users.isEmpty else {
                hasSingleReaders = true
                return
            }
            for category in result.audience where !categories.contains(category) { categories.append(category) }
        }

        fileprivate mutating func add(_ other: Sent) {
            at = min(at, other.at)
            hasSingleReaders = hasSingleReaders || other.hasSingleReaders
            for category in other.categories where !categories.contains(category) { categories.append(category) }
        }
    }

    /// - Parameter sends: as announced on the audit topic, which was read before the results; `nil` if it was not read.
    public init(story: String, sends: AnnouncedSends? = nil) {
        self.story = story
        self.sends = sends ?? AnnouncedSends(story: story, group: "")
    }

    /// - Parameter result: any result; those of other stories change nothing.
    public mutating func apply(_ result: ResultRecord) {
        guard let id = result.eventID, result.story ?? id == story else { return }
        sends.apply(result)
        hasResults = true
        for index in waiting.indices where waiting[index].place == result.source {
            waiting[index].settled.insert(result.platform)
        }
        noteFirst(of: id, result)
        noteEnd(of: id, result)
        noteSentOrHeld(of: id, result)
        guard result.outcome.mayHaveLeft else { return }
        let name = DeliveryName(event: id, platform: result.platform)
        let isAccepted = result.outcome == .accepted
        let known = isAccepted ? events[id] : doubts[name]
        guard known != nil || (isAccepted ? events.count : doubts.count) < Self.eventsMax else {
            dropped += 1
            return
        }
        var event = known ?? Sent(eventID: id, at: result.settledAt, categories: [], isTest: result.isTest)
        event.add(result)
        if isAccepted {
            events[id] = event
            taken.insert(name)
        } else {
            doubts[name] = event
        }
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
    static let recalled = "recalled"

    /// Results of deliveries that a recall ended and that were not sent since, sorted by source position.
    public var ended: [ResultRecord] {
        ends.values.sorted {
            ($0.source.partition, $0.source.offset, $0.platform.rawValue)
                < ($1.source.partition, $1.source.offset, $1.platform.rawValue)
        }
    }

    /// The place and time of each delivery's first result: the age of its text. Copies that come back from the held topic or are
    /// redriven have later places.
    private var firsts: [DeliveryName: First] = [:]

    private struct First {
        var source: ResultRecord.Source
        var at: Instant

        init(_ result: ResultRecord) { (source, at) = (result.source, result.settledAt) }

        /// Within a partition, offsets decide; otherwise times.
        func isLater(than other: First) -> Bool {
            source.partition == other.source.partition ? source.offset > other.source.offset : at > other.at
        }
    }

    private mutating func noteFirst(of event: String, _ result: ResultRecord) {
        let name = DeliveryName(event: event, platform: result.platform)
        let first = First(result)
        if let known = firsts[name] {
            if known.isLater(than: first) { firsts[name] = first }
        } else if firsts.count < Self.eventsMax {
            firsts[name] = first
        }
    }

    private func first(of result: ResultRecord) -> First {
        result.eventID.flatMap { firsts[DeliveryName(event: $0, platform: result.platform)] } ?? First(result)
    }

    /// The deliveries to everybody that have left, may have left or are held.
    private var sentOrHeld: [DeliveryName: SentOrHeld] = [:]

    private struct SentOrHeld {
        /// Of its last result, for a delivery whose first one is not known.
        var last: First
        var language: String?
        var isHeld: Bool
    }

    private mutating func noteSentOrHeld(of event: String, _ result: ResultRecord) {
        guard result.users.isEmpty, !result.isTest else { return }
        let name = DeliveryName(event: event, platform: result.platform)
        guard result.outcome.mayHaveLeft || result.outcome == .held else {
            if result.outcome != .duplicate, sentOrHeld[name]?.isHeld == true { sentOrHeld[name] = nil }
            return
        }
        guard sentOrHeld[name] != nil || sentOrHeld.count < Self.eventsMax else { return }
        sentOrHeld[name] = SentOrHeld(
            last: First(result), language: result.language, isHeld: result.outcome == .held)
    }

    /// The events to everybody that wait on the lanes.
    private var waiting: [Waiting] = []

    private struct Waiting {
        var event: String
        var language: String?
        /// The platforms for which it has a result, and waits no more.
        var settled: Set<Platform> = []
        var place: ResultRecord.Source
        /// The place of the event's first copy, for a copy that was put back.
        var origin: ResultRecord.Source
    }

    /// Adds an event that waits on a lane. Call it before the results are applied, which show that an event does not wait any more.
    ///
    /// - Parameter origin: the place of its first copy, if this copy was put back.
    public mutating func noteWaiting(
        _ event: NewsEvent, at place: ResultRecord.Source, origin: ResultRecord.Source? = nil
    ) {
        guard event.orderKey == story, event.users.isEmpty, event.status == .usable,
            !event.id.hasPrefix(Replacement.idPrefix)
        else { return }
        // The latest ones decide.
        if waiting.count >= Self.eventsMax { waiting.removeFirst() }
        waiting.append(
            Waiting(event: event.id, language: event.language, place: place, origin: origin ?? place))
    }

    /// Returns the ids of later events of the story, for the same readers, that have left, may have left, wait, are held or are about
    /// to be put back. Events are compared by their first results: in one partition by offset, otherwise by time. What waits in
    /// another partition counts as later.
    ///
    /// - Parameter returning: deliveries that a recall has ended and that can be put back on their lanes.
    public func later(than ended: ResultRecord, returning: [ResultRecord] = []) -> [String] {
        let start = first(of: ended)
        let later = sentOrHeld.filter { name, other in
            name.platform == ended.platform && other.language == ended.language
                && (firsts[name] ?? other.last).isLater(than: start)
        }
        let ahead = returning.filter { other in
            other.platform == ended.platform && other.language == ended.language
                && (other.users.isEmpty || other.users == ended.users) && first(of: other).isLater(than: start)
        }
        let behind = waiting.filter { other in
            !other.settled.contains(ended.platform) && Self.mayShareReaders(other.language, ended.language)
                && (other.origin.partition != start.source.partition || other.origin.offset > start.source.offset)
        }
        let ids = later.keys.map(\.event) + ahead.compactMap(\.eventID) + behind.map(\.event)
        return Set(ids).filter { $0 != ended.eventID }.sorted()
    }

    /// - Parameters:
    ///   - language: as an event names it; `nil` for all languages.
    ///   - edition: the language of a result; `nil` if languages have no tags.
    private static func mayShareReaders(_ language: String?, _ edition: String?) -> Bool {
        guard let language, let edition else { return true }
        func primary(_ tag: String) -> Substring { tag.lowercased().prefix { $0 != "-" && $0 != "_" } }
        return primary(language) == primary(edition)
    }

    /// Accepted events, the earliest first.
    public var accepted: [Sent] { Self.sorted(events.values) }

    /// Events with a delivery that the hub may have accepted, the earliest first. A delivery that was accepted later is not in doubt.
    public var unknown: [Sent] {
        let open = doubts.filter { !taken.contains($0.key) }.values
        return Self.sorted(Dictionary(open.map { ($0.eventID, $0) }) { $0.merged(with: $1) }.values)
    }

    private static func sorted(_ events: some Sequence<Sent>) -> [Sent] {
        events.sorted { ($0.at, $0.eventID) < ($1.at, $1.eventID) }
    }
}

extension StoryHistory.Sent {
    fileprivate func merged(with other: Self) -> Self {
        var merged = self
        merged.add(other)
        return merged
    }
}

/// The facts about a story that the answers to a recall leave unknown.
public struct StoryDoubts: Sendable, Hashable {
    /// Number of requests whose outcome was not on the results topic when the recall arrived.
    public var inFlight: Int
    /// Number of processes that were waited for and have not answered.
    public var unanswered: Int
    /// Number of processes that were not waited for, because they had fallen silent without reporting their end.
    public var silent: Int
    /// True if no process has answered.
    public var isUnheard: Bool
    /// True if results of the last week may be missing on their topic.
    public var lacksResults = false

    public init(inFlight: Int = 0, unanswered: Int = 0, silent: Int = 0, isUnheard: Bool = false) {
        (self.inFlight, self.unanswered, self.silent, self.isUnheard) = (inFlight, unanswered, silent, isUnheard)
    }

    public init(_ answers: OrderAnswers) {
        self.init(
            inFlight: answers.met.inFlight, unanswered: answers.missing.count, silent: answers.unheard.count,
            isUnheard: answers.applied == 0)
    }

    /// True if the results show everything that the hub has accepted.
    public var isEmpty: Bool { inFlight == 0 && unanswered == 0 && silent == 0 && !isUnheard && !lacksResults }
}
