import ByteText
import NewsModel
import Synchronization

/// The summary that a demo ends with.
struct DemoSummary {
    let results: ResultTally.State
    let events: Int
    /// Notifications accepted, by the hub's own count.
    let received: Int

    init(_ results: ResultTally.State, events: Int, received: Int) {
        self.results = results
        self.events = events
        self.received = received
    }

    func text(_ output: StandardOutput) -> String {
        var table = TextTable(
            [.init(title: "outcome"), .init(title: "events", isRightAligned: true)], hasColours: output.hasColours)
        for outcome in Outcome.allCases {
            guard let count = results.outcomes[outcome] else { continue }
            table.add([.init(outcome.rawValue, colour: outcome.colour), .init(grouped(count))])
        }
        let open = events - results.count
        if open > 0 { table.add([.init("not settled", colour: .yellow), .init(grouped(open))]) }
        var text =
            results.count > ResultTally.State.shownMax
            ? "… and \(grouped(results.count - ResultTally.State.shownMax)) more\n" : ""
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

/// Counts results as they are decided, with the hub's times, and keeps the first ones.
package final class ResultTally: Sendable {
    package struct State: Sendable {
        var outcomes: [Outcome: Int] = [:]
        var count = 0
        /// In nanoseconds, at most `timesMax`.
        package var hubTimes: [Int64] = []
        /// At most `shownMax`, in the order they were decided.
        var first: [ResultRecord] = []

        static let timesMax = 1_000_000
        static let shownMax = 30

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
        // A wait for no results at all must end too.
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

    /// Shows the first results as they come. Returns once there are as many results as wanted, or when the task is
    /// cancelled. Only one caller at a time.
    func wait<Failure: Error>(
        for wanted: Int, show: (ResultRecord) throws(Failure) -> Void
    ) async throws(Failure) {
        var shown = 0
        for await count in changes {
            for result in snapshot.first.dropFirst(shown) {
                shown += 1
                try show(result)
            }
            if count >= wanted { return }
        }
    }
}
