import ByteText
import FeedIO
package import Feeds

/// The problems of a round in which each feed was polled once.
package struct PollRound {
    /// One line for each problem, for standard error.
    package private(set) var lines: [String] = []
    /// True if a feed failed or was not polled, or if Kafka refused an event.
    package private(set) var hasFailed = false

    /// - Parameter statuses: the feeds after the polls.
    package init(_ statuses: [FeedStatus]) {
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

    private mutating func add(_ line: String, isFailure: Bool) {
        lines.append("\(isFailure ? "error" : "warning"): \(line)")
        hasFailed = hasFailed || isFailure
    }
}
