public import EditorialControl
public import KafkaIO
public import KafkaModel
public import NewsModel

/// Reads the control topic and the audit topic up to their present ends. Its calls block.
public struct ControlReading {
    private let settings: KafkaSettings
    private let topics: ControlTopics

    public init(_ settings: KafkaSettings, _ topics: ControlTopics) {
        self.settings = settings
        self.topics = topics
    }

    /// - Throws: an error if the topic is missing or cannot be read.
    public func view(isStopped: () -> Bool = { false }) throws(KafkaFailure) -> ControlView {
        var view = ControlView(partitions: try partitions(of: topics.control))
        try read(topics.control, from: .beginning, end: .highWatermark, isStopped) { view.apply($0) }
        return view
    }

    /// Reads the control topic for a command that acts if it sees no order. Waits for the beats of running processes if the topic may
    /// have lost orders.
    ///
    /// - Parameters:
    ///   - wall: the time by the wall clock.
    ///   - onWait: called before a wait of up to 15 seconds.
    /// - Throws: an error if the topic is missing or cannot be read.
    public func view(awaitingBeats wall: () -> Instant, onWait: () -> Void) throws(KafkaFailure) -> ControlView {
        let partitions = try partitions(of: topics.control)
        let reader = try TopicReader(settings: settings, topic: topics.control, follow: true, end: .highWatermark)
        var view = ControlView(partitions: partitions, start: reader.start)
        try reader.readToEnd { view.apply($0.record) }
        try awaitBeats(&view, reader, wall: wall, onWait: onWait)
        return view
    }

    /// Reads on while running processes may obey orders that the control topic has lost.
    ///
    /// - Parameters:
    ///   - reader: follows the topic, and is at its end.
    ///   - onWait: called before a wait.
    func awaitBeats(
        _ view: inout ControlView, _ reader: TopicReader, wall: () -> Instant, onWait: () -> Void
    ) throws(KafkaFailure) {
        guard view.mayLackBeats(at: wall()), mayHaveLostOrders(view, at: wall()) else { return }
        onWait()
        let deadline = ContinuousClock.now + ControlRecord.Beat.writtenWithin
        while ContinuousClock.now < deadline, view.mayLackBeats(at: wall()) {
            for read in try reader.next(timeout: .milliseconds(200)) { view.apply(read.record) }
        }
    }

    /// Returns true if records were removed from the control topic, or if it is younger than the audit topic.
    func mayHaveLostOrders(_ view: ControlView, at wall: Instant) -> Bool {
        view.mayHaveLostOrders(since: firstLine(), at: wall)
    }

    /// The time of the first line on the audit topic; `nil` for an empty topic, and for one that cannot be read.
    private func firstLine() -> Instant? {
        var first: Instant?
        try? read(topics.audit, from: .beginning, { first != nil }) { first = first ?? $0.timestamp }
        return first
    }

    /// - Parameter since: earlier lines are omitted.
    public func trail(since: Instant? = nil, isStopped: () -> Bool = { false }) throws(KafkaFailure) -> AuditTrail {
        _ = try partitions(of: topics.audit)
        var trail = AuditTrail(since: since)
        // Read from the beginning, because the time index contains the times of writers, whose clocks may be wrong.
        try read(topics.audit, from: .beginning, isStopped) { record in
            if let entry = AuditEntry(record) { trail.apply(entry, writtenAt: record.timestamp) }
        }
        return trail
    }

    /// Returns the last lines of the audit topic, which contain the answers to recent orders.
    public func recentTrail() throws(KafkaFailure) -> AuditTrail {
        _ = try partitions(of: topics.audit)
        var trail = AuditTrail()
        try read(topics.audit, from: .last(Self.recentLines), { false }) { record in
            if let entry = AuditEntry(record) { trail.apply(entry) }
        }
        return trail
    }

    /// Reads the notifications of `newswire send` about the story in the week before a time.
    func announcedSends(of story: String, before time: Instant) throws(KafkaFailure) -> AnnouncedSends {
        var sends = AnnouncedSends(story: story, group: settings.group)
        let reader = try TopicReader(
            settings: settings, topic: topics.audit, from: .time(time - Order.recallLasts), end: .highWatermark)
        try reader.readToEnd { read in
            guard let entry = AuditEntry(read.record) else { return }
            sends.apply(entry, at: ResultRecord.Source(partition: read.partition, offset: read.record.offset))
        }
        return sends
    }

    private static let recentLines: Int64 = 2_000

    /// - Throws: an error if the topic is missing.
    private func partitions(of topic: String) throws(KafkaFailure) -> Int {
        guard let count = try KafkaAdmin(settings: settings).partitionCounts(of: [topic])[topic] else {
            throw .missing(topic: topic)
        }
        return count
    }

    private func read(
        _ topic: String, from start: TopicReader.Start, end: KafkaAdmin.End = .lastStable, _ isStopped: () -> Bool,
        _ take: (SourceRecord) -> Void
    ) throws(KafkaFailure) {
        try TopicReader(settings: settings, topic: topic, from: start, end: end)
            .readToEnd(isStopped: isStopped) { take($0.record) }
    }
}
