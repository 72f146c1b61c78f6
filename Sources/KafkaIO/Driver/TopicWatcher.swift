import CRdkafka
import KafkaModel
import NewsModel
import Synchronization

/// The thread that polls the cluster for what it does not announce: how many partitions our topics have, and whether a
/// partition is still the one we started to read. It blocks; the polling thread never waits for it.
final class TopicWatcher: Sendable {
    private let settings: KafkaSettings
    private let topics: TopicWatch
    /// Answers questions about topics; the producer's.
    private let client: RdClient
    private let lanes: Int
    private let shards: Int
    private let commands: CommandQueue
    private let wakeUp: WakeUp
    private let state: Mutex<State>

    private struct State {
        var generations: [Generation]
        var hasNewAssignment = true
        var checks: [(LaneID, ConsumerState.IncarnationCheck)] = []
        /// A look at incarnations is under way: the next one waits for it.
        var isLooking = false
        var isClosing = false
    }

    static let timeout: Int32 = 3_000

    init(
        settings: KafkaSettings, topics: TopicWatch, client: RdClient, lanes: Int, shards: Int,
        commands: CommandQueue
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

    /// Asks for the counts again.
    func assigned(_ lane: LaneID, _ generation: Generation) {
        state.withLock { state in
            state.generations[lane.index] = generation
            state.hasNewAssignment = true
        }
        wakeUp.signal()
    }

    /// Asks for checks to be made; drops them while others are being made.
    func look(_ checks: [ConsumerState.IncarnationCheck], _ lane: LaneID) {
        state.withLock { state in
            guard !state.isLooking else { return }
            state.checks.removeAll { $0.0 == lane }
            state.checks += checks.map { (lane, $0) }
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
    }

    private func take() -> Work? {
        state.withLock { state in
            if state.isClosing { return nil }
            defer {
                state.hasNewAssignment = false
                state.checks = []
                state.isLooking = false
            }
            return Work(
                generations: state.generations, hasNewAssignment: state.hasNewAssignment, checks: state.checks)
        }
    }

    func run() {
        var next = Instant.distantPast
        let examiner = IncarnationExaminer(settings: settings, lanes: lanes, commands: commands)
        while let work = take() {
            if work.hasNewAssignment || MonotonicClock.now >= next {
                let counts = readCounts(work.generations)
                next = MonotonicClock.now + topics.pause(after: counts)
            }
            if !work.checks.isEmpty {
                state.withLock { $0.isLooking = true }
                examiner.examine(work.checks)
                continue
            }
            let pause = (next - MonotonicClock.now).nanoseconds / 1_000_000 + 1
            wakeUp.wait(milliseconds: Int32(clamping: min(max(pause, 1), 10_000)))
        }
    }

    /// Asks for all topics: asking for one by name would create it on many brokers.
    private func readCounts(_ generations: [Generation]) -> [String: Int]? {
        do throws(KafkaFailure) {
            let counts = topics.ours(try client.topics(timeout: Self.timeout).mapValues(\.count))
            var events = ShardEvents(shards: shards)
            events.addForAll { _ in .partitionCounts(counts, readIn: generations) }
            commands.post(.forward(events))
            return counts
        } catch {
            // The clients report the same brokers themselves.
            return nil
        }
    }
}
