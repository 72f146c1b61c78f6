public import KafkaModel
public import NewsModel
import NotificationHub

/// The quiet notification that replaces a recalled story on phones. Built from the story's results.
public struct Replacement: Sendable {
    private let story: String
    /// Accepted results for categories and interests, by the language of their readers; `nil` if languages have no tags.
    private var accepted: [String?: Accepted] = [:]
    private var acceptedInOrder: [(key: String?, value: Accepted)] { accepted.sorted { $0.key ?? "" < $1.key ?? "" } }
    /// Categories and interests of results that are unknown, and source positions of such results for single readers.
    private var unknownAudiences: [(language: String?, name: String)] = []
    private var unknownOriginals: Set<ResultRecord.Source> = []
    /// True if a result in its smallest form says that the hub accepted the story, but not for whom.
    private var hasUnnamedReaders = false
    /// Source positions of events for single readers. Results do not name these readers.
    public var originals: Set<ResultRecord.Source> { Set(singleReaders.keys) }
    /// The platforms that accepted each of these events. Readers on others never saw it.
    private var singleReaders: [ResultRecord.Source: (platforms: Set<Platform>, language: String?)] = [:]
    private var audiences: Set<Set<String>> = []

    private struct Accepted {
        /// The newest result, whose partition gets the replacement.
        var result: ResultRecord
        var categories: [String] = []
        var interests: [String] = []
        var platforms: Set<Platform> = []
        var tags: Set<String> = []
        var isTest = true

        mutating func add(_ next: ResultRecord) {
            for category in next.categories where !categories.contains(category) { categories.append(category) }
            for interest in next.interests where !interests.contains(interest) { interests.append(interest) }
            isTest = isTest && next.isTest
            platforms.insert(next.platform)
            tags.formUnion(next.tags)
            // The story's events are in order on the partition of the newest result.
            if result.settledAt <= next.settledAt { result = next }
        }
    }
    /// Number of results that the recall's answers counted as in flight and that have arrived since. Never too high, so that a
    /// wait for them ends too late rather than too early.
    public private(set) var lateOutcomes = 0

    package static let idPrefix = "replacement-"

    /// Maximum number of events for single readers that are replaced.
    public static let originalsMax = 1_000

    /// Time until a replacement expires, because readers no longer care about a notification that is a day old.
    public static let lasts = Duration.seconds(86_400)

    /// The topics of all lanes, the most urgent first.
    private let topics: [String]
    private let writtenAt: Instant?
    private let recalledAt: Instant
    private let group: String?
    /// True if results of the last week may be missing, because records were removed from their topic.
    public var lacksResults = false
    /// The notifications of `newswire send` about the story.
    public private(set) var sends: AnnouncedSends

    /// - Parameters:
    ///   - topics: the topics of all lanes, the most urgent first. The first one gets the replacement if the story was on another
    ///     topic, such as a notification of `newswire send`.
    ///   - time: the time from which its age counts; `nil` for the time of the order.
    ///   - recalledAt: the time of the recall, by the clocks of the processes. Earlier outcomes are not late.
    ///   - group: the consumer group whose results these are. Other groups have hubs, and so readers, of their own, and skip what is
    ///     written for it.
    ///   - sends: as announced on the audit topic, which was read before the results; `nil` if it was not read.
    public init(
        story: String, topics: [String] = [], at time: Instant? = nil, recalledAt: Instant = .distantPast,
        group: String? = nil, sends: AnnouncedSends? = nil
    ) {
        self.story = story
        self.sends = sends ?? AnnouncedSends(story: story, group: "")
        self.group = group
        self.topics = topics
        writtenAt = time
        self.recalledAt = recalledAt
    }

    /// - Parameters:
    ///   - result: any result; those of other stories change nothing.
    ///   - isNew: true if it was stored after the recall had been answered.
    public mutating func apply(_ result: ResultRecord, isNew: Bool = false) {
        guard result.story ?? result.eventID == story else { return }
        // The processes do not count the requests of a send in their answers.
        let isOfSend = sends.apply(result)
        if !isOfSend, isLate(result, isNew: isNew) { lateOutcomes += 1 }
        // An unknown outcome with accepted sends means that some of the readers have the notification.
        let isAccepted = result.outcome == .accepted || result.outcome == .unknown && result.sends > 0
        if result.outcome == .unknown, !isAccepted { noteUnknown(result) }
        guard isAccepted else { return }
        // The event's categories have other readers, who never saw it.
        guard result.users.isEmpty else {
            if singleReaders[result.source] != nil || singleReaders.count < Self.originalsMax {
                singleReaders[result.source, default: ([], result.language)].platforms.insert(result.platform)
            }
            return
        }
        if result.audience.isEmpty { hasUnnamedReaders = true }
        accepted[result.language, default: Accepted(result: result)].add(result)
    }

    /// Returns true if the recall's answers counted the result: its request was in flight, the recall ended its retry, or it was not
    /// stored.
    private func isLate(_ result: ResultRecord, isNew: Bool) -> Bool {
        guard result.outcome.mayHaveLeft else { return false }
        let isEndedByRecall = result.outcome == .unknown && result.error?.code == StoryHistory.recalled
        return isNew || (result.afterRecall || isEndedByRecall) && result.settledAt >= recalledAt
    }

    private mutating func noteUnknown(_ result: ResultRecord) {
        guard result.users.isEmpty else {
            if unknownOriginals.count < Self.originalsMax { unknownOriginals.insert(result.source) }
            return
        }
        for name in result.audience where !unknownAudiences.contains(where: { $0 == (result.language, name) }) {
            unknownAudiences.append((result.language, name))
        }
    }

    /// Returns the records for the lane of the story, one for each language of its readers; none if the hub accepted nothing of it.
    public func records(_ text: String, for order: Order, environment: String? = nil) -> [ProducedRecord] {
        acceptedInOrder.compactMap { language, accepted in
            guard !accepted.categories.isEmpty || !accepted.interests.isEmpty else { return nil }
            // Only the readers of this language have the story.
            let event = NewsEvent(
                id: Self.idPrefix + order.id, headline: text, categories: accepted.categories, language: language,
                story: story, interests: accepted.interests)
            let place = accepted.result.source.partition
            var record = record(
                event, isTest: accepted.isTest, at: place, on: accepted.platforms, for: order, environment)
            if let topic = topics.first, !topics.contains(place.topic) {
                (record.topic, record.partition) = (topic, nil)
            }
            return record
        }
    }

    /// Returns the record for readers named by an original; `nil` if it names none, or if they already have a replacement.
    public mutating func record(
        _ text: String, for order: Order, inPlaceOf original: SourceRecord, at partition: TopicPartition,
        environment: String? = nil, decoder: NewsDecoder = NewsDecoder()
    ) -> ProducedRecord? {
        let readers = singleReaders[ResultRecord.Source(partition: partition, offset: original.offset)]
        guard let event = try? decoder.decode(original, topic: partition.topic), !event.users.isEmpty,
            event.orderKey == story, audiences.insert(Set(event.users)).inserted
        else { return nil }
        let replacement = NewsEvent(
            id: "\(Self.idPrefix)\(order.id)-\(audiences.count)", headline: text, categories: event.categories,
            subjects: event.subjects, language: readers?.language, story: story, users: event.users)
        return record(
            replacement, isTest: event.isTest, at: partition, on: readers?.platforms ?? [], for: order, environment)
    }

    private func record(
        _ event: NewsEvent, isTest: Bool, at partition: TopicPartition, on platforms: Set<Platform>, for order: Order,
        _ environment: String?
    ) -> ProducedRecord {
        var event = event
        // The lowest urgency makes no sound on platforms that support silent notifications.
        event.urgency = 9
        let time = writtenAt ?? order.at
        event.publishedAt = time
        event.expiresAt = time + Self.lasts
        event.environment = environment
        event.isTest = isTest
        if isTest { event.story = NewsEvent.story(ofTestKey: story) ?? story }
        var value: [UInt8] = []
        event.encode(into: &value)
        var headers = [RecordHeader(HeaderName.replacement, order.id)]
        if let group { headers.append(RecordHeader(HeaderName.group, group)) }
        if !platforms.isEmpty {
            let names = platforms.sorted { $0.rawValue < $1.rawValue }.names
            headers.append(RecordHeader(HeaderName.platform, names))
        }
        if let environment { headers.append(RecordHeader(HeaderName.environment, environment)) }
        return ProducedRecord(
            topic: partition.topic, partition: partition.partition,
            key: Array(story.utf8), value: value, headers: headers, timestamp: writtenAt)
    }

    /// Returns the tags that the story went to for readers of the language; `nil` stands for a story without a language.
    public func tags(in language: String?) -> Set<String> { accepted[language]?.tags ?? [] }

    /// The audiences that get the replacement.
    public var reach: [String] {
        let names = acceptedInOrder.flatMap { $0.value.categories + $0.value.interests }
        var known: Set<String> = []
        return names.filter { known.insert($0).inserted } + (audiences.isEmpty ? [] : [Self.singleReaders])
    }

    /// The audiences that may have the story and get no replacement, because no result says that the hub accepted it for them.
    public var doubtful: [String] {
        unknownAudiences.filter { language, name in
            accepted[language].map { !($0.categories + $0.interests).contains(name) } ?? true
        }.map { language, name in language.map { "\(name) (\($0))" } ?? name }
            + (unknownOriginals.isSubset(of: originals) ? [] : [Self.singleReaders])
            + (hasUnnamedReaders ? [Self.unnamedReaders] : [])
            + (sends.inFlight > 0 ? [Self.openSends] : [])
            + (lacksResults && accepted.isEmpty && singleReaders.isEmpty ? [Self.lostResults] : [])
    }

    /// Represents readers named by events in `reach`.
    public static let singleReaders = "single readers"

    /// Represents readers of notifications that were announced and have no result, in `doubtful`.
    public static let openSends = "readers of a newswire send without a result"

    /// Represents readers of a story that no result names, if results were removed from their topic, in `doubtful`.
    public static let lostResults = "readers whose results were removed"

    /// Represents readers whom no result names, in `doubtful`.
    public static let unnamedReaders = "readers whom no result names"
}

public struct WrittenReplacement: Sendable, Hashable {
    /// The categories and interests whose readers get it, and `Replacement.singleReaders` if single readers get it.
    public var reach: [String] = []
    /// The audiences that may have the story and get no replacement.
    public var doubtful: [String] = []
    /// Number of requests that the recall's answers counted as in flight and for which no result says that the hub may have
    /// accepted them.
    public var unsettled = 0
    public var topics: Set<String> = []
    /// The events that were written.
    public var events: [Written] = []
    /// Other consumer groups on the control topic. Their readers get no replacement.
    public var otherGroups: [String] = []
    /// The change that ended the recall before its replacement was written, or just after; `nil` if the recall is in force. Nothing of
    /// the replacement leaves after that.
    public var successor: OrderChange?

    /// An event that was written in place of the story.
    public struct Written: Sendable, Hashable {
        public var event: NewsEvent
        /// The tags that the story went to; empty for single readers.
        public var tags: Set<String>

        public init(event: NewsEvent, tags: Set<String> = []) { (self.event, self.tags) = (event, tags) }
    }

    public init() {}

    /// The doubts that remain after the wait for the requests in flight.
    ///
    /// - Parameter doubts: the doubts when the recall had been answered.
    public func remaining(_ doubts: StoryDoubts) -> StoryDoubts {
        var doubts = doubts
        doubts.inFlight = unsettled
        return doubts
    }

    /// True if readers may have the story who get no replacement.
    public func leavesDoubt(_ doubts: StoryDoubts) -> Bool {
        successor != nil || !doubtful.isEmpty || reach.isEmpty && !remaining(doubts).isEmpty
    }
}
