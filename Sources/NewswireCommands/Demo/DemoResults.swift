import ByteText
import NewsModel
import Synchronization

struct DemoSummary {
    let results: ResultTally.State
    /// The number of notifications that the hub counted as accepted.
    let received: Int

    init(_ results: ResultTally.State, received: Int) { (self.results, self.received) = (results, received) }

    func text(_ output: StandardOutput) -> String {
        var table = TextTable(["outcome", .right("events")], hasColours: output.hasColours)
        for outcome in Outcome.allCases {
            guard let count = results.outcomes[outcome] else { continue }
            table.add([.init(outcome.rawValue, colour: outcome.colour), .init(grouped(count))])
        }
        let open = results.events - results.count
        if open > 0 { table.add([.init("not settled", colour: .yellow), .init(grouped(open))]) }
        var text = results.count > results.shown ? "… and \(grouped(results.count - results.shown)) more\n" : ""
        text += "\n" + table.text
        text += "\n\(counted(received, "notification")) at the hub"
        if let median = results.hubTime(percent: 50), let slow = results.hubTime(percent: 99) {
            text +=
                "; its reply took \(Self.milliseconds(median)) ms (median), \(Self.milliseconds(slow)) ms (99th percentile)"
        }
        return text + "\n"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        decimal(tenths: duration.nanoseconds / 100_000)
    }
}

/// Counts results as they are decided, together with the hub's times, and buffers them for display.
package final class ResultTally: Sendable {
    package struct State: Sendable {
        /// The number of events that are expected to have a result.
        var events = 0
        var outcomes: [Outcome: Int] = [:]
        var count = 0
        /// The hub's times in nanoseconds, at most `timesMax` of them.
        package var hubTimes: [Int64] = []
        /// Results still to be shown, in the order in which they were decided.
        var unshown: [ResultRecord] = []
        /// The number of results ever handed out to be shown.
        var shown = 0
        /// The upper bound of `shown`.
        var shownMax = firstMax

        static let timesMax = 1_000_000
        /// Maximum number of results shown of a batch of events.
        static let firstMax = 30
        /// Maximum number of results in `unshown`.
        static let unshownMax = 1_000

        package init() {}

        /// A percentile of the hub's times, by nearest rank.
        package func hubTime(percent: Int) -> Duration? {
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
        // Lets `wait` return even if it waits for zero results.
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
            if state.shown + state.unshown.count < state.shownMax, state.unshown.count < State.unshownMax {
                state.unshown.append(result)
            }
            return state.count
        }
        changed.yield(count)
    }

    /// Adds to the number of events on the topic.
    func expect(_ events: Int) { state.withLock { $0.events += events } }

    /// Shows the first results as they arrive. Returns once there are `wanted` results, or if the task is cancelled. Only one
    /// caller at a time.
    func wait<Failure: Error>(
        for wanted: Int, show: (ResultRecord) throws(Failure) -> Void
    ) async throws(Failure) {
        for await count in changes {
            try showNew(show)
            if count >= wanted { return }
        }
    }

    /// Shows all later results as they arrive, until the task is cancelled. Only one caller at a time.
    func follow<Failure: Error>(show: (ResultRecord) throws(Failure) -> Void) async throws(Failure) {
        state.withLock { $0.shownMax = .max }
        for await _ in changes { try showNew(show) }
    }

    private func showNew<Failure: Error>(_ show: (ResultRecord) throws(Failure) -> Void) throws(Failure) {
        let results = state.withLock { state in
            defer { state.unshown = [] }
            state.shown += state.unshown.count
            return state.unshown
        }
        for result in results { try show(result) }
    }
}
