import CRdkafka
import KafkaModel
import NewsModel
import Synchronization

/// The thread that polls the cluster for unannounced changes: the partition counts of our topics, and the identity and the first
/// offset of the partitions being read. It blocks; the polling thread never waits for it.
final class TopicWatcher: Sendable {
    private let settings: KafkaSettings
    private let topics: TopicWatch
    /// The producer's client, used for requests about topics.
    private let client: RdClient
    private let lanes: Int
    private let shards: Int
    private let commands: CommandQueue<DriverCommand>
    private let wakeUp: WakeUp
    private let state: Mutex<State>

    private struct State {
        var generations: [Generation]
        var hasNewAssignment = true
        var checks: [(LaneID, ConsumerState.IncarnationCheck)] = []
        var removals: [(LaneID, ConsumerState.RemovalCheck)] = []
        /// True while incarnations are being checked. New checks are dropped meanwhile.
        var isLooking = false
        var isClosing = false
    }

    static let timeout: Int32 = 3_000

    init(
        settings: KafkaSettings, topics: TopicWatch, client: RdClient, lanes: Int, shards: Int,
        commands: CommandQueue<DriverCommand>
    ) throws(KafkaFailure) {
        self.settings = settings
        self.topics = topics
        self.client = client
        self.lanes = lanes
        self.shards = shards
        self.commands = commands
        wakeUp = try WakeUp()
        state = Mutex(State(generations: Array(repeating: .none, count: lanes)))
    }

    /// Requests the partition counts again.
    func assigned(_ lane: LaneID, _ generation: Generation) {
        state.withLock { state in
            state.generations[lane.index] = generation
            state.hasNewAssignment = true
        }
        wakeUp.signal()
    }

    /// Requests checks.
    ///
    /// - Returns: false if others are in progress, and these were dropped.
    func look(_ checks: [ConsumerState.IncarnationCheck], _ lane: LaneID) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isLooking else { return false }
            state.checks.removeAll { $0.0 == lane }
            state.checks += checks.map { (lane, $0) }
            return true
        }
        wakeUp.signal()
        return isTaken
    }

    /// Requests the first offsets of partitions. Replaces the lane's earlier request.
    func look(_ checks: [ConsumerState.RemovalCheck], _ lane: LaneID) {
        state.withLock { state in
            state.removals.removeAll { $0.0 == lane }
            state.removals += checks.map { (lane, $0) }
        }
        wakeUp.signal()
    }

    func close() {
        state.withLock { $0.isClosing = true }
        wakeUp.signal()
    }

    private struct Work {
        var generations: [Generation]
        var hasNewAssignment: Bool
        var checks: [(LaneID, ConsumerState.IncarnationCheck)]
        var removals: [(LaneID, ConsumerState.RemovalCheck)]
    }

    private func removeWork() -> Work? {
        state.withLock { state in
            if state.isClosing { return nil }
            defer {
                state.hasNewAssignment = false
                state.checks = []
                state.removals = []
                state.isLooking = false
            }
            return Work(
                generations: state.generations, hasNewAssignment: state.hasNewAssignment, checks: state.checks,
                removals: state.removals)
        }
    }

    func run() {
        var next = Instant.distantPast
        let examiner = IncarnationExaminer(settings: settings, lanes: lanes, commands: commands)
        while let work = removeWork() {
            if work.hasNewAssignment || ServiceClock.steady >= next {
                let counts = readCounts(work.generations)
                next = ServiceClock.steady + topics.pause(after: counts)
            }
            examiner.examine(work.removals)
            if !work.checks.isEmpty {
                state.withLock { $0.isLooking = true }
                examiner.examine(work.checks)
                continue
            }
            let pause = (next - ServiceClock.steady).nanoseconds / 1_000_000 + 1
            wakeUp.wait(milliseconds: Int32(clamping: min(max(pause, 1), 10_000)))
        }
    }

    /// Requests all topics, because a request for one by name would create it on many brokers.
    private func readCounts(_ generations: [Generation]) -> [String: Int]? {
        do throws(KafkaFailure) {
            let counts = topics.ours(try client.topics(timeout: Self.timeout).mapValues(\.count))
            var events = ShardEvents(shards: shards)
            events.addForAll { _ in .partitionCounts(counts, readIn: generations) }
            commands.post(.forward(events))
            return counts
        } catch {
            // The clients report the brokers' errors themselves.
            return nil
        }
    }
}
