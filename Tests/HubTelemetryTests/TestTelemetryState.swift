import HubTelemetry
import KafkaModel
import NewsModel
import NotificationHub

/// A state with a clock, a results topic of one partition and a hub that answers at once by a rule.
struct TestTelemetryState {
    static let group = "newsroom"
    static let start = Moment(
        steady: Instant(nanoseconds: 1_000_000_000), wall: Instant(milliseconds: 1_800_000_000_000))

    var state: TelemetryState
    var now = TestTelemetryState.start
    /// Returns the hub's answer to a question.
    var answer: (_ notificationID: String, _ at: Moment) -> HubWord
    /// True if the broker stores records.
    var stores = true
    private(set) var asked: [(id: String, at: Moment)] = []
    private(set) var records: [TelemetryRecord] = []
    private(set) var keys: [String] = []
    /// The most recently committed offsets.
    private(set) var committed: [Int32: Int64] = [:]
    private(set) var notes: [TelemetryNote] = []
    private(set) var credit = 0
    private(set) var releases = 0
    private(set) var isFinished = false
    private(set) var isCaughtUp = false
    private(set) var renewals = 0
    private var wakeAt: Instant?
    private var offsets: [Int32: Int64] = [:]

    init(
        perSecond: Int = 1_000, openMax: Int = 10_000, sample: [String: Int] = ["live": TelemetrySettings.whole],
        partitions: [Int32] = [0], of total: Int? = nil,
        answer: @escaping (_ notificationID: String, _ at: Moment) -> HubWord = { _, _ in .nothing }
    ) {
        var settings = TelemetrySettings(
            sample: sample, lanes: ["live", "backfill"], perSecond: perSecond, group: Self.group)
        settings.openMax = openMax
        state = TelemetryState(settings)
        self.answer = answer
        hand(.assigned(partitions, total: total ?? partitions.count))
    }

    /// The result of an accepted send, unless changed by a parameter.
    static func result(
        _ number: Int, at time: Instant, lane: String = "live", _ change: (inout ResultRecord) -> Void = { _ in }
    ) -> ResultRecord {
        var result = ResultRecord(
            eventID: "event-\(number)", platform: .template, outcome: .accepted, tags: ["World"], lane: lane,
            attempts: 1,
            httpStatus: 201, notificationID: "NH-\(number)",
            source: .init(partition: TopicPartition(topic: "news.events", partition: 0), offset: Int64(number)),
            settledAt: time)
        change(&result)
        return result
    }

    static func record(_ result: ResultRecord, offset: Int64, group: String = TestTelemetryState.group) -> SourceRecord
    {
        var bytes: [UInt8] = []
        result.encode(into: &bytes)
        return SourceRecord(
            offset: offset, key: Array(result.key.utf8), value: bytes, headers: [RecordHeader(HeaderName.group, group)])
    }

    /// Delivers results in order.
    mutating func come(_ results: [ResultRecord], partition: Int32 = 0, group: String = TestTelemetryState.group) {
        let first = offsets[partition, default: 0]
        let records = results.enumerated().map { Self.record($1, offset: first + Int64($0), group: group) }
        offsets[partition] = first + Int64(results.count)
        hand(.results(partition: partition, records))
    }

    mutating func hand(_ input: TelemetryInput) {
        var inputs = [input]
        while let next = inputs.first {
            inputs.removeFirst()
            for action in state.handle(next, at: now) {
                switch action {
                case .ask(let id, let notificationID):
                    asked.append((notificationID, now))
                    inputs.append(.answered(id, answer(notificationID, now)))
                case .store(let number, _, let key, let value):
                    guard stores, let record = try? TelemetryRecord(decoding: value) else {
                        inputs.append(.notStored(number, because: "no leader"))
                        continue
                    }
                    records.append(record)
                    keys.append(key)
                    inputs.append(.stored(number))
                case .commit(let offsets):
                    committed.merge(offsets) { $1 }
                    inputs.append(.committed(failure: nil))
                case .read(let count, _): credit += count
                case .release: releases += 1
                case .renewToken: renewals += 1
                case .wake(let time): wakeAt = time
                case .caughtUp: isCaughtUp = true
                case .finished: isFinished = true
                case .note(let note): notes.append(note)
                }
            }
        }
    }

    /// Advances the time, with a tick at each time that the state has requested.
    mutating func pass(_ duration: Duration) {
        let end = now.steady + duration
        while let next = wakeAt, next <= end {
            wakeAt = nil
            if next > now.steady { move(to: next) }
            hand(.tick)
        }
        move(to: end)
    }

    private mutating func move(to steady: Instant) {
        now.wall = now.wall + (steady - now.steady)
        now.steady = steady
    }

    /// Replaces the state by a new one, which starts at the last commit.
    mutating func crash(partitions: [Int32] = [0], of results: [Int32: [ResultRecord]]) {
        state = TelemetryState(state.settings)
        wakeAt = nil
        hand(.assigned(partitions, total: partitions.count))
        for partition in partitions {
            let from = committed[partition] ?? 0
            offsets[partition] = from
            let rest = Array((results[partition] ?? []).dropFirst(Int(from)))
            if !rest.isEmpty { come(rest, partition: partition) }
            hand(.restored(partition: partition))
        }
    }
}

extension HubWord {
    static func completed(_ success: Int64 = 1, at milliseconds: Int64? = nil) -> HubWord {
        .details(
            NotificationDetails(
                state: .completed, endedAt: milliseconds,
                counts: [.init(platform: "apns", outcomes: [.init(name: "Success", count: success)])]))
    }
}
