import ByteText
import FeedIO
package import Feeds

/// A round in which each feed was polled once: what came of it, and its problems.
package struct PollRound {
    /// One line for each problem, for standard error.
    package private(set) var lines: [String] = []
    /// True if a feed failed or was not polled, or if Kafka refused an event.
    package private(set) var hasFailed = false

    /// One line without those feeds that are not polled now, such as one whose publisher has asked for a pause.
    package let summary: String

    /// - Parameter statuses: the feeds after the polls.
    package init(_ statuses: [FeedStatus]) {
        summary = Self.summary(statuses)
        for status in statuses {
            if status.isProblem {
                add("feed \(status.name): \(status.state.detail ?? status.state.code)", isFailure: status.hasFailed)
            }
            if let refused = status.counts?.refused, refused > 0 {
                add("feed \(status.name): Kafka refused \(counted(refused, "event"))", isFailure: true)
            }
        }
        let unpolled = statuses.count { !$0.hasFailed && !$0.wasPolled }
        if unpolled > 0 { add("\(counted(unpolled, "feed")) not polled", isFailure: true) }
    }

    private static func summary(_ statuses: [FeedStatus]) -> String {
        func sum(_ action: Decision.Action) -> Int { statuses.reduce(0) { $0 + ($1.counts?[action] ?? 0) } }
        let actions: [Decision.Action] = [.alert, .update, .canceled, .withheld, .noise, .stale, .backlog, .unreadable]
        let found = actions.map { ($0, sum($0)) }.filter { $0.1 > 0 }.map { "\($0.1) \($0.0.rawValue)" }
        let polled = statuses.count { $0.lastPollAt != nil }
        let failed = statuses.count(where: \.hasFailed)
        return "polled \(counted(polled, "feed")): "
            + (found.isEmpty ? "nothing new" : found.joined(separator: ", "))
            + (failed > 0 ? "; \(failed) failed" : "")
            + (polled < statuses.count ? "; \(statuses.count - polled) not polled now" : "")
    }

    private mutating func add(_ line: String, isFailure: Bool) {
        lines.append("\(isFailure ? "error" : "warning"): \(line)")
        hasFailed = hasFailed || isFailure
    }
}
