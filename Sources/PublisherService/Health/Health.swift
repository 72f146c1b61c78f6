import ByteText
import KafkaModel
import NewsModel
import PublishEngine

/// Distinguishes a pipeline that waits for a reason from one that is stuck.
struct Health {
    /// Longer than any request may take, so that a slow hub does not look like a stuck process.
    var normalWait: Duration

    /// A shard reports ten times a second; one that has not for this long has a blocked event loop.
    static let silenceMax = Duration.seconds(30)

    /// - Parameters:
    ///   - errorAt: when Kafka last reported an error.
    ///   - waitingSince: since when records of a lane have waited on the topic although it could read them.
    func stuck(
        _ reports: [(shard: Int, report: ShardReport)], errorAt: Instant?, waitingSince: Instant?, at now: Instant
    ) -> String? {
        for (shard, report) in reports where now - report.at > Self.silenceMax {
            return "event loop \(shard) has been blocked for \((now - report.at).components.seconds) s"
        }
        let unexplained = reports.map(\.report).filter { report in
            now - report.progressAt > normalWait && !hasReason(report, errorAt: errorAt, at: now)
        }
        for report in unexplained {
            let held = report.status.lanes.reduce(0) { $0 + $1.held }
            guard held > 0 else { continue }
            let idle = (now - report.progressAt).components.seconds
            return "nothing has moved for \(idle) s, without a known reason; waiting: \(counted(held, "record"))"
        }
        // One busy shard shows that records are read.
        if let waitingSince, now - waitingSince > normalWait, unexplained.count == reports.count {
            let idle = (now - waitingSince).components.seconds
            return "records have waited on the topics for \(idle) s and none is read, without a known reason"
        }
        return nil
    }

    private func hasReason(_ report: ShardReport, errorAt: Instant?, at now: Instant) -> Bool {
        if let errorAt, errorAt >= report.progressAt { return true }
        // Longer than any request may take: no other reason explains that.
        if report.status.waits.contains(where: { $0.reason == .reply && now - $0.since > normalWait }) { return false }
        return report.status.waits.contains { wait in
            switch wait.reason {
            case .halt, .flood, .paused, .stopped, .control, .standstill, .hubFailing, .hubPause, .rate, .retry,
                .embargo, .ledger,
                .partitionCounts, .unequalTopics, .commit, .shutdown:
                true
            // What waits is in a topic that is there.
            case .missingTopic: false
            // Without an answer or an error for this long, these do not explain the wait.
            case .concurrency, .reply, .deadLetters, .heldTopic, .results, .revoke, .newIncarnation:
                now - wait.since <= normalWait
            }
        }
    }
}
