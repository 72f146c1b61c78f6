import ByteText
import ControlIO
import EditorialControl
import HubIO
import KafkaIO
import KafkaModel
public import NewsModel
import PublishEngine
import Synchronization

/// The work and the condition of a publisher, for everyone outside its event loops.
///
/// Shards count for themselves and report ten times a second, so that nothing here is touched for each event.
public final class Telemetry: Sendable {
    let clock = ServiceClock()
    /// By the monotonic clock, as are all instants here.
    /// By the wall clock as it was then.
    let startedAt: Instant
    let settings: EngineSettings
    private let deadLetterTopic: String
    let controlTopics: ControlTopics
    let health: Health
    let state: Mutex<State>

    struct State {
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
        var lastError: KafkaError?
        var errors: UInt64 = 0
        /// By the last look at the cluster's topics.
        var deadLettersMissingSince: Instant?
        /// Topics that do not take what we write.
        var refused: [RefusedRecords.Reason] = []
        /// Partitions whose offsets started again.
        var restarts: UInt64 = 0
        /// Why the publisher has not started yet.
        var obstacle: PublisherFailure?
        /// `nil` while the held topic cannot be read, or nothing is to be held.
        var held: HeldLink.Status?
        var heldTopic = HeldTopicState()
        var heldLost = 0
        var isDraining = false
        /// `nil` before the start.
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
        deadLetterTopic = settings.deadLetterTopic
        controlTopics = settings.control.topics
        health = Health(normalWait: max(.seconds(60), settings.limits.requestTimeout * 2))
        startedAt = clock.now.wall
        state = Mutex(
            State(
                reports: Array(repeating: nil, count: settings.shards),
                categories: settings.table.categories.map(\.name), rate: settings.engine.rate))
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

    /// - Returns: `true` if that is news.
    func heldTopicIsThere() -> Bool { state.withLock { $0.heldTopic.appeared() } }

    /// - Returns: `true` if that is news.
    func heldTopicIsAway(_ failure: KafkaFailure, at now: Instant) -> Bool {
        state.withLock { state in
            state.held = nil
            return state.heldTopic.went(failure, at: now)
        }
    }

    /// Forgets the committed offsets: others may have committed meanwhile.
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

    /// The shard's part of so many connections: one, and of the others as many as it has of this process's partitions. All
    /// parts together are no more than there are, if there is one for each shard with partitions.
    ///
    /// - Returns: `nil` for a shard without partitions, which has nothing to send.
    func connectionShare(of shard: ShardID, _ connections: Int) -> Int? {
        var counts: [ShardID: Int] = [:]
        state.withLock { state in
            for (owner, partitions) in state.assigned where !partitions.isEmpty {
                counts[owner.shard, default: 0] += partitions.count
            }
        }
        guard let ours = counts[shard] else { return nil }
        let all = counts.values.reduce(0, +)
        return 1 + max(0, connections - counts.count) * ours / all
    }

    /// The partition's committed offset belongs to its former incarnation.
    func restarted(_ partition: TopicPartition) {
        state.withLock { state in
            state.committed[partition] = nil
            state.restarts += 1
        }
    }

    /// - Parameter counts: of the topics that exist.
    func found(_ counts: [String: Int]) {
        let now = clock.now.steady
        state.withLock { state in
            let isMissing = counts[deadLetterTopic] == nil
            state.deadLettersMissingSince = isMissing ? state.deadLettersMissingSince ?? now : nil
        }
    }

    func controlled(_ status: ControlStatus) {
        state.withLock { $0.control = status }
    }

    func refused(_ reasons: [RefusedRecords.Reason]) {
        state.withLock { $0.refused = reasons }
    }

    func measured(lane: LaneID, _ measurements: [Lag.Measurement]) {
        let now = clock.now.steady
        state.withLock { $0.lags[lane, default: Lag()].measure(measurements, at: now) }
    }

    /// - Parameter lane: `nil` for the producer.
    func received(_ statistics: KafkaStatistics, lane: LaneID?) {
        state.withLock { state in
            if let lane { state.consumers[lane] = statistics } else { state.producer = statistics }
        }
    }

    func failed(_ failure: KafkaFailure) {
        let now = clock.now.steady
        state.withLock { state in
            state.lastError = KafkaError(failure: failure, at: now)
            state.errors += 1
        }
    }

    /// - Returns: all categories since the start, the new ones at the end.
    func reloaded(rate: EngineSettings.Rate?, categories: [String]) -> [String] {
        state.withLock { state in
            state.rate = rate
            for name in categories where !state.categories.contains(name) { state.categories.append(name) }
            return state.categories
        }
    }

    /// - Parameter obstacle: `nil` when it starts.
    func cannotStart(_ obstacle: PublisherFailure?) {
        state.withLock { $0.obstacle = obstacle }
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

    /// The offsets committed when partitions were assigned to us; our own commits since then are newer.
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

    // MARK: What others read

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

    /// The last results that are still kept, the newest first.
    ///
    /// - Parameter eventID: only those of this event; `nil` for all.
    public func recentResults(of eventID: String? = nil, limit: Int) -> [ResultRecord] {
        let kept = state.withLock { $0.reports.compactMap { $0?.recent } }.flatMap(\.all)
        let wanted = eventID.map { id in kept.filter { $0.eventID == id } } ?? kept
        return Array(wanted.sorted { $0.settledAt > $1.settledAt }.prefix(limit))
    }
}
