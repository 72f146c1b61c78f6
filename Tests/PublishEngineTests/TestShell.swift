import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// An engine and a shell without Kafka, hub or clock: tests feed inputs and look at the actions.
struct TestShell {
    static let source = TopicPartition(topic: "news", partition: 0)
    static let live = LaneID(0)
    static let first = Generation(1)
    static let results = TopicPartition(topic: "results", partition: 0)

    var engine: Engine
    /// The time of the monotonic clock.
    var now = Instant(nanoseconds: 1_800_000_000_000_000_000)
    /// The wall clock's lead over it.
    var wallOffset: Duration = .zero
    var wall: Instant { now + wallOffset }
    /// True if every commit succeeds at once; otherwise the test answers.
    var answersCommits = true
    /// The progress that a former owner has committed.
    var inherited: [SendProgress] = []
    var incarnation = 0
    private(set) var nextOffset: Int64 = 0
    private var nextResult: Int64 = 0

    init(
        change: (inout EngineSettings) -> Void = { _ in }, message: String = "{{headline}}",
        templates: PayloadSettings.TemplateNames? = nil, policy: ContentPolicy = ContentPolicy(),
        localization: Localization? = nil
    ) throws {
        let lanes = [LaneSettings(name: "live", topics: ["news"])]
        var settings = EngineSettings(lanes: lanes, platforms: [.template], resultsTopic: "results")
        change(&settings)
        let mode: PayloadSettings.Mode = settings.platforms == [.template] ? .template : .native(settings.platforms)
        engine = Engine(
            settings: settings,
            rules: try ContentRules(
                payload: PayloadSettings(
                    mode: mode, message: message, templates: templates, localization: localization),
                policy: policy), seed: 1)
    }

    mutating func take(_ input: Input) -> [Action] {
        var actions: [Action] = []
        engine.handle(input, at: Moment(steady: now, wall: wall), into: &actions)
        guard answersCommits else { return actions }
        for case .kafka(.commit(let lane, let generation, let offsets)) in actions {
            actions += take(.committed(lane, generation, offsets))
        }
        return actions
    }

    mutating func take(_ event: KafkaEvent) -> [Action] { take(.kafka(event)) }

    var status: EngineStatus { engine.status(at: Moment(steady: now, wall: wall)) }

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
        _ partitions: [TopicPartition] = [source], lane: LaneID = live, generation: Generation = first,
        ledger: [LedgerEntry] = [], end: Int64 = 0
    ) -> [Action] {
        nextResult = max(nextResult, end)
        var actions = take(.assigned(lane, generation, partitions))
        actions += restore(actions, ledger: ledger, end: end)
        return actions
    }

    /// The source partition has no record from this offset on.
    mutating func reachEnd(at offset: Int64, generation: Generation = first) -> [Action] {
        take(.endReached(Self.live, generation, Self.source, offset: offset))
    }

    /// Answers every request for a ledger among the actions.
    mutating func restore(_ actions: [Action], ledger: [LedgerEntry] = [], end: Int64 = 0) -> [Action] {
        var more: [Action] = []
        for case .kafka(.restore(let lane, let generation, let results, _, _)) in actions {
            var end = RestoreEnd(offset: end, start: 0, basis: .committed)
            end.progress = [Self.source: inherited]
            end.incarnations = [Self.source: incarnation]
            more += take(.restored(lane, generation, results: results, entries: ledger, end: end))
        }
        return more
    }

    mutating func record(_ json: String, headers: [RecordHeader] = [], writtenAt: Instant? = nil) -> SourceRecord {
        defer { nextOffset += 1 }
        return SourceRecord(
            offset: nextOffset, timestamp: writtenAt ?? wall, key: nil, value: Array(json.utf8), headers: headers)
    }

    mutating func publish(
        _ json: String..., lane: LaneID = live, partition: TopicPartition = source,
        generation: Generation = first
    ) -> [Action] {
        let records = json.map { record($0) }
        return take(.records(lane, generation, partition, records))
    }

    /// One event with headers.
    mutating func publish(
        _ json: String, headers: [RecordHeader], lane: LaneID = live, partition: TopicPartition = source
    ) -> [Action] {
        take(.records(lane, Self.first, partition, [record(json, headers: headers)]))
    }

    mutating func reply(
        _ status: Int, retryAfter: Duration? = nil, to send: Sent
    ) -> [Action] {
        take(.reply(.replied(HubReply(status: status, retryAfter: retryAfter)), to: send.id))
    }

    /// Acknowledges every result, dead letter and held event among the actions, and the results that follow those.
    mutating func store(_ actions: [Action]) -> [Action] {
        let letters =
            actions.deadLetters.map { StoredRecord(delivery: $0.delivery, kind: .deadLetter, offset: 0) }
            + actions.holds.map { StoredRecord(delivery: $0.request.delivery, kind: .held, offset: 0) }
        let afterLetters = letters.isEmpty ? [] : take(.stored(letters))
        var stored: [StoredRecord] = []
        for request in actions.results + afterLetters.results {
            stored.append(StoredRecord(delivery: request.delivery, kind: .result, offset: nextResult))
            nextResult += 1
        }
        return afterLetters + take(.stored(stored))
    }
}

/// A request in a send action.
struct Sent {
    var id: RequestID
    var request: SendRequest

    /// The message it carries.
    var text: String { String(decoding: request.body, as: UTF8.self) }
}

extension [Action] {
    var sends: [Sent] {
        compactMap { if case .send(let id, let request) = $0 { Sent(id: id, request: request) } else { nil } }
    }

    /// Outcomes of deliveries, in their order.
    var outcomes: [Outcome] { endings.map(\.result.outcome) }

    /// Results in store actions, and those that wait for their dead letters.
    var endings: [StoreRequest] {
        compactMap { action in
            switch action {
            case .storeDeadLetter(let request, _): request
            case .store(let request): request.result.outcome.isDeadLettered ? nil : request
            default: nil
            }
        }
    }

    var results: [StoreRequest] { compactMap { if case .store(let request) = $0 { request } else { nil } } }

    var deadLetters: [StoreRequest] {
        compactMap { if case .storeDeadLetter(let request, _) = $0 { request } else { nil } }
    }

    /// The events sent to the held topic.
    var holds: [(request: StoreRequest, event: HeldEvent)] {
        compactMap { if case .hold(let request, _, let event) = $0 { (request, event) } else { nil } }
    }

    /// The records sent to the held topic.
    var originals: [SourceRecord] { compactMap { if case .hold(_, let record, _) = $0 { record } else { nil } } }

    /// Requests for held events, as `story reason`.
    var returns: [String] {
        compactMap {
            if case .returnHeld(let story, let reason, _) = $0 { "\(story) \(reason.rawValue)" } else { nil }
        }
    }

    var applied: [AppliedOrder] { compactMap { if case .applied(let order) = $0 { order } else { nil } } }

    /// The stories that events recall everywhere.
    var recalls: [String] { compactMap { if case .recall(let recall) = $0 { recall.story } else { nil } } }

    var commits: [[PartitionOffset]] {
        compactMap { if case .kafka(.commit(_, _, let offsets)) = $0 { offsets } else { nil } }
    }

    var releases: Int { count { if case .kafka(.release) = $0 { true } else { false } } }

    var hasFinish: Bool { contains { if case .finish = $0 { true } else { false } } }
}

extension KafkaEvent {
    /// A commit that the broker accepted completely.
    static func committed(_ lane: LaneID, _ generation: Generation, _ offsets: [PartitionOffset] = []) -> KafkaEvent {
        .committed(lane, generation, offsets: offsets, failure: nil)
    }
}

/// Makes a small event.
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

extension OrderChange {
    static func recall(_ story: String, _ id: String = "O1") -> OrderChange {
        .stands(Order(id: id, scope: .recall(story: story), at: Instant(nanoseconds: 0), by: "desk"))
    }

    static func stop(_ gate: Gate, _ id: String = "S1") -> OrderChange {
        .stands(Order(id: id, scope: .stop(gate), at: Instant(nanoseconds: 0), by: "desk"))
    }

    static func resume(_ gate: Gate) -> OrderChange { .lifted(.stop(gate)) }
}
