import ByteText
public import EditorialControl
public import KafkaIO
public import KafkaModel
public import NewsModel

/// Gives orders for a command or a page. It writes to the audit topic, then to the control topic, then waits until every living
/// process has confirmed.
///
/// Its calls block. Use it from one thread at a time.
public final class OrderClient {
    let topics: ControlTopics
    let settings: KafkaSettings
    private let control: TopicReader
    private let publisher: RecordPublisher
    let now: () -> Moment
    /// The orders in force and the living processes.
    public private(set) var view: ControlView
    /// Called before a wait of up to 15 seconds for the beats of processes after the control topic was recreated or lost records. Before
    /// a lift, they show if processes obey an order that the topic has lost. After another order, they show who must answer.
    public var onWait: () -> Void = {}

    /// Time limit for reading the control topic.
    private static let readingMax = Duration.seconds(20)
    /// Time to wait for an answer if no known process could answer.
    private static let unheardPatience = Duration.seconds(1)
    /// Time limit for the brokers to store a record.
    private static let storingMax = Duration.seconds(10)

    /// Reads the control topic to its end.
    ///
    /// - Throws: an error if one of the topics is missing or cannot be read.
    public init(
        _ settings: KafkaSettings, _ topics: ControlTopics, now: @escaping () -> Moment
    ) throws(KafkaFailure) {
        let admin = try KafkaAdmin(settings: settings)
        let counts = try admin.partitionCounts(of: [topics.control, topics.audit])
        guard let partitions = counts[topics.control] else {
            throw .missing(
                topic: topics.control,
                ": no process can be told. News is still sent, an event with status canceled recalls its story in the "
                    + "process that reads it only, and each process's dashboard can pause its lanes")
        }
        guard counts[topics.audit] != nil else {
            throw .missing(topic: topics.audit, ": orders are not given unrecorded")
        }
        self.topics = topics
        self.settings = settings
        self.now = now
        let control = try TopicReader(settings: settings, topic: topics.control, follow: true, end: .highWatermark)
        self.control = control
        view = ControlView(partitions: partitions, start: control.start)
        // A record larger than a topic allows is refused alone. The topics' limits are not asked for: the answer comes from the
        // controller, and an order must not wait for one that is down.
        var single = settings
        single.properties["batch.num.messages"] = "1"
        publisher = try RecordPublisher(settings: single)
        try publisher.prepare([topics.audit, topics.control])
        let deadline = now().steady + Self.readingMax
        try control.readToEnd(isStopped: { now().steady >= deadline }) { view.apply($0.record) }
        guard control.isAtEnd else {
            throw KafkaFailure(
                code: "_TIMED_OUT",
                detail: "Topic \(topics.control) could not be read to its end within \(Self.readingMax)")
        }
    }

    public enum Refusal: Error, Sendable, Hashable {
        /// There is nothing to lift.
        case standsNot
        /// The name of the story does not determine it.
        case name(NameProblem)
        /// The number of orders in force has reached its limit.
        case tooMany
        /// The settings have a second person approve it.
        case needsApproval(Proposal.Act)
        /// The order was certainly not given.
        case failed(KafkaFailure)
        /// The audit topic has the order. It is unknown whether the control topic has it.
        case halfway(KafkaFailure)
        /// The order was given, but the answers could not be read.
        case unheard(KafkaFailure)

        /// A description for the sender of the order.
        public var sentence: String {
            switch self {
            case .standsNot: "there is nothing to lift"
            case .name(let problem): problem.sentence
            case .tooMany:
                "as many orders stand as a process keeps (\(grouped(StandingOrders.capacity)) recalls, "
                    + "\(grouped(StandingOrders.stopCapacity)) stops). Lift some first: "
                    + "newswire control --config FILE"
            case .needsApproval(.resumeHub):
                "this needs the approval of a second person: newswire resume hub --config FILE proposes it"
            case .needsApproval:
                "a replacement needs the approval of a second person: recall without it, then propose it with "
                    + "newswire recall --config FILE --replace"
            case .failed(let failure): "nothing was ordered. \(failure)"
            case .halfway(let failure):
                "it may have been ordered: the audit topic has it, but the control topic has not acknowledged it. "
                    + "Give it again. \(failure)"
            case .unheard(let failure): "it was ordered, but the answers to it cannot be read. \(failure)"
            }
        }
    }

    /// Writes the order and waits for the answers.
    ///
    /// - Parameter patience: the longest wait. Later answers count as missing.
    public func give(_ instruction: Instruction, patience: Duration = .seconds(5)) throws(Refusal) -> OrderOutcome {
        var instruction = instruction
        // The control topic may have lost the order, and its record may be written again during the wait.
        if instruction.lifts, instruction.target(among: view.orders) == nil {
            do {
                try ControlReading(settings, topics).awaitBeats(&view, control, wall: { now().wall }, onWait: onWait)
            } catch { throw .failed(error) }
        }
        let begin = now()
        if let known = instruction.target(among: view.orders) {
            // The topic compares the bytes of names, and orders compare their characters: "é" has two spellings in Unicode. The
            // record that is in force must be the one that is replaced or lifted.
            instruction.scope = known.scope
        } else if !instruction.lifts, !view.orders.hasRoom(for: instruction.scope) {
            throw .tooMany
        }
        // An order that only the processes know is lifted without its record.
        if instruction.lifts, !view.isStanding(instruction.scope, at: begin.wall), !view.lacksOrders {
            throw .standsNot
        }
        let former = view.order(instruction.scope, at: begin.wall)
        instruction.processTime = view.signs.living.map(\.at).max()
        // A process that confirms the last one has read the others.
        let others = instruction.others(among: view.orders)
        let alsoEnded = others.compactMap { view.order($0.scope, at: begin.wall) }
        let given = others + [instruction]
        let audit: TopicReader
        do {
            audit = try TopicReader(
                settings: settings, topic: topics.audit, from: .end, follow: true, end: .highWatermark)
            for one in given {
                try store(one.auditEntry(inPlaceOf: view.order(one.scope, at: begin.wall)).record(on: topics.audit))
            }
        } catch { throw .failed(error) }
        var stored = 0
        do {
            for one in given {
                try store(one.record.record(on: topics.control))
                stored += 1
            }
        } catch {
            throw mayHaveStored() || stored > 0 ? .halfway(error) : .failed(error)
        }
        var answers = OrderAnswers(to: instruction, inPlaceOf: former)
        do {
            // An order must not be delayed, so the beats are awaited only now.
            answers.lacksBeats =
                !instruction.lifts && view.mayLackProcesses(at: now().wall)
                && ControlReading(settings, topics).mayHaveLostOrders(view, at: now().wall)
            if answers.lacksBeats { try awaitBeats(&answers, audit) }
            try wait(for: &answers, audit, until: begin.steady + patience)
        } catch { throw .unheard(error) }
        return OrderOutcome(
            answers: answers, alsoEnded: alsoEnded, took: now().steady - begin.steady,
            areAnswersHidden: !answers.isComplete && audit.isHeldUp)
    }

    /// Returns the given time, or the time of the living processes if that is earlier. This machine's clock may be ahead.
    func earliest(_ wall: Instant) -> Instant { view.lapseClock(wall) ?? wall }

    /// Returns the given time, or the time of the living processes if that is later. This machine's clock may be behind, and what it
    /// writes to a lane must not be too old there.
    public func latest(_ wall: Instant) -> Instant { view.latestTime(wall) }

    /// Returns what readers have received of the story. Reads the results of the last week, which is the lifetime of a recall.
    ///
    /// - Parameter lanes: the lanes on which later news of the story may wait; `nil` to leave it out.
    /// - Throws: an error if the results or the lanes cannot be read, or if an open transaction hides some.
    public func history(
        of story: String, results topic: String, waitingOn lanes: NamedTopics? = nil
    ) throws(KafkaFailure) -> StoryHistory {
        var history = StoryHistory(story: story, sends: try announcedSends(of: story))
        // Before the results, or what leaves meanwhile would be in neither.
        if let lanes { try NameLookup.readWaiting(into: &history, settings, lanes) }
        try history.read(settings, results: topic, before: earliest(now().wall))
        return history
    }

    /// Reads the notifications of `newswire send` about the story from the audit topic.
    func announcedSends(of story: String) throws(KafkaFailure) -> AnnouncedSends {
        try ControlReading(settings, topics).announcedSends(of: story, before: earliest(now().wall))
    }

    /// Returns true if the brokers may have a record that could not be stored. Nothing can be stored afterwards: unsent records are
    /// discarded. A refused record is not on the broker.
    func mayHaveStored() -> Bool { publisher.abandon() > 0 }

    /// Stores a record. Returns when the brokers have stored it.
    public func store(_ record: ProducedRecord) throws(KafkaFailure) {
        do {
            try publisher.publish(record, timeout: Self.storingMax)
            try publisher.flush(timeout: Self.storingMax)
        } catch {
            var failure = error
            // The broker refuses the whole producer without naming a topic.
            if failure.code == "CLUSTER_AUTHORIZATION_FAILED" {
                failure.remedy =
                    "Grant this user WRITE on \(topics.control) and \(topics.audit), and before Kafka 2.8 IDEMPOTENT_WRITE on "
                    + "the cluster."
            }
            throw failure
        }
    }

    private func wait(
        for answers: inout OrderAnswers, _ audit: TopicReader, until deadline: Instant
    ) throws(KafkaFailure) {
        let early = now().steady + Self.unheardPatience
        while !answers.isComplete, now().steady < deadline {
            try readControl(&answers)
            if answers.isUnheard, now().steady >= early { break }
            if answers.isComplete { break }
            try readAudit(&answers, audit)
        }
    }

    /// Waits for the beats of processes that were running when the control topic lost its records, so that they are counted.
    private func awaitBeats(_ answers: inout OrderAnswers, _ audit: TopicReader) throws(KafkaFailure) {
        onWait()
        let deadline = ContinuousClock.now + ControlRecord.Beat.writtenWithin
        while ContinuousClock.now < deadline, view.mayLackProcesses(at: now().wall) {
            try readControl(&answers)
            try readAudit(&answers, audit)
        }
    }

    private func readControl(_ answers: inout OrderAnswers) throws(KafkaFailure) {
        for read in try control.next(timeout: .milliseconds(5)) {
            guard let record = view.apply(read.record) else { continue }
            answers.apply(record, view.signs)
        }
    }

    private func readAudit(_ answers: inout OrderAnswers, _ audit: TopicReader) throws(KafkaFailure) {
        for read in try audit.next(timeout: .milliseconds(20)) {
            if let entry = AuditEntry(read.record) { answers.apply(entry) }
        }
    }
}

public struct OrderOutcome: Sendable, Hashable {
    public var answers: OrderAnswers
    /// Stops of the same category or interest under other names, which the end of one has ended too.
    public var alsoEnded: [Order] = []
    /// Time from just before the first write to the last answer or to the end of the wait.
    public var took: Duration
    /// True if an open transaction on the audit topic hides answers, so that the processes that are missing may have answered.
    public var areAnswersHidden = false
}

extension StoryHistory {
    /// Reads the results of the week before a time.
    ///
    /// - Parameter limit: the longest time to read.
    /// - Throws: an error if the results cannot be read, or not in time.
    mutating func read(
        _ settings: KafkaSettings, results topic: String, before time: Instant, limit: Duration? = nil
    ) throws(KafkaFailure) {
        let results = NamedResults(story)
        let deadline = limit.map { ContinuousClock.now + $0 }
        let reader = try TopicReader(
            settings: settings, topic: topic, from: .time(time - Order.recallLasts), end: .highWatermark)
        try reader.readToEnd(isStopped: { deadline.map { $0 <= .now } ?? false }) { read in
            if let result = results.result(in: read.record) { apply(result) }
        }
        lacksResults = reader.mayLackRecords
        guard deadline == nil || reader.isAtEnd else {
            throw KafkaFailure(
                code: "_TIMED_OUT", isRetriable: true,
                detail: "The results of the last 7 days could not be read in the time that a request may take")
        }
    }
}

extension Instruction {
    public var record: ControlRecord { order.map { .stands($0) } ?? .lifted(scope) }
}

extension AuditEntry {
    /// Makes the record for the audit topic. Its partition is that of orders, so that lines keep their order.
    public func record(on topic: String) -> ProducedRecord {
        ProducedRecord(
            topic: topic, partition: ControlRecord.partition, key: Array(scope.utf8), value: encode())
    }

    /// - Returns: `nil` if the record is not a valid audit line.
    public init?(_ record: SourceRecord) {
        guard let entry = record.value.flatMap({ try? AuditEntry(decoding: $0) }) else { return nil }
        self = entry
    }
}
