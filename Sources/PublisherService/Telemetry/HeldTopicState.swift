import ControlIO
import KafkaModel
import NewsModel

/// Whether the held topic can be read.
struct HeldTopicState: Sendable {
    /// Since when it cannot, by the monotonic clock, and why; `nil` while it can, and for a topic that was never there.
    private var away: (since: Instant, failure: KafkaFailure)?
    private var isThere = false
    private var wasThere = false

    /// - Returns: `true` if it was not there before.
    mutating func appeared() -> Bool {
        defer { (isThere, wasThere, away) = (true, true, nil) }
        return !isThere
    }

    /// It is missing, or cannot be read. That it is missing from the start is somebody's choice, of which a warning tells then.
    ///
    /// - Returns: `true` if that is news.
    mutating func went(_ failure: KafkaFailure, at now: Instant) -> Bool {
        isThere = false
        guard wasThere || !Self.isMissing(failure) else { return false }
        defer { away = (away?.since ?? now, failure) }
        return away == nil
    }

    static func isMissing(_ failure: KafkaFailure) -> Bool { failure.code == "UNKNOWN_TOPIC_OR_PART" }

    /// Why held events do not come back for the moment.
    ///
    /// - Parameters:
    ///   - status: the last of the link.
    ///   - patience: what passes sooner is no reason.
    func notReady(
        _ status: HeldLink.Status?, topic: String, patience: Duration, at now: Instant
    ) -> [ServiceStatus.NotReady] {
        func lasts(_ since: Instant?) -> Bool { since.map { now - $0 > patience } ?? false }
        if let away, lasts(away.since) {
            let remedy = away.failure.remedyClause
            return [
                .init(
                    code: "held-topic-away",
                    detail: "held events do not come back: \(topic) cannot be read: \(away.failure.detail)",
                    remedy: "it is looked for every ten seconds" + (remedy.isEmpty ? "" : "; \(remedy)"))
            ]
        }
        guard let status else { return [] }
        var reasons: [ServiceStatus.NotReady] = []
        if lasts(status.behindSince) {
            let names = status.behind.prefix(8).map { String($0) }.joined(separator: ", ")
            let more = status.behind.count > 8 ? " and \(status.behind.count - 8) more" : ""
            reasons.append(
                .init(
                    code: "held-not-read",
                    detail: "held events wait: partitions \(names)\(more) of \(topic) have not been read to their end",
                    remedy: "a long topic takes some seconds; should it last, check that the partitions have leaders"))
        }
        if lasts(status.failingSince) {
            reasons.append(
                .init(
                    code: "held-not-returned",
                    detail: "held events do not come back: records cannot be written to their lanes or to \(topic)",
                    remedy: "look at the brokers; this user needs WRITE on the lanes' topics and on the held topic"))
        }
        return reasons
    }
}
