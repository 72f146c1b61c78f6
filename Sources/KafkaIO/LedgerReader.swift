import NewsModel
import Synchronization

/// The thread that reads results partitions back. It blocks, so it is not the polling thread; and it never joins a
/// group, so nothing it does moves partitions.
final class LedgerReader: Sendable {
    /// One partition to restore for one shard.
    struct Job: Sendable {
        var lane: Int
        var shard: Int
        var generation: Int
        var results: TopicPartition
        var start: RestoreStart
        /// Set once known, so that a second try goes on where the first one stopped.
        var progress: Progress?
    }

    struct Progress: Sendable {
        var next: Int64
        var start: Int64
        var end: Int64
        var basis: RestoreEnd.Basis

        mutating func advance(past offset: Int64) {
            next = offset + 1
            start = min(start, offset)
        }
    }

    private struct State {
        var waiting: [Job] = []
        var generations: [Int]
        var isClosing = false
    }

    private let settings: KafkaSettings
    private let lanes: [String]
    private let mailbox: Mailbox
    private let wakeUp: WakeUp
    private let state: Mutex<State>

    init(settings: KafkaSettings, lanes: [String], mailbox: Mailbox) throws(KafkaFailure) {
        self.settings = settings
        self.lanes = lanes
        self.mailbox = mailbox
        wakeUp = try WakeUp()
        state = Mutex(State(generations: Array(repeating: 0, count: lanes.count)))
    }

    func request(_ job: Job) {
        guard lanes.indices.contains(job.lane) else { return }
        state.withLock { $0.waiting.append(job) }
        wakeUp.signal()
    }

    /// Jobs of older generations end without a word.
    func begin(lane: Int, generation: Int) {
        state.withLock { state in
            guard state.generations.indices.contains(lane) else { return }
            state.generations[lane] = generation
            state.waiting.removeAll { $0.lane == lane && $0.generation < generation }
        }
    }

    func close() {
        state.withLock { $0.isClosing = true }
        wakeUp.signal()
    }

    func isCurrent(_ job: Job) -> Bool {
        state.withLock { $0.generations[job.lane] <= job.generation && !$0.isClosing }
    }

    func run() {
        let shortest: Int32 = 200
        var backOff = shortest
        while let jobs = nextBatch() {
            guard let lane = jobs.first?.lane else {
                wakeUp.wait(milliseconds: 10_000)
                continue
            }
            let pass = LedgerPass(jobs, owner: settings.group)
            do throws(KafkaFailure) {
                let group = settings.consumerGroup(lane: lane, named: lanes[lane])
                try pass.run(settings, group: group, isCurrent: isCurrent) { [mailbox] shard, event in
                    mailbox.post(.forward(shard: shard, event))
                }
                backOff = shortest
            } catch {
                mailbox.post(.forward(shard: 0, .trouble(error)))
                let unfinished = pass.unfinished
                state.withLock { $0.waiting.insert(contentsOf: unfinished, at: 0) }
                wakeUp.wait(milliseconds: backOff)
                backOff = min(backOff * 2, 5_000)
            }
        }
    }

    /// The waiting jobs of one lane, each results partition once; empty when there are none, `nil` at the end.
    private func nextBatch() -> [Job]? {
        state.withLock { state in
            if state.isClosing { return nil }
            guard let lane = state.waiting.first?.lane else { return [] }
            var taken: [TopicPartition: Job] = [:]
            state.waiting.removeAll { job in
                guard job.lane == lane, taken[job.results] == nil else { return false }
                taken[job.results] = job
                return true
            }
            return taken.values.sorted { $0.results < $1.results }
        }
    }
}
