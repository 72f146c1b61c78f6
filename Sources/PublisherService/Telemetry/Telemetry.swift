import ByteText
import HubIO
import KafkaIO
import KafkaModel
public import NewsModel
public import PublishEngine
import Synchronization

/// What a publisher has done and how it is, for everyone outside its event loops.
///
/// Shards count for themselves and report ten times a second, so that nothing here is touched for each event.
public final class Telemetry: Sendable {
    let clock = ServiceClock()
    /// By the monotonic clock, as are all instants here.
    private let startedAt: Instant
    private let settings: EngineSettings
    private let health: Health
    private let state: Mutex<State>

    private struct State {
        var reports: [ShardReport?]
        var categories: [String]
        var rate: EngineSettings.Rate?
        /// By lane and shard; absent before the lane's first assignment, and between two.
        var assigned: [LaneShard: [TopicPartition]] = [:]
        /// Since when a lane that had an assignment has none.
        var revokedAt: [LaneID: Instant] = [:]
        var committed: [TopicPartition: Int64] = [:]
        /// By lane; absent before the first look.
        var lags: [LaneID: Lag] = [:]
        var producer: KafkaStatistics?
        /// By lane.
        var consumers: [LaneID: KafkaStatistics] = [:]
        var trouble: Trouble?
        var troubles: UInt64 = 0
        /// Topics that do not take what we write.
        var refused: [RefusedRecords.Reason] = []
        /// Partitions whose offsets started again.
        var restarts: UInt64 = 0
        var isDraining = false
        var onCommit: (@Sendable ([PartitionOffset]) -> Void)?
        var onResult: (@Sendable (ResultRecord) -> Void)?
    }

    private struct LaneShard: Hashable {
        var lane: LaneID
        var shard: ShardID
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
        startedAt = clock.now.steady
        state = Mutex(
            State(
                reports: Array(repeating: nil, count: settings.shards),
                categories: settings.table.categories.map(\.name), rate: settings.engine.rate))
    }

    // MARK: What happened

    func report(_ report: ShardReport, shard: ShardID) {
        state.withLock { $0.reports[shard.index] = report }
    }

    func committed(_ offsets: [PartitionOffset]) {
        let observer = state.withLock { state in
            for offset in offsets { state.committed[offset.partition] = offset.offset }
            return state.onCommit
        }
        observer?(offsets)
    }

    /// What others committed meanwhile is not known to us.
    func assigned(lane: LaneID, shard: ShardID, partitions: [TopicPartition]) {
        state.withLock { state in
            for partition in state.assigned[LaneShard(lane: lane, shard: shard)] ?? [] {
                state.committed[partition] = nil
            }
            for partition in partitions { state.committed[partition] = nil }
            state.assigned[LaneShard(lane: lane, shard: shard)] = partitions
            state.revokedAt[lane] = nil
        }
    }

    func revoked(lane: LaneID, shard: ShardID) {
        let now = clock.now.steady
        state.withLock { state in
            for partition in state.assigned.removeValue(forKey: LaneShard(lane: lane, shard: shard)) ?? [] {
                state.committed[partition] = nil
            }
            state.revokedAt[lane] = state.revokedAt[lane] ?? now
        }
    }

    /// What was committed of the partition is an offset of its former incarnation.
    func restarted(_ partition: TopicPartition) {
        state.withLock { state in
            state.committed[partition] = nil
            state.restarts += 1
        }
    }

    func refused(_ reasons: [RefusedRecords.Reason]) {
        state.withLock { $0.refused = reasons }
    }

    func measured(lane: LaneID, lag records: Int64) {
        let now = clock.now.steady
        state.withLock { state in
            let since = records > 0 ? state.lags[lane]?.since ?? now : nil
            state.lags[lane] = Lag(records: records, since: since)
        }
    }

    /// - Parameter lane: `nil` for the producer.
    func counted(_ statistics: KafkaStatistics, lane: LaneID?) {
        state.withLock { state in
            if let lane { state.consumers[lane] = statistics } else { state.producer = statistics }
        }
    }

    func troubled(_ failure: KafkaFailure) {
        let now = clock.now.steady
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
    func positions(lane: LaneID) -> [(partition: TopicPartition, committed: Int64?)] {
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

    /// The engine of every shard, in their order.
    public var engines: [EngineStatus] {
        state.withLock { $0.reports.compactMap { $0?.status } }
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
        let waits = waits(reports, at: now)
        let tokens = reports.compactMap(\.tokens)
        return ServiceStatus(
            at: now.wall, startedAt: now.wall(at: startedAt), lanes: lanes, categories: state.categories, tally: tally,
            halts: Self.halts(reports),
            limiters: reports.map(\.limiter),
            limitedFor: Limiter.allCases.enumerated().map { index, limiter in
                (limiter, Double(reports.reduce(0) { $0 + $1.limitedFor[index] }) / 1e9)
            },
            inFlight: reports.reduce(0) { $0 + $1.status.inFlight },
            concurrencyLimit: reports.reduce(0) { $0 + $1.status.concurrencyLimit },
            openConnections: reports.reduce(0) { $0 + $1.openConnections },
            tokens: tokens.isEmpty ? nil : tokens.reduce(0, +), rate: state.rate, producer: state.producer,
            kafkaErrors: state.troubles,
            lastKafkaError: state.trouble?.failure, restarts: state.restarts, waits: waits,
            notReady: notReady(lanes, reports, waits, state, at: now),
            stuck: state.isDraining ? nil : stuck(lanes, state, at: now))
    }

    private func lane(_ index: Int, _ reports: [ShardReport], _ state: State, at now: Moment) -> ServiceStatus.Lane {
        let id = LaneID(index)
        let assigned = state.assigned.filter { $0.key.lane == id }
        let statuses = reports.map { $0.status.lanes[index] }
        let lag = state.lags[id]
        let oldest = reports.compactMap { $0.oldestHeld[index] }.min().map { now.wall - $0 }
        // What is not read yet is at least as old as the time we have been waiting for it.
        let age = oldest ?? lag?.since.map { now.steady - $0 }
        return ServiceStatus.Lane(
            name: settings.lanes[index].name, topics: settings.lanes[index].topics,
            partitions: assigned.isEmpty ? nil : assigned.values.reduce(0) { $0 + $1.count },
            isPaused: statuses.contains { $0.isPaused }, held: statuses.reduce(0) { $0 + $1.held },
            heldBytes: statuses.reduce(0) { $0 + $1.heldBytes }, window: settings.lanes[index].window,
            ready: statuses.reduce(0) { $0 + $1.ready }, delayed: statuses.reduce(0) { $0 + $1.delayed },
            lag: lag?.records, consumer: state.consumers[id], lagAge: lag.map { _ in max(.zero, age ?? .zero) })
    }

    /// Those that have the same reason in several shards are one, which lasts as long as the longest.
    private func waits(_ reports: [ShardReport], at now: Moment) -> [ServiceStatus.Waiting] {
        var waits: [ServiceStatus.Waiting] = []
        for wait in reports.flatMap(\.status.waits) {
            let lane = wait.lane.map { settings.lanes[$0.index].name }
            let duration = max(.zero, now.steady - wait.since)
            if let known = waits.firstIndex(where: { $0.lane == lane && $0.reason == wait.reason }) {
                waits[known].duration = max(waits[known].duration, duration)
            } else {
                waits.append(.init(lane: lane, reason: wait.reason, duration: duration, detail: wait.detail))
            }
        }
        return waits
    }

    private static func halts(_ reports: [ShardReport]) -> [Halt] {
        var halts: [Halt] = []
        let all = reports.flatMap { report in
            ([report.status.halt] + report.status.lanes.map(\.flood)).compactMap(\.self)
        }
        for halt in all.sorted(by: { $0.since < $1.since })
        where !halts.contains(where: { $0.reason == halt.reason && $0.detail == halt.detail }) {
            halts.append(halt)
        }
        return halts
    }

    /// What waits for longer keeps a promise from being kept.
    private static let patience = Duration.seconds(5)

    private func notReady(
        _ lanes: [ServiceStatus.Lane], _ reports: [ShardReport], _ waits: [ServiceStatus.Waiting], _ state: State,
        at now: Moment
    ) -> [ServiceStatus.NotReady] {
        var reasons: [ServiceStatus.NotReady] = []
        if state.isDraining { reasons.append(.init(code: "shutting-down", detail: "shutting down", remedy: "")) }
        for (index, lane) in lanes.enumerated() where lane.partitions == nil {
            // A rebalance takes a moment.
            if let revokedAt = state.revokedAt[LaneID(index)], now.steady - revokedAt <= Self.patience { continue }
            reasons.append(
                .init(
                    code: "not-assigned", detail: "lane \(lane.name): no partitions assigned yet",
                    remedy:
                        "joining takes some seconds; should it last, check the brokers and this machine's way to them",
                    lane: lane.name))
        }
        for halt in Self.halts(reports) {
            let subject = halt.reason == .flood ? halt.detail : "hub: \(halt.reason.rawValue): \(halt.detail)"
            reasons.append(
                .init(code: "hub-\(halt.reason.rawValue)", detail: subject, remedy: halt.reason.remedy))
        }
        for reason in state.refused {
            reasons.append(
                .init(
                    code: "records-refused",
                    detail:
                        "topic \(reason.topic) does not take \(ByteText.counted(reason.records, "record")): \(reason.failure.detail)",
                    remedy: reason.failure.remedy))
        }
        for wait in reports.flatMap(\.status.waits)
        where wait.isAlarming && wait.reason != .halt && wait.reason != .flood
            && now.steady - wait.since > Self.patience
        {
            let lane = wait.lane.map { settings.lanes[$0.index].name }
            let found = ServiceStatus.NotReady(
                code: wait.reason.rawValue, detail: lane.map { "lane \($0): \(wait.detail)" } ?? wait.detail,
                remedy: wait.remedy, lane: lane)
            if !reasons.contains(where: { $0.code == found.code && $0.lane == lane }) { reasons.append(found) }
        }
        return reasons
    }

    private func stuck(_ lanes: [ServiceStatus.Lane], _ state: State, at now: Moment) -> String? {
        let reports = state.reports.enumerated().compactMap { shard, report in report.map { (shard, $0) } }
        let waiting = lanes.enumerated().compactMap { index, lane in
            lane.held == 0 && !lane.isPaused && (lane.partitions ?? 0) > 0 ? state.lags[LaneID(index)]?.since : nil
        }
        return health.stuck(reports, troubleAt: state.trouble?.at, waitingSince: waiting.min(), at: now.steady)
    }
}
