import NewsModel
import PublishEngine

/// Tells a pipeline that waits for a reason from one that is stuck.
struct Health {
    /// Longer than any request may take, so that a slow hub does not look like a stuck process.
    var patience: Duration

    /// A shard that has not reported for so long has a blocked event loop: it reports ten times a second.
    static let silenceMax = Duration.seconds(30)

    /// - Parameters:
    ///   - troubleAt: when Kafka last told of an error.
    ///   - waitingSince: since when records of a lane wait on the topic although it could read them.
    func stuck(
        _ reports: [(shard: Int, report: ShardReport)], troubleAt: Instant?, waitingSince: Instant?, at now: Instant
    ) -> String? {
        for (shard, report) in reports where now - report.at > Self.silenceMax {
            return "event loop \(shard) has been blocked for \((now - report.at).components.seconds) s"
        }
        let unexplained = reports.map(\.report).filter { report in
            now - report.progressAt > patience && !Self.hasReason(report, troubleAt: troubleAt)
        }
        for report in unexplained {
            let held = report.vitals.lanes.reduce(0) { $0 + $1.held }
            guard held > 0 else { continue }
            let idle = (now - report.progressAt).components.seconds
            return "\(held) records wait and nothing has moved for \(idle) s, without a known reason"
        }
        // One busy shard shows that records are read.
        if let waitingSince, now - waitingSince > patience, unexplained.count == reports.count {
            let idle = (now - waitingSince).components.seconds
            return "records have waited on the topics for \(idle) s and none is read, without a known reason"
        }
        return nil
    }

    private static func hasReason(_ report: ShardReport, troubleAt: Instant?) -> Bool {
        let vitals = report.vitals
        if vitals.halt != nil { return true }
        if let troubleAt, troubleAt >= report.progressAt { return true }
        switch report.limiter {
        case .halt, .hubPause, .rate, .pause: return true
        case .nothing, .concurrency, .broker: break
        }
        let waitsForTimes =
            vitals.inFlight == 0 && vitals.lanes.allSatisfy { $0.ready == 0 || $0.isPaused }
            && vitals.lanes.contains { $0.parked > 0 }
        return waitsForTimes || vitals.lanes.allSatisfy(\.isPaused)
    }
}
