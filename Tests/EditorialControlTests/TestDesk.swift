import EditorialControl
import KafkaModel
import NewsModel

/// A desk with a control topic and clocks that are moved by hand.
struct TestDesk {
    private var desk: ControlDesk
    var now = Moment(steady: Instant(milliseconds: 0), wall: Instant(milliseconds: 1_795_428_000_000))
    private var topic: [SourceRecord] = []
    private var readTo = 0
    private var open: [ControlDesk.WriteID] = []

    private(set) var told: [OrderChange] = []
    private(set) var written: [ControlRecord] = []
    private var echoed = 0
    private(set) var audited: [AuditEntry] = []
    private(set) var isKnown = false
    private(set) var readsAnew = 0
    private(set) var reading: UInt64 = 0
    private(set) var confirmed: [UInt64] = []
    private(set) var notes = 0
    private(set) var hasFinished = false
    /// Stories whose recalls by events are done with.
    private(set) var settled: [String] = []
    /// What the shards heard, by its kind.
    private(set) var log: [String] = []

    static let failure = KafkaFailure(code: "TOPIC_AUTHORIZATION_FAILED", detail: "No right to it")

    init(
        replica: String? = "us", shards: Int = 1, onStale: ControlDesk.OnStale = .continue,
        environment: HubEnvironment? = nil, asksHubForTime: Bool = false
    ) {
        var settings = ControlDesk.Settings(replica: replica, shards: shards, environment: environment)
        settings.onStale = onStale
        settings.asksHubForTime = asksHubForTime
        desk = ControlDesk(settings)
    }

    var status: ControlStatus { desk.status(at: now) }
    /// The stories that are recalled.
    var recalled: [String] {
        status.standing.all.compactMap { if case .recall(let story) = $0.scope { story } else { nil } }
    }
    var beats: Int { written.count { $0.key == "beat/us" && $0.value != nil } }

    mutating func take(_ input: ControlDesk.Input) {
        for action in desk.handle(input, at: now) {
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
            case .readAnew(let reading): (readsAnew, self.reading) = (readsAnew + 1, reading)
            case .confirmed(let number, _): confirmed.append(number)
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
        topic.append(
            SourceRecord(
                offset: Int64(topic.count), timestamp: now.wall, key: Array(record.key.utf8), value: record.value))
    }

    /// By somebody else's program.
    mutating func write(_ key: String, _ value: String?) {
        topic.append(
            SourceRecord(
                offset: Int64(topic.count), timestamp: now.wall, key: Array(key.utf8),
                value: value.map { Array($0.utf8) }))
    }

    /// Our writes come to stand on the topic, and are read back.
    mutating func echo() {
        let beats = written[echoed...].filter { $0.key == "beat/us" }
        echoed = written.count
        for beat in beats { write(beat) }
        answerWrites()
        read()
    }

    /// Our last beat comes to stand on the topic.
    mutating func writeBeat() { write(.beat(lastBeat ?? .init(replica: "us", at: now.wall))) }

    /// Only the last record of each key stays, and no tombstone.
    mutating func compact() {
        var keys: Set<[UInt8]?> = []
        topic = topic.reversed().filter { keys.insert($0.key).inserted && $0.value != nil }.reversed()
        readTo = topic.count
    }

    mutating func deleteTopic() { (topic, readTo) = ([], 0) }

    /// What was not read yet.
    mutating func read() {
        let records = Array(topic[readTo...])
        readTo = topic.count
        if !records.isEmpty { take(.records(records)) }
    }

    /// From the beginning to the end.
    ///
    /// - Parameter reading: the last one asked for when it began; `nil` for that of now.
    mutating func readAll(reading: UInt64? = nil) {
        readTo = 0
        take(.began(reading: reading ?? self.reading))
        read()
        take(.reachedEnd)
    }

    /// The same, with our first beat.
    mutating func start() {
        readAll()
        writeBeat()
        read()
    }

    /// In steps of a second.
    ///
    /// - Parameter echoes: the topic takes our beats, and they are read back.
    mutating func pass(_ time: Duration, echoes: Bool = false) {
        for _ in 0..<time.components.seconds {
            now.steady = now.steady + .seconds(1)
            now.wall = now.wall + .seconds(1)
            take(.tick)
            if echoes { echo() }
        }
    }

    /// The last beat that we wrote.
    var lastBeat: ControlRecord.Beat? {
        written.reversed().lazy.compactMap { if case .beat(let beat) = $0 { beat } else { nil } }.first
    }
}

extension Order {
    init(recall story: String, id: String = "1", until: Instant? = Instant(milliseconds: 2_000_000_000_000)) {
        self.init(id: id, scope: .recall(story: story), at: Instant(milliseconds: 0), by: "editor", until: until)
    }

    init(stop gate: Gate, id: String = "1") {
        self.init(id: id, scope: .stop(gate), at: Instant(milliseconds: 0), by: "editor")
    }
}

extension EventRecall {
    static func of(_ story: String) -> EventRecall {
        EventRecall(
            story: story, eventID: "e-\(story)",
            source: .init(partition: TopicPartition(topic: "news", partition: 0), offset: 3),
            at: Instant(milliseconds: 1_795_428_000_000))
    }
}
