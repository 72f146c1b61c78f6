package import EditorialControl
package import KafkaIO
package import KafkaModel
public import NewsModel

/// The topics on which names of stories and events are looked up.
public struct NamedTopics: Sendable {
    /// A lane's topic, with the consumer group that has read its older records.
    public struct Waiting: Sendable, Hashable {
        public var topic: String
        public var group: String

        public init(topic: String, group: String) { (self.topic, self.group) = (topic, group) }

        /// Returns the offsets up to which the group has committed the topic's partitions.
        fileprivate func committed(
            _ kafka: KafkaSettings, partitions count: Int
        ) throws(KafkaFailure) -> [TopicPartition: Int64] {
            let all = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
            return try GroupOffsets(settings: kafka, group: group).read(all).mapValues(\.offset)
        }
    }

    public var results: String
    public var held: String
    /// Announces the notifications of `newswire send` before they have results; `nil` to leave them out.
    public var audit: String?
    public var lanes: [Waiting]
    /// The formats of the events on the lanes' topics.
    public var decoders: DecoderFactory
    /// The codes of the languages that are sent separately. An original that cannot be decoded shows its story only with its language.
    public var languages: [String] = []
    /// The environment that a replacement names.
    public var environment: String?

    public init(
        results: String, held: String, lanes: [Waiting], decoders: DecoderFactory = DecoderFactory()
    ) {
        (self.results, self.held, self.lanes, self.decoders) = (results, held, lanes, decoders)
    }
}

/// Looks up a name in the latest results, on the held topic, among the notifications that the audit topic announces, and in the
/// records that wait on the lanes' topics. Last, it reads the results of a week, and the latest records of the lanes, which have no
/// result if the results topic has lost it. Stops as soon as the name is found. Calls block.
package struct NameLookup {
    private let kafka: KafkaSettings
    private let topics: NamedTopics
    private let now: Instant
    private let deadline: ContinuousClock.Instant?
    private var search: NameSearch
    /// The open transaction that hides results.
    private var hidden: KafkaFailure?

    private init(
        kafka: KafkaSettings, topics: NamedTopics, now: Instant, deadline: ContinuousClock.Instant?, search: NameSearch
    ) {
        (self.kafka, self.topics, self.now) = (kafka, topics, now)
        (self.deadline, self.search) = (deadline, search)
    }

    /// The number of results per partition that are read first, and of records of a lane that are read last.
    private static let latest: Int64 = 5_000
    /// Maximum number of waiting events that are read from each topic of a lane.
    private static let waitingMax = 200_000

    /// Looks up the name, unless it is itself recalled.
    ///
    /// - Parameters:
    ///   - wall: this machine's clock, which may be ahead.
    ///   - limit: the longest time to search.
    /// - Throws: an error if Kafka cannot be read, or if the name was not found in time or an open transaction hides results. A
    ///   missing topic is no error.
    package static func search(
        _ name: String, _ kafka: KafkaSettings, _ topics: NamedTopics, _ view: ControlView, at wall: Instant,
        limit: Duration? = nil
    ) throws(KafkaFailure) -> NameSearch {
        var lookup = NameLookup(
            kafka: kafka, topics: topics, now: view.lapseClock(wall) ?? wall, deadline: limit.map { .now + $0 },
            search: NameSearch(name))
        if view.orders[.recall(story: name)] == nil { try lookup.run() }
        return lookup.search
    }

    /// Returns true if an event of the story is among the latest records of a lane, and the lane's group has processed it. Such an
    /// event has a result, unless the results topic has lost it.
    ///
    /// - Parameters:
    ///   - wall: this machine's clock, which may be ahead.
    ///   - limit: the longest time to search.
    package static func wasProcessed(
        _ story: String, _ kafka: KafkaSettings, _ topics: NamedTopics, _ view: ControlView, at wall: Instant,
        limit: Duration = .seconds(10)
    ) throws(KafkaFailure) -> Bool {
        let deadline = ContinuousClock.now + limit
        let since = (view.lapseClock(wall) ?? wall) - Order.recallLasts
        let counts = try KafkaAdmin(settings: kafka).partitionCounts()
        let decoder = topics.decoders.make()
        for lane in topics.lanes {
            guard let count = counts[lane.topic] else { continue }
            let committed = try lane.committed(kafka, partitions: count)
            let reader = try TopicReader(settings: kafka, topic: lane.topic, from: .last(latest))
            while !reader.isAtEnd, deadline > .now {
                for read in try reader.next(timeout: .milliseconds(200)) {
                    guard let end = committed[read.partition], read.record.offset < end,
                        read.record.timestamp ?? .distantFuture >= since,
                        !read.record.isReturned(forOtherThan: kafka.group),
                        let event = try? decoder.decode(read.record, topic: lane.topic)
                    else { continue }
                    if event.orderKey == story { return true }
                }
            }
        }
        return false
    }

    /// Adds to a story's history what waits of it on the lanes, from their committed offsets.
    static func readWaiting(
        into history: inout StoryHistory, _ kafka: KafkaSettings, _ topics: NamedTopics
    ) throws(KafkaFailure) {
        let counts = try KafkaAdmin(settings: kafka).partitionCounts()
        let decoder = topics.decoders.make()
        for lane in topics.lanes {
            guard let count = counts[lane.topic] else { continue }
            let committed = try lane.committed(kafka, partitions: count)
            let reader = try TopicReader(
                settings: kafka, topic: lane.topic, from: .offsets(committed), end: .highWatermark)
            try reader.readToEnd { read in
                guard !read.record.isReturned(forOtherThan: kafka.group),
                    let event = try? decoder.decode(read.record, topic: lane.topic)
                else { return }
                let first = read.record.headers.last { $0.name == HeaderName.redriveOf }?.text
                history.noteWaiting(
                    event, at: .init(partition: read.partition, offset: read.record.offset),
                    origin: first.flatMap { ResultRecord.Source($0) })
            }
        }
    }

    private mutating func run() throws(KafkaFailure) {
        let counts = try KafkaAdmin(settings: kafka).partitionCounts()
        let results = topics.results
        if counts[results] != nil {
            try readResults(from: .last(Self.latest))
            if isFound { return }
        }
        if counts[topics.held] != nil {
            try readHeld()
            if isFound { return }
        }
        if let audit = topics.audit, counts[audit] != nil {
            try readSends(audit)
            if isFound { return }
        }
        for lane in topics.lanes {
            guard let partitions = counts[lane.topic] else { continue }
            try readLane(lane.topic, from: .offsets(lane.committed(kafka, partitions: partitions)))
            if isFound { return }
        }
        if counts[results] != nil { try readResults(from: .time(now - Order.recallLasts)) }
        if isFound { return }
        for lane in topics.lanes where counts[lane.topic] != nil {
            try readLane(lane.topic, from: .last(Self.latest))
            if isFound { return }
        }
        if let hidden { throw hidden }
        if isLate {
            throw KafkaFailure(
                code: "_TIMED_OUT", isRetriable: true, detail: "It was not found in the time that a request may take")
        }
    }

    private var isLate: Bool { deadline.map { $0 <= .now } ?? false }

    private var isFound: Bool { search.meaning != .unseen }

    private mutating func readResults(from start: TopicReader.Start) throws(KafkaFailure) {
        let deadline = deadline
        let reader = try TopicReader(settings: kafka, topic: topics.results, from: start, end: .highWatermark)
        let named = NamedResults(search.name)
        do throws(KafkaFailure) {
            try reader.readToEnd(isStopped: { deadline.map { $0 <= .now } ?? false }) { read in
                // The key of a result is the event's id.
                if let key = read.record.key.flatMap({ String(validating: $0, as: UTF8.self) }) { search.note(key) }
                guard let result = named.result(in: read.record) else { return }
                search.note(eventID: result.eventID, story: result.story)
            }
        } catch {
            guard error.isOpenTransaction else { throw error }
            hidden = error
        }
    }

    private mutating func readHeld() throws(KafkaFailure) {
        let decoder = topics.decoders.make()
        let name = search.name
        let held = try HeldReading.all(kafka, topic: topics.held) { original, held in
            // Others cannot have the name, and a recall must not wait while a million events are decoded.
            guard held.eventID == name || held.story.hasPrefix(name) else { return nil }
            let event = try? decoder.decode(original, topic: held.source.partition.topic)
            return event.map { HeldTable.Content(story: $0.orderKey) }
        } isStopped: {
            isLate
        }
        for row in held.rows { search.note(eventID: row.event.eventID, story: row.story(languages: topics.languages)) }
    }

    private mutating func readSends(_ audit: String) throws(KafkaFailure) {
        let reader = try TopicReader(settings: kafka, topic: audit, from: .time(now - Order.recallLasts))
        try reader.readToEnd { read in
            guard let entry = AuditEntry(read.record), let requests = entry.requests else { return }
            search.note(eventID: entry.order, story: requests.story)
        }
    }

    private mutating func readLane(_ topic: String, from start: TopicReader.Start) throws(KafkaFailure) {
        let reader = try TopicReader(settings: kafka, topic: topic, from: start)
        let decoder = topics.decoders.make()
        var count = 0
        while !reader.isAtEnd, count < Self.waitingMax, !isLate {
            for read in try reader.next(timeout: .milliseconds(200)) {
                count += 1
                guard let event = try? decoder.decode(read.record, topic: topic) else { continue }
                search.note(eventID: event.id, story: event.orderKey)
            }
        }
    }
}
