import ByteText
public import EditorialControl
public import KafkaIO
public import KafkaModel
public import NewsModel

/// Gives orders, for a command or a page: the audit topic first, then the control topic, then it waits until every live process
/// has said that it obeys.
///
/// Its calls block; use it from one thread at a time.
public final class OrderDesk {
    private let topics: ControlTopics
    let settings: KafkaSettings
    private let control: TopicReader
    private let publisher: RecordPublisher
    let now: () -> Moment
    /// What stands, and which processes live.
    public private(set) var view = ControlView()

    /// How long the control topic may take to be read.
    private static let readingMax = Duration.seconds(20)
    /// How long an answer is awaited where no process is known that could answer.
    private static let unheardPatience = Duration.seconds(1)
    /// How long the brokers may take to store a record.
    private static let storingMax = Duration.seconds(10)

    /// Reads the control topic to its end.
    ///
    /// - Throws: that one of the topics is missing, or cannot be read.
    public init(
        _ settings: KafkaSettings, _ topics: ControlTopics, now: @escaping () -> Moment
    ) throws(KafkaFailure) {
        let admin = try KafkaAdmin(settings: settings)
        let counts = try admin.partitionCounts(of: [topics.control, topics.audit])
        guard counts[topics.control] != nil else {
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
        control = try TopicReader(settings: settings, topic: topics.control, follow: true, end: .highWatermark)
        publisher = try RecordPublisher(settings: admin.limitingBatches(settings, to: [topics.audit, topics.control]))
        try publisher.prepare([topics.audit, topics.control])
        let deadline = now().steady + Self.readingMax
        while !control.isAtEnd {
            for read in try control.next(timeout: .milliseconds(20)) { view.take(read.record) }
            guard now().steady < deadline else {
                if control.isHeldUp { throw .heldUp(topic: topics.control) }
                throw KafkaFailure(
                    code: "_TIMED_OUT",
                    detail: "Topic \(topics.control) could not be read to its end within \(Self.readingMax)")
            }
        }
    }

    public enum Refusal: Error, Sendable, Hashable {
        /// There is nothing to lift.
        case standsNot
        /// As many orders stand as a process keeps.
        case tooMany
        /// Nothing was ordered, which is certain.
        case failed(KafkaFailure)
        /// The audit topic says that it was ordered; whether the control topic does is not known.
        case halfway(KafkaFailure)
        /// It was ordered, but what came of it could not be read.
        case unheard(KafkaFailure)

        /// For whoever gave the order.
        public var sentence: String {
            switch self {
            case .standsNot: "there is nothing to lift"
            case .tooMany:
                "as many orders stand as a process keeps (\(grouped(StandingOrders.capacity)) recalls, "
                    + "\(grouped(StandingOrders.stopCapacity)) stops). Lift some first: "
                    + "newswire control --config FILE --list"
            case .failed(let failure): "nothing was ordered. \(failure)"
            case .halfway(let failure):
                "it may have been ordered: the audit topic has it, but the control topic has not acknowledged it. "
                    + "Give it again. \(failure)"
            case .unheard(let failure): "it was ordered, but the answers to it cannot be read. \(failure)"
            }
        }
    }

    /// Writes the order, and waits for the answers.
    ///
    /// - Parameter patience: for the answers; those that come later are missing.
    public func give(_ instruction: Instruction, patience: Duration = .seconds(5)) throws(Refusal) -> OrderOutcome {
        let begin = now()
        if instruction.lifts, !view.isStanding(instruction.scope, at: begin.wall) { throw .standsNot }
        let isNew = !instruction.lifts && view.orders[instruction.scope] == nil
        if isNew, !view.orders.hasRoom(for: instruction.scope) { throw .tooMany }
        let former = view.order(instruction.scope, at: begin.wall)
        var instruction = instruction
        instruction.processTime = view.signs.living.map(\.at).max()
        let audit: TopicReader
        do {
            audit = try TopicReader(settings: settings, topic: topics.audit, from: .end, follow: true)
            try store(instruction.auditEntry(inPlaceOf: former).record(on: topics.audit))
        } catch { throw .failed(error) }
        do {
            try store(instruction.record.record(on: topics.control))
        } catch {
            // What is not sent yet never will be; what the broker has refused it does not have.
            throw publisher.abandon() > 0 ? .halfway(error) : .failed(error)
        }
        var answers = OrderAnswers(to: instruction, inPlaceOf: former)
        do { try wait(for: &answers, audit, until: begin.steady + patience) } catch { throw .unheard(error) }
        return OrderOutcome(answers: answers, took: now().steady - begin.steady)
    }

    /// What readers already have of the story, as the results of the time of a recall say.
    public func history(of story: String, results topic: String) throws(KafkaFailure) -> StoryHistory {
        var history = StoryHistory(story: story)
        let results = NamedResults(story)
        let reader = try TopicReader(
            settings: settings, topic: topic, from: .time(now().wall - Order.recallLasts))
        while !reader.isAtEnd {
            for read in try reader.next(timeout: .milliseconds(200)) {
                if let result = results.result(in: read.record) { history.take(result) }
            }
        }
        return history
    }

    /// Stores a record, and returns when the brokers have it.
    public func store(_ record: ProducedRecord) throws(KafkaFailure) {
        do {
            try publisher.publish(record, timeout: Self.storingMax)
            try publisher.flush(timeout: Self.storingMax)
        } catch {
            var failure = error
            // The broker refuses the producer as a whole, and names no topic.
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
            for read in try control.next(timeout: .milliseconds(5)) {
                guard let record = view.take(read.record) else { continue }
                answers.take(record, view.signs)
            }
            if answers.isUnheard, now().steady >= early { break }
            if answers.isComplete { break }
            for read in try audit.next(timeout: .milliseconds(20)) {
                if let entry = AuditEntry(read.record) { answers.take(entry) }
            }
        }
    }
}

/// What came of an order.
public struct OrderOutcome: Sendable, Hashable {
    public var answers: OrderAnswers
    /// From the moment before it was written to the last answer, or to the end of patience.
    public var took: Duration

    public init(answers: OrderAnswers, took: Duration) {
        self.answers = answers
        self.took = took
    }
}

extension Instruction {
    /// What is written to the control topic.
    public var record: ControlRecord { order.map { .stands($0) } ?? .lifted(scope) }
}

extension AuditEntry {
    public func record(on topic: String) -> ProducedRecord {
        ProducedRecord(topic: topic, key: Array(scope.utf8), value: encode())
    }

    /// - Returns: `nil` if the record is no line of ours.
    public init?(_ record: SourceRecord) {
        guard let entry = record.value.flatMap({ try? AuditEntry(decoding: $0) }) else { return nil }
        self = entry
    }
}
