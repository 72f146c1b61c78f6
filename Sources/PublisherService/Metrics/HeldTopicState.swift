import ControlIO
import EditorialControl
import KafkaModel
import NewsModel

struct HeldTopicState: Sendable {
    /// The start (monotonic) and the reason of an outage; `nil` if the topic can be read or never existed.
    private var away: (since: Instant, failure: KafkaFailure)?
    private var isThere = false
    private var wasThere = false

    /// - Returns: `true` if the topic was not available before.
    mutating func appeared() -> Bool {
        defer { (isThere, wasThere, away) = (true, true, nil) }
        return !isThere
    }

    /// Records an outage. A topic that is missing from the start is intentional, and the start has logged a warning.
    ///
    /// - Returns: `true` if the outage must be reported.
    mutating func went(_ failure: KafkaFailure, at now: Instant) -> Bool {
        isThere = false
        guard wasThere || !Self.isMissing(failure) else { return false }
        defer { away = (away?.since ?? now, failure) }
        return away == nil
    }

    static func isMissing(_ failure: KafkaFailure) -> Bool { failure.code == "UNKNOWN_TOPIC_OR_PART" }

    /// The reasons why held events are not returned to their lanes now.
    ///
    /// - Parameters:
    ///   - status: the latest status of the link.
    ///   - patience: the time that a problem must last to be a reason.
    func notReady(
        _ status: HeldLink.Status?, topic: String, patience: Duration, at now: Instant
    ) -> [ReadinessReason] {
        func lasts(_ since: Instant?) -> Bool { since.map { now - $0 > patience } ?? false }
        if let away, lasts(away.since) {
            let remedy = away.failure.remedyClause
            return [
                .init(
                    .heldTopicAway,
                    "held events do not come back: \(topic) cannot be read: \(away.failure.detail)",
                    remedy: "it is looked for every ten seconds" + (remedy.isEmpty ? "" : "; \(remedy)"))
            ]
        }
        guard let status else { return [] }
        var reasons: [ReadinessReason] = []
        if lasts(status.behindSince) {
            let names = status.behind.prefix(8).map { String($0) }.joined(separator: ", ")
            let more = status.behind.count > 8 ? " and \(status.behind.count - 8) more" : ""
            reasons.append(
                .init(
                    .heldNotRead,
                    "held events wait: partitions \(names)\(more) of \(topic) have not been read to their end",
                    remedy: "a long topic takes some seconds; should it last, check that the partitions have leaders"))
        }
        if lasts(status.failingSince) {
            reasons.append(
                .init(
                    .heldNotReturned,
                    "held events do not come back: records cannot be written to their lanes or to \(topic)",
                    remedy: "look at the brokers; this user needs WRITE on the lanes' topics and on the held topic"))
        }
        if let overdue = status.overdue {
            reasons.append(
                .init(
                    .heldNotReturned,
                    "\(overdue.count) held events are due, but no lane reads their topic, for example \(overdue.topic)",
                    remedy: "add a lane with this topic to the configuration"))
        }
        return reasons
    }
}
