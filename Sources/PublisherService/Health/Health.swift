import ByteText
import NewsModel
import PublishEngine

/// Distinguishes a pipeline that waits for a known reason from one that is stuck.
struct Health {
    /// The longest normal wait. Longer than any request, so that a slow hub is not mistaken for a stuck process.
    var normalWait: Duration

    /// The longest silence of a shard. Shards report ten times a second, so a longer one means a blocked event loop.
    static let silenceMax = Duration.seconds(30)

    /// - Parameters:
    ///   - errorAt: the time of Kafka's last reported error.
    ///   - waitingSince: the time since which a lane's readable records have waited on the topic.
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
            let buffered = report.status.lanes.reduce(0) { $0 + $1.buffered }
            guard buffered > 0 else { continue }
            let idle = (now - report.progressAt).components.seconds
            return "nothing has moved for \(idle) s, without a known reason; waiting: \(counted(buffered, "record"))"
        }
        // A single shard with progress or a known reason shows that records are read.
        if let waitingSince, now - waitingSince > normalWait, unexplained.count == reports.count {
            let idle = (now - waitingSince).components.seconds
            return "records have waited on the topics for \(idle) s and none is read, without a known reason"
        }
        return nil
    }

    private func hasReason(_ report: ShardReport, errorAt: Instant?, at now: Instant) -> Bool {
        if let errorAt, errorAt >= report.progressAt { return true }
        // A reply that takes longer than any request cannot be explained by another reason.
        if report.status.waits.contains(where: { $0.reason == .reply && now - $0.since > normalWait }) { return false }
        return report.status.waits.contains { wait in
            switch wait.reason {
            case .halt, .flood, .paused, .stopped, .control, .standstill, .hubFailing, .hubPause, .rate, .retry,
                .embargo, .schema, .time, .ledger,
                .partitionCounts, .unequalTopics, .commit, .shutdown:
                true
            // Waiting records belong to topics that exist.
            case .missingTopic: false
            // Without an answer or an error for this long, these reasons do not explain the wait.
            case .concurrency, .reply, .deadLetters, .heldTopic, .results, .revoke, .newIncarnation:
                now - wait.since <= normalWait
            }
        }
    }
}
