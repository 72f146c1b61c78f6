import HubIO
import KafkaIO
public import NewsModel
public import PublishEngine
import Synchronization

/// What a publisher has done and how it is, for everyone outside its event loops.
///
/// Shards count for themselves and report ten times a second, so that nothing here is touched for each event.
public final class Telemetry: Sendable {
    let clock = ServiceClock()
    private let startedAt: Instant
    private let settings: EngineSettings
    private let health: Health
    private let state: Mutex<State>

    private struct State {
        var reports: [ShardReport?]
        var categories: [String]
        var rate: EngineSettings.Rate?
        /// By lane and shard; absent before the lane's first assignment.
        var assigned: [LaneShard: [TopicPartition]] = [:]
        var committed: [TopicPartition: Int64] = [:]
        /// By lane; absent before the first look.
        var lags: [Int: Lag] = [:]
        var producer: KafkaStatistics?
        /// By lane.
        var consumers: [Int: KafkaStatistics] = [:]
        var trouble: Trouble?
        var troubles: UInt64 = 0
        var isDraining = false
        var onCommit: (@Sendable ([PartitionOffset]) -> Void)?
        var onResult: (@Sendable (ResultRecord) -> Void)?
    }

    private struct LaneShard: Hashable {
        var lane: Int
        var shard: Int
    }

    private struct Lag {
        var records: Int64
        /// Since when there has been any.
        var since: Instant?
    }

    private struct Trouble {
        var failure: KafkaFailure
        var at: Instant
    }

    init(settings: PublisherSettings) {
        self.settings = settings.engine
        health = Health(patience: max(.seconds(60), settings.limits.requestTimeout * 2))
        startedAt = clock.now
        state = Mutex(
            State(
                reports: Array(repeating: nil, count: settings.shards),
                categories: settings.table.categories.map(\.name), rate: settings.engine.rate))
    }

    // MARK: What happened

    func report(_ report: ShardReport, shard: Int) {
        state.withLock { $0.reports[shard] = report }
    }

    func committed(_ offsets: [PartitionOffset]) {
        let observer = state.withLock { state in
            for offset in offsets { state.committed[offset.partition] = offset.offset }
            return state.onCommit
        }
        observer?(offsets)
    }

    /// What others committed meanwhile is not known to us.
    func assigned(lane: Int, shard: Int, partitions: [TopicPartition]) {
        state.withLock { state in
            for partition in state.assigned[LaneShard(lane: lane, shard: shard)] ?? [] {
                state.committed[partition] = nil
            }
            for partition in partitions { state.committed[partition] = nil }
            state.assigned[LaneShard(lane: lane, shard: shard)] = partitions
        }
    }

    func measured(lane: Int, lag records: Int64) {
        let now = clock.now
        state.withLock { state in
            let since = records > 0 ? state.lags[lane]?.since ?? now : nil
            state.lags[lane] = Lag(records: records, since: since)
        }
    }

    /// - Parameter lane: `nil` for the producer.
    func counted(_ statistics: KafkaStatistics, lane: Int?) {
        state.withLock { state in
            if let lane { state.consumers[lane] = statistics } else { state.producer = statistics }
        }
    }

    func troubled(_ failure: KafkaFailure) {
        let now = clock.now
        state.withLock { state in
            state.trouble = Trouble(failure: failure, at: now)
            state.troubles += 1
        }
    }

    /// - Returns: all categories there have been, the new ones behind.
    func reloaded(rate: EngineSettings.Rate?, categories: [String]) -> [String] {
        state.withLock { state in
            state.rate = rate
            for name in categories where !state.categories.contains(name) { state.categories.append(name) }
            return state.categories
        }
    }

    func isDraining() {
        state.withLock { $0.isDraining = true }
    }

    /// The lane's partitions that are ours, and how far each is committed, as far as we know.
    func positions(lane: Int) -> [(partition: TopicPartition, committed: Int64?)] {
        state.withLock { state in
            state.assigned.filter { $0.key.lane == lane }.values.joined().sorted().map { ($0, state.committed[$0]) }
        }
    }

    /// What stood committed when a partition came to us; what we committed since is newer.
    func found(_ stored: [TopicPartition: Int64], of partitions: [TopicPartition]) {
        state.withLock { state in
            for partition in partitions where state.committed[partition] == nil {
                state.committed[partition] = stored[partition] ?? 0
            }
        }
    }

    /// Called with every commit that the broker acknowledged, on a shard's event loop.
    func onCommit(_ observer: @escaping @Sendable ([PartitionOffset]) -> Void) {
        state.withLock { $0.onCommit = observer }
    }

    /// Called with every outcome as it is decided, on a shard's event loop: return quickly. To be set before `run`.
    public func onResult(_ observer: @escaping @Sendable (ResultRecord) -> Void) {
        state.withLock { $0.onResult = observer }
    }

    var resultObserver: (@Sendable (ResultRecord) -> Void)? { state.withLock { $0.onResult } }

    // MARK: How it is

    /// Outcomes so far, by outcome, over all lanes; those that did not occur are absent.
    public var outcomes: [Outcome: Int] {
        let tally = status.tally
        var outcomes: [Outcome: Int] = [:]
        for outcome in Outcome.allCases {
            let count = tally.lanes.reduce(0) { $0 + $1.outcomes[outcome] }
            if count > 0 { outcomes[outcome] = Int(clamping: count) }
        }
        return outcomes
    }

    /// The vitals of every shard, in their order.
    public var vitals: [Vitals] {
        state.withLock { $0.reports.compactMap { $0?.vitals } }
    }

    /// Why no news can be sent now; empty when the publisher is ready.
    public var reasonsNotReady: [String] {
        status.notReady.map { $0.remedy.isEmpty ? $0.detail : "\($0.detail); \($0.remedy)" }
    }

    /// The last results that are still kept, the newest first.
    ///
    /// - Parameter eventID: only those of this event; `nil` for all.
    public func recentResults(of eventID: String? = nil, limit: Int) -> [ResultRecord] {
        let kept = state.withLock { $0.reports.compactMap { $0?.recent } }.flatMap(\.all)
        let wanted = eventID.map { id in kept.filter { $0.eventID == id } } ?? kept
        return Array(wanted.sorted { $0.settledAt > $1.settledAt }.prefix(limit))
    }

    /// Everything at once.
    public var status: ServiceStatus {
        let state = state.withLock { $0 }
        let now = clock.now
        let reports = state.reports.compactMap { $0 }
        var tally = Tally(lanes: settings.lanes.count, categories: state.categories.count)
        for report in reports { tally.add(report.tally) }
        let lanes = settings.lanes.indices.map { lane($0, reports, state, at: now) }
        let tokens = reports.compactMap(\.tokens)
        return ServiceStatus(
            at: now, startedAt: startedAt, lanes: lanes, categories: state.categories, tally: tally,
            halts: Self.halts(reports),
            limiters: reports.map(\.limiter),
            limitedFor: Limiter.allCases.enumerated().map { index, limiter in
                (limiter, Double(reports.reduce(0) { $0 + $1.limitedFor[index] }) / 1e9)
            },
            inFlight: reports.reduce(0) { $0 + $1.vitals.inFlight },
            concurrencyLimit: reports.reduce(0) { $0 + $1.vitals.concurrencyLimit },
            openConnections: reports.reduce(0) { $0 + $1.openConnections },
            tokens: tokens.isEmpty ? nil : tokens.reduce(0, +), rate: state.rate, producer: state.producer,
            kafkaErrors: state.troubles,
            lastKafkaError: state.trouble?.failure, notReady: notReady(lanes, reports, state),
            stuck: state.isDraining ? nil : stuck(lanes, state, at: now))
    }

    private func lane(_ index: Int, _ reports: [ShardReport], _ state: State, at now: Instant) -> ServiceStatus.Lane {
        let assigned = state.assigned.filter { $0.key.lane == index }
        let vitals = reports.map { $0.vitals.lanes[index] }
        let lag = state.lags[index]
        let oldest = reports.compactMap { $0.oldestHeld[index] }.min()
        // What is not read yet is at least as old as the time we have been waiting for it.
        let since = oldest ?? lag?.since
        return ServiceStatus.Lane(
            name: settings.lanes[index].name, topics: settings.lanes[index].topics,
            partitions: assigned.isEmpty ? nil : assigned.values.reduce(0) { $0 + $1.count },
            isPaused: vitals.contains { $0.isPaused }, held: vitals.reduce(0) { $0 + $1.held },
            heldBytes: vitals.reduce(0) { $0 + $1.heldBytes }, window: settings.lanes[index].window,
            ready: vitals.reduce(0) { $0 + $1.ready }, parked: vitals.reduce(0) { $0 + $1.parked }, lag: lag?.records,
            consumer: state.consumers[index],
            lagAge: lag.map { _ in since.map { max(.zero, now - $0) } ?? .zero })
    }

    private static func halts(_ reports: [ShardReport]) -> [Halt] {
        var halts: [Halt] = []
        for halt in reports.compactMap(\.vitals.halt).sorted(by: { $0.since < $1.since })
        where !halts.contains(where: { $0.reason == halt.reason }) {
            halts.append(halt)
        }
        return halts
    }

    private func notReady(
        _ lanes: [ServiceStatus.Lane], _ reports: [ShardReport], _ state: State
    ) -> [ServiceStatus.NotReady] {
        var reasons: [ServiceStatus.NotReady] = []
        if state.isDraining { reasons.append(.init(code: "shutting-down", detail: "shutting down", remedy: "")) }
        for lane in lanes where lane.partitions == nil {
            reasons.append(
                .init(
                    code: "not-assigned", detail: "lane \(lane.name): no partitions assigned yet",
                    remedy:
                        "joining takes some seconds; should it last, check the brokers and this machine's way to them"))
        }
        for halt in Self.halts(reports) {
            reasons.append(
                .init(
                    code: "hub-\(halt.reason.rawValue)", detail: "hub: \(halt.reason.rawValue): \(halt.detail)",
                    remedy: halt.reason.remedy))
        }
        return reasons
    }

    private func stuck(_ lanes: [ServiceStatus.Lane], _ state: State, at now: Instant) -> String? {
        let reports = state.reports.enumerated().compactMap { shard, report in report.map { (shard, $0) } }
        let waiting = lanes.enumerated().compactMap { index, lane in
            lane.held == 0 && !lane.isPaused && (lane.partitions ?? 0) > 0 ? state.lags[index]?.since : nil
        }
        return health.stuck(reports, troubleAt: state.trouble?.at, waitingSince: waiting.min(), at: now)
    }
}
