import FeedIO
import Feeds
import Foundation
import NewsModel
import NewswireSettings
import PublisherService

extension FeedWatch {
    private static let rowsMax = 200

    /// The report on the feeds of the settings, for the page of a process that follows no feeds.
    func report(_ feeds: [FeedRules]) -> [UInt8] {
        let now = Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))
        var report = IngestReport(at: now, startedAt: now, feeds: [], notReady: [])
        if let known = look() {
            report.feeds = feeds.map {
                FeedStatus($0, known.states[$0.name], isStopped: known.stopped.contains($0.name), at: now)
            }
        } else {
            report.notReady = [
                .init(
                    code: "reading", detail: "what is known of the feeds is being read from Kafka",
                    remedy: "wait a moment; if it stays so, look for errors of Kafka in the log")
            ]
        }
        return report.json(version: ServiceVersion.text, limit: Self.rowsMax)
    }
}
