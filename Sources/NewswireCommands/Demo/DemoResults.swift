import ByteText
import NewsModel
import Synchronization

/// The summary that a demo ends with.
struct DemoSummary {
    let results: ResultTally.State
    /// Notifications accepted, by the hub's own count.
    let received: Int

    init(_ results: ResultTally.State, received: Int) {
        self.results = results
        self.received = received
    }

    func text(_ output: StandardOutput) -> String {
        var table = TextTable(
            [.init(title: "outcome"), .init(title: "events", isRightAligned: true)], hasColours: output.hasColours)
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

/// Counts results as they are decided, with the hub's times, and hands them to whoever shows them.
package final class ResultTally: Sendable {
    package struct State: Sendable {
        /// How many events there are to be a result of.
        var events = 0
        var outcomes: [Outcome: Int] = [:]
        var count = 0
        /// In nanoseconds, at most `timesMax`.
        package var hubTimes: [Int64] = []
        /// Still to be shown, in the order they were decided.
        var unshown: [ResultRecord] = []
        /// How many were ever handed out to be shown.
        var shown = 0
        /// `shown` grows to this at most.
        var shownMax = firstMax

        static let timesMax = 1_000_000
        /// Shown of a batch of events.
        static let firstMax = 30
        /// Waiting to be shown at any time.
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
            if state.shown + state.unshown.count < state.shownMax, state.unshown.count < State.unshownMax {
                state.unshown.append(result)
            }
            return state.count
        }
        changed.yield(count)
    }

    /// More events are on the topic.
    func expect(_ events: Int) { state.withLock { $0.events += events } }

    /// Shows the first results as they come. Returns once there are as many results as wanted, or when the task is
    /// cancelled. Only one caller at a time.
    func wait<Failure: Error>(
        for wanted: Int, show: (ResultRecord) throws(Failure) -> Void
    ) async throws(Failure) {
        for await count in changes {
            try showNew(show)
            if count >= wanted { return }
        }
    }

    /// Shows all later results as they come, until the task is cancelled. Only one caller at a time.
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
