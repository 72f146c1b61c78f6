import NewsModel
import Synchronization

/// Results as they are decided: how many of each outcome, how long the hub took, and the first ones whole.
final class ResultTally: Sendable {
    struct State: Sendable {
        var outcomes: [Outcome: Int] = [:]
        var count = 0
        /// The hub's times in nanoseconds: all of the first `timesMax`.
        var hubTimes: [Int64] = []
        /// The first `shownMax`, in the order they were decided.
        var first: [ResultRecord] = []

        static let timesMax = 1_000_000
        static let shownMax = 30

        /// The time that this share of the replies stayed within; nearest rank.
        func hubTime(percent: Int) -> Duration? {
            guard !hubTimes.isEmpty else { return nil }
            let sorted = hubTimes.sorted()
            let rank = (sorted.count * percent + 99) / 100
            return .nanoseconds(sorted[min(max(rank, 1), sorted.count) - 1])
        }
    }

    private let state = Mutex(State())
    private let changes: AsyncStream<Int>
    private let changed: AsyncStream<Int>.Continuation

    init() {
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        // Nothing to wait for is something to look at, too.
        changed.yield(0)
    }

    var snapshot: State { state.withLock { $0 } }

    func add(_ result: ResultRecord) {
        let count = state.withLock { state in
            state.outcomes[result.outcome, default: 0] += 1
            state.count += 1
            if let time = result.latency.hub, state.hubTimes.count < State.timesMax {
                state.hubTimes.append(time.nanoseconds)
            }
            if state.first.count < State.shownMax { state.first.append(result) }
            return state.count
        }
        changed.yield(count)
    }

    /// Hands over the first results as they come, and returns once there are as many results as wanted, or when its
    /// task is cancelled. One caller at a time.
    func wait(for wanted: Int, show: (ResultRecord) -> Void) async {
        var shown = 0
        for await count in changes {
            for result in snapshot.first.dropFirst(shown) {
                shown += 1
                show(result)
            }
            if count >= wanted { return }
        }
    }
}
