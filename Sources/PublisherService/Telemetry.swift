import KafkaIO
import Logging
public import NewsModel
public import PublishEngine
import Synchronization

/// What a publisher has done and how it is: the one place that counts and logs outcomes.
public final class Telemetry: Sendable {
    private let state: Mutex<State>
    private let lanes: [String]

    private struct State {
        var outcomes: [LaneOutcome: Int] = [:]
        var vitals: [Int: Vitals] = [:]
        var committed: [TopicPartition: Int64] = [:]
        /// By lane and shard; absent before the lane's first assignment.
        var assigned: [LaneShard: Int] = [:]
        var lastTrouble: KafkaFailure?
        var isDraining = false
        var onCommit: (@Sendable ([PartitionOffset]) -> Void)?
        var onResult: (@Sendable (ResultRecord) -> Void)?
    }

    private struct LaneOutcome: Hashable {
        var lane: String
        var outcome: Outcome
    }

    private struct LaneShard: Hashable {
        var lane: Int
        var shard: Int
    }

    init(lanes: [String]) {
        self.lanes = lanes
        state = Mutex(State())
    }

    // MARK: What happened

    func settled(_ result: ResultRecord, log: Logger) {
        let observer = state.withLock { state in
            state.outcomes[LaneOutcome(lane: result.lane, outcome: result.outcome), default: 0] += 1
            return state.onResult
        }
        observer?(result)
        log.debug(
            "delivery settled",
            metadata: [
                "outcome": "\(result.outcome.rawValue)", "event": "\(result.eventID ?? "")",
                "platform": "\(result.platform.rawValue)", "lane": "\(result.lane)", "source": "\(result.source)",
                "attempts": "\(result.attempts)", "code": "\(result.error?.code ?? "")",
            ])
    }

    func committed(_ offsets: [PartitionOffset]) {
        let observer = state.withLock { state in
            for offset in offsets { state.committed[offset.partition] = offset.offset }
            return state.onCommit
        }
        observer?(offsets)
    }

    func observed(_ vitals: Vitals, shard: Int) {
        state.withLock { $0.vitals[shard] = vitals }
    }

    func assigned(lane: Int, shard: Int, partitions: Int) {
        state.withLock { $0.assigned[LaneShard(lane: lane, shard: shard)] = partitions }
    }

    func troubled(_ failure: KafkaFailure) {
        state.withLock { $0.lastTrouble = failure }
    }

    func isDraining() {
        state.withLock { $0.isDraining = true }
    }

    /// Called with every commit that the broker acknowledged, on a shard's event loop.
    func onCommit(_ observer: @escaping @Sendable ([PartitionOffset]) -> Void) {
        state.withLock { $0.onCommit = observer }
    }

    /// Called with every outcome as it is decided, on a shard's event loop: return quickly.
    public func onResult(_ observer: @escaping @Sendable (ResultRecord) -> Void) {
        state.withLock { $0.onResult = observer }
    }

    // MARK: How it is

    /// Outcomes so far, by outcome, over all lanes.
    public var outcomes: [Outcome: Int] {
        state.withLock { state in
            state.outcomes.reduce(into: [:]) { $0[$1.key.outcome, default: 0] += $1.value }
        }
    }

    /// The vitals of every shard, in their order.
    public var vitals: [Vitals] {
        state.withLock { state in state.vitals.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Why no news can be sent now; empty when the publisher is ready.
    public var reasonsNotReady: [String] {
        state.withLock { state in
            var reasons: [String] = []
            if state.isDraining { reasons.append("shutting down") }
            for (index, lane) in lanes.enumerated() where !state.assigned.keys.contains(where: { $0.lane == index }) {
                reasons.append("lane \(lane): no partitions assigned yet")
            }
            for halt in Set(state.vitals.values.compactMap(\.halt)).sorted(by: { $0.since < $1.since }) {
                reasons.append("hub: \(halt.reason.rawValue): \(halt.detail); \(halt.reason.remedy)")
            }
            return reasons
        }
    }
}
