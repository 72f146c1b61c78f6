import EditorialControl
import KafkaModel
import NewsModel

/// A state with a control topic and with clocks that the test moves.
struct TestControlState {
    private var state: ControlState
    var now = Moment(steady: Instant(milliseconds: 0), wall: Instant(milliseconds: 1_795_428_000_000))
    private var topic: [SourceRecord] = []
    private var readTo = 0
    private var open: [ControlState.WriteID] = []

    private(set) var told: [OrderChange] = []
    private(set) var written: [ControlRecord] = []
    private var echoed = 0
    private(set) var audited: [AuditEntry] = []
    private(set) var isKnown = false
    private(set) var rereads = 0
    private(set) var reading: UInt64 = 0
    private(set) var confirmed: [UInt64] = []
    private(set) var notes = 0
    private(set) var hasFinished = false
    /// The reported contents of the held topic, one for each `formerlyHeld`.
    private(set) var formerlyHeld: [HeldTotals?] = []
    /// Stories whose recalls by events are settled.
    private(set) var settled: [String] = []
    /// Kinds of actions sent to the shards, in order.
    private(set) var log: [String] = []

    static let failure = KafkaFailure(code: "TOPIC_AUTHORIZATION_FAILED", detail: "No right to it")

    init(
        replica: String? = "us", shards: Int = 1, onStale: ControlState.OnStale = .continue,
        environment: HubEnvironment? = nil, asksHubForTime: Bool = false
    ) {
        var settings = ControlState.Settings(replica: replica, shards: shards, environment: environment)
        settings.heldTopic = "news.held"
        settings.onStale = onStale
        settings.asksHubForTime = asksHubForTime
        state = ControlState(settings)
    }

    var status: ControlStatus { state.status(at: now) }
    /// The stories under recall.
    var recalled: [String] {
        status.standing.all.compactMap { if case .recall(let story) = $0.scope { story } else { nil } }
    }
    var beats: Int { written.count { $0.key == "beat/us" && $0.value != nil } }

    mutating func take(_ input: ControlState.Input) {
        for action in state.handle(input, at: now) {
            switch action {
            case .tell(let changes):
                told += changes
                log.append("tell")
            case .settled(let stories): settled += stories
            case .known(let known):
                isKnown = known
                log.append("known")
            case .write(let id, let record):
                written.append(record)
                open.append(id)
            case .audit(let id, let entry):
                audited.append(entry)
                open.append(id)
            case .reread(let reading): (rereads, self.reading) = (rereads + 1, reading)
            case .confirmed(let number, _): confirmed.append(number)
            case .formerlyHeld(let totals): formerlyHeld.append(totals)
            case .note: notes += 1
            case .finished: hasFinished = true
            }
        }
    }

    mutating func answerWrites(_ failure: KafkaFailure? = nil) {
        let answered = open
        open = []
        for id in answered { take(failure.map { .notWritten(id, $0) } ?? .written(id)) }
    }

    // MARK: The topic

    mutating func write(_ record: ControlRecord) {
        let produced = record.record(on: "control")
        topic.append(
            SourceRecord(
                offset: Int64(topic.count), timestamp: now.wall, key: produced.key, value: produced.value,
                headers: produced.headers))
    }

    /// Writes a record as a foreign program would.
    mutating func write(_ key: String, _ value: String?) {
        topic.append(
            SourceRecord(
                offset: Int64(topic.count), timestamp: now.wall, key: Array(key.utf8),
                value: value.map { Array($0.utf8) }))
    }

    /// Writes our beats to the topic and reads them back.
    mutating func echo() {
        let beats = written[echoed...].filter { $0.key == "beat/us" }
        echoed = written.count
        for beat in beats { write(beat) }
        answerWrites()
        read()
    }

    /// Writes our last beat to the topic.
    mutating func writeBeat() { write(.beat(lastBeat ?? .init(replica: "us", at: now.wall))) }

    /// Keeps only the last record of each key, and no tombstones.
    mutating func compact() {
        var keys: Set<[UInt8]?> = []
        topic = topic.reversed().filter { keys.insert($0.key).inserted && $0.value != nil }.reversed()
        readTo = topic.count
    }

    var end: Int64 { Int64(topic.count) }

    mutating func deleteTopic() { (topic, readTo) = ([], 0) }

    /// Reads the records that were not read yet.
    mutating func read() {
        let records = Array(topic[readTo...])
        readTo = topic.count
        if !records.isEmpty { take(.records(records)) }
    }

    /// Reads the topic from its beginning to its end.
    ///
    /// - Parameters:
    ///   - reading: the last one requested when it began; `nil` for the last one until now.
    ///   - start: the first offset of the topic.
    mutating func readAll(reading: UInt64? = nil, start: Int64 = 0) {
        readTo = 0
        take(.began(reading: reading ?? self.reading, start: start))
        read()
        take(.reachedEnd)
    }

    /// Reads the topic to its end, including our first beat.
    mutating func start(at offset: Int64 = 0) {
        readAll(start: offset)
        writeBeat()
        read()
    }

    /// Lets time pass in steps of a second.
    ///
    /// - Parameter echoes: true if the topic takes our beats and they are read back.
    mutating func pass(_ time: Duration, echoes: Bool = false) {
        for _ in 0..<time.components.seconds {
            now.steady = now.steady + .seconds(1)
            now.wall = now.wall + .seconds(1)
            take(.tick)
            if echoes { echo() }
        }
    }

    var lastBeat: ControlRecord.Beat? {
        written.reversed().lazy.compactMap { if case .beat(let beat) = $0 { beat } else { nil } }.first
    }
}

extension Order {
    init(recall story: String, id: String = "1", until: Instant? = Instant(milliseconds: 2_000_000_000_000)) {
        self.init(id: id, scope: .recall(story: story), at: Instant(milliseconds: 0), by: "editor", until: until)
    }

    init(stop gate: Gate, id: String = "1", at time: Instant = Instant(milliseconds: 0)) {
        self.init(id: id, scope: .stop(gate), at: time, by: "editor")
    }
}

extension EventRecall {
    static func of(_ story: String, at time: Instant? = Instant(milliseconds: 1_795_428_000_000)) -> EventRecall {
        EventRecall(
            story: story, eventID: "e-\(story)",
            source: .init(partition: TopicPartition(topic: "news", partition: 0), offset: 3),
            at: time)
    }
}
