import NewsModel
import NotificationHub
import PublishEngine

/// An engine and a shell without Kafka, hub or clock: tests say what happens and look at what is to be done.
struct TestShell {
    static let source = TopicPartition(topic: "news", partition: 0)
    static let results = TopicPartition(topic: "results", partition: 0)

    var engine: Engine
    var now = Instant(nanoseconds: 1_800_000_000_000_000_000)
    /// Whether every commit succeeds at once; else the test answers.
    var answersCommits = true
    private var nextOffset: Int64 = 0
    private var nextResult: Int64 = 0

    init(change: (inout EngineSettings) -> Void = { _ in }, message: String = "{{headline}}") throws {
        let lanes = [LaneSettings(name: "live", topics: ["news"])]
        var settings = EngineSettings(lanes: lanes, platforms: [.template], resultsTopic: "results")
        change(&settings)
        let mode: PayloadSettings.Mode = settings.platforms == [.template] ? .template : .native(settings.platforms)
        engine = Engine(
            settings: settings, decoder: NewsDecoder(), router: try Router(),
            builder: try PayloadBuilder(PayloadSettings(mode: mode, message: message)), seed: 1)
    }

    mutating func take(_ input: Input) -> [Action] {
        var actions: [Action] = []
        engine.handle(input, at: now, into: &actions)
        guard answersCommits else { return actions }
        for case .commit(let lane, _, _) in actions { actions += take(.committed(lane: lane, succeeded: true)) }
        return actions
    }

    /// Lets time pass to the given moment, alarm by alarm.
    mutating func wait(_ duration: Duration) -> [Action] {
        let end = now + duration
        var actions: [Action] = []
        while let wakeAt = engine.wakeAt, wakeAt <= end {
            now = max(now, wakeAt)
            let more = take(.alarm)
            actions += more
            if more.isEmpty, engine.wakeAt.map({ $0 <= now }) ?? false { break }
        }
        now = end
        return actions + take(.alarm)
    }

    /// Assigns one partition with an empty ledger.
    mutating func assign(
        _ partitions: [TopicPartition] = [source], lane: Int = 0, generation: Int = 1,
        ledger: [RestoredResult] = [], end: Int64 = 0
    ) -> [Action] {
        nextResult = max(nextResult, end)
        var actions = take(.assigned(lane: lane, generation: generation, partitions: partitions))
        for case .restore(let lane, let generation, let results) in actions {
            actions += take(
                .restored(lane: lane, generation: generation, results: results, entries: ledger, end: end))
        }
        return actions
    }

    mutating func record(_ json: String, headers: [RecordHeader] = [], writtenAt: Instant? = nil) -> SourceRecord {
        defer { nextOffset += 1 }
        return SourceRecord(
            offset: nextOffset, timestamp: writtenAt ?? now, key: nil, value: Array(json.utf8), headers: headers)
    }

    mutating func publish(
        _ json: String..., lane: Int = 0, partition: TopicPartition = source, generation: Int = 1
    ) -> [Action] {
        let records = json.map { record($0) }
        return take(.records(lane: lane, generation: generation, partition: partition, records: records))
    }

    mutating func reply(
        _ status: Int, retryAfter: Duration? = nil, to send: Sent
    ) -> [Action] {
        take(.reply(token: send.token, .replied(HubReply(status: status, retryAfter: retryAfter))))
    }

    /// Acknowledges every result and dead letter among the actions.
    mutating func store(_ actions: [Action]) -> [Action] {
        var acknowledgements: [Acknowledgement] = []
        for case .store(let request) in actions {
            acknowledgements.append(Acknowledgement(token: request.token, offset: nextResult))
            nextResult += 1
            if let letter = request.deadLetter {
                acknowledgements.append(Acknowledgement(token: letter.token, offset: 0))
            }
        }
        return take(.stored(acknowledgements))
    }
}

/// A request that was to be sent.
struct Sent {
    var token: UInt64
    var request: SendRequest

    /// The message it carries.
    var text: String { String(decoding: request.body, as: UTF8.self) }
}

extension [Action] {
    var sends: [Sent] {
        compactMap { if case .send(let token, let request) = $0 { Sent(token: token, request: request) } else { nil } }
    }

    var outcomes: [Outcome] { stores.map(\.result.outcome) }

    var stores: [StoreRequest] { compactMap { if case .store(let request) = $0 { request } else { nil } } }

    var commits: [[CommitOffset]] {
        compactMap { if case .commit(_, _, let offsets) = $0 { offsets } else { nil } }
    }

    var releases: Int { count { if case .release = $0 { true } else { false } } }
}

/// A small event.
func news(
    _ id: String, story: String? = nil, version: Int? = nil, status: String? = nil, category: String = "World",
    _ more: String = ""
) -> String {
    var json = #"{"id":"\#(id)","headline":"headline of \#(id)","category":"\#(category)""#
    if let story { json += #","story":"\#(story)""# }
    if let version { json += #","version":\#(version)"# }
    if let status { json += #","status":"\#(status)""# }
    return json + more + "}"
}
