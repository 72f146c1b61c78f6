import ControlIO
package import EditorialControl
import HubIO
import HubModel
import KafkaIO
import KafkaModel
public import NewsModel
import PublishEngine
import Synchronization

/// The work and the condition of a publisher, for code outside its event loops.
///
/// Shards count their own work and report ten times a second, so that single events access nothing here.
public final class ServiceMetrics: Sendable {
    let clock = ServiceClock()
    /// The start by the wall clock. All other instants here are monotonic.
    let startedAt: Instant
    let settings: EngineSettings
    let kafkaLogin: KafkaLogin
    private let deadLetterTopic: String
    let controlTopics: ControlTopics
    let health: Health
    let state: Mutex<State>
    private let past = Mutex(ServiceHistory())

    struct State {
        var reports: [ShardReport?]
        var categories: [String]
        /// The categories with their present names.
        var table: CategoryTable
        var interests: InterestTable
        var rate: EngineSettings.Rate?
        /// Partitions by lane and shard. There is no entry before the first assignment and between two assignments.
        var assigned: [LaneShard: [TopicPartition]] = [:]
        /// The time at which a rebalance took a lane's assignment, until the next one.
        var revokedAt: [LaneID: Instant] = [:]
        var committed: [TopicPartition: Int64] = [:]
        /// The lags by lane, from the first measurement on.
        var lags: [LaneID: Lag] = [:]
        var removedUnread: [LaneID: RemovedUnread] = [:]
        /// The partitions whose reading fails, by lane.
        var unreadable: [LaneID: [TopicPartition: KafkaFailure]] = [:]
        var producer: KafkaStatistics?
        /// Librdkafka's statistics of the consumers, by lane.
        var consumers: [LaneID: KafkaStatistics] = [:]
        /// The delays by which brokers keep to quotas, by lane.
        var quotaDelays: [LaneID: QuotaDelay] = [:]
        var lastError: KafkaError?
        var errors: UInt64 = 0
        /// The time since which the latest topic checks have not found the dead-letter topic.
        var deadLettersMissingSince: Instant?
        /// The reasons why topics refuse this process's records.
        var refused: [RefusedRecords.Reason] = []
        /// The number of partitions whose offsets restarted.
        var restarts: UInt64 = 0
        /// The reason why the publisher has not started.
        var obstacle: PublisherFailure?
        /// The link's status; `nil` if the held topic cannot be read or is not used.
        var held: HeldLink.Status?
        var heldTopic = HeldTopicState()
        var heldLost = 0
        var keyChanges: UInt64 = 0
        var isDraining = false
        /// The status of the control topic; `nil` before the start.
        var control: ControlStatus?
        var onCommit: (@Sendable ([PartitionOffset]) -> Void)?
        var onResult: (@Sendable (ResultRecord) -> Void)?
    }

    struct LaneShard: Hashable {
        var lane: LaneID
        var shard: ShardID
    }

    struct KafkaError {
        var failure: KafkaFailure
        var at: Instant
    }

    init(settings: PublisherSettings) {
        self.settings = settings.engine
        kafkaLogin = settings.kafka.login
        deadLetterTopic = settings.deadLetterTopic
        controlTopics = settings.control.topics
        health = Health(normalWait: max(.seconds(60), settings.limits.requestTimeout * 2))
        startedAt = clock.now.wall
        state = Mutex(
            State(
                reports: Array(repeating: nil, count: settings.shards),
                categories: settings.table.categories.map(\.name), table: settings.table,
                interests: settings.policy.interests, rate: settings.engine.rate))
    }

    // MARK: What shards and Kafka report

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

    func held(_ status: HeldLink.Status) {
        state.withLock { state in
            state.held = status
            state.heldLost = status.lost
        }
    }

    /// - Returns: `true` if the topic was not available before.
    func heldTopicIsThere() -> Bool { state.withLock { $0.heldTopic.appeared() } }

    /// - Returns: `true` if the outage must be reported.
    func heldTopicIsAway(_ failure: KafkaFailure, at now: Instant) -> Bool {
        state.withLock { state in
            state.held = nil
            return state.heldTopic.went(failure, at: now)
        }
    }

    /// Records an assignment and forgets the committed offsets, because other processes may have committed in between.
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

    /// - Parameter lost: the group has dropped this process, which is no part of a normal rebalance.
    func revoked(lane: LaneID, shard: ShardID, lost: Bool) {
        let now = clock.now.steady
        state.withLock { state in
            for partition in state.assigned.removeValue(forKey: LaneShard(lane: lane, shard: shard)) ?? [] {
                state.committed[partition] = nil
            }
            state.revokedAt[lane] = lost ? nil : state.revokedAt[lane] ?? now
        }
    }

    /// Forgets the partition's committed offset, which belongs to the former incarnation.
    func restarted(_ partition: TopicPartition) {
        state.withLock { state in
            state.committed[partition] = nil
            state.restarts += 1
        }
    }

    /// - Parameter counts: the partition counts of the existing topics.
    func found(_ counts: [String: Int]) {
        let now = clock.now.steady
        state.withLock { state in
            let isMissing = counts[deadLetterTopic] == nil
            state.deadLettersMissingSince = isMissing ? state.deadLettersMissingSince ?? now : nil
        }
    }

    func controlled(_ status: ControlStatus) { state.withLock { $0.control = status } }

    func refused(_ reasons: [RefusedRecords.Reason]) { state.withLock { $0.refused = reasons } }

    func unreadable(_ failures: [TopicPartition: KafkaFailure], lane: LaneID) {
        state.withLock { $0.unreadable[lane] = failures.isEmpty ? nil : failures }
    }

    func measured(lane: LaneID, _ measurements: [Lag.Measurement], unmeasured: Set<TopicPartition>) {
        let now = clock.now.steady
        state.withLock { $0.lags[lane, default: Lag()].measure(measurements, unmeasured: unmeasured, at: now) }
    }

    func removedUnread(_ removed: RemovedRecords, lane: LaneID) {
        let now = clock.now.steady
        state.withLock { $0.removedUnread[lane, default: RemovedUnread()].add(removed, at: now) }
    }

    /// - Parameter lane: the consumer's lane; `nil` for the producer.
    func received(_ statistics: KafkaStatistics, lane: LaneID?) {
        let now = clock.now.steady
        state.withLock { state in
            guard let lane else {
                state.producer = statistics
                return
            }
            state.consumers[lane] = statistics
            state.quotaDelays[lane, default: QuotaDelay()].note(statistics, at: now)
        }
    }

    /// The checks of orders by the present lanes and categories.
    package var orderRules: OrderRules {
        let (table, interests) = state.withLock { ($0.table, $0.interests) }
        return OrderRules(lanes: settings.lanes.map(\.name), table, interests)
    }

    func failed(_ failure: KafkaFailure) {
        let now = clock.now.steady
        state.withLock { state in
            state.lastError = KafkaError(failure: failure, at: now)
            state.errors += 1
        }
    }

    /// - Returns: all categories since the start, the new ones at the end.
    func reloaded(rate: EngineSettings.Rate?, _ table: CategoryTable, _ interests: InterestTable) -> [String] {
        state.withLock { state in
            state.rate = rate
            state.table = table
            state.interests = interests
            for name in table.categories.map(\.name) where !state.categories.contains(name) {
                state.categories.append(name)
            }
            return state.categories
        }
    }

    func keyChanged() { state.withLock { $0.keyChanges &+= 1 } }

    /// - Parameter obstacle: `nil` once the publisher starts.
    func cannotStart(_ obstacle: PublisherFailure?) { state.withLock { $0.obstacle = obstacle } }

    func isDraining() { state.withLock { $0.isDraining = true } }

    /// The lane's partitions of this process, with their committed offsets as far as they are known.
    func positions(lane: LaneID) -> [(partition: TopicPartition, committed: Int64?)] {
        state.withLock { state in
            state.assigned.filter { $0.key.lane == lane }.values.joined().sorted().map { ($0, state.committed[$0]) }
        }
    }

    /// Adds the offsets that were committed at the assignment. Own commits since then are newer and take precedence.
    func found(_ stored: [TopicPartition: Int64], of partitions: [TopicPartition]) {
        state.withLock { state in
            for partition in partitions where state.committed[partition] == nil {
                state.committed[partition] = stored[partition] ?? 0
            }
        }
    }

    /// Sets an observer for acknowledged commits, which is called on a shard's event loop.
    func onCommit(_ observer: @escaping @Sendable ([PartitionOffset]) -> Void) {
        state.withLock { $0.onCommit = observer }
    }

    /// Sets an observer for outcomes. It is called on a shard's event loop and must return quickly. Call this before
    /// `run`.
    public func onResult(_ observer: @escaping @Sendable (ResultRecord) -> Void) {
        state.withLock { $0.onResult = observer }
    }

    var resultObserver: (@Sendable (ResultRecord) -> Void)? { state.withLock { $0.onResult } }

    // MARK: What others read

    /// The upper bound of the records that were removed before a lane read them, over all lanes.
    var removedUnread: UInt64 {
        state.withLock { $0.removedUnread.values.reduce(0) { $0 + $1.total } }
    }

    /// The number of outcomes over all lanes. Outcomes that did not occur are absent.
    public var outcomes: [Outcome: Int] {
        let tally = status.tally
        var outcomes: [Outcome: Int] = [:]
        for outcome in Outcome.allCases {
            let count = tally.lanes.reduce(0) { $0 + $1.outcomes[outcome] }
            if count > 0 { outcomes[outcome] = Int(clamping: count) }
        }
        return outcomes
    }

    /// The rates and latencies of the last hour.
    public var history: ServiceHistory { past.withLock { $0 } }

    func remember(_ status: ServiceStatus) { past.withLock { $0.add(status.tally, at: status.at) } }

    /// The latest results that are kept, newest first.
    ///
    /// - Parameter eventID: selects the results of one event; `nil` for all.
    public func recentResults(of eventID: String? = nil, limit: Int) -> [ResultRecord] {
        let kept = state.withLock { $0.reports.compactMap { $0?.recent } }.flatMap(\.all)
        let wanted = eventID.map { id in kept.filter { $0.eventID == id } } ?? kept
        return Array(wanted.sorted { $0.settledAt > $1.settledAt }.prefix(limit))
    }
}
