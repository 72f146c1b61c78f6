package import Feeds
package import Foundation
import NewsModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The next poll of each feed and its reason, as reported over HTTP by a process that follows feeds. The state topic does not
/// keep them, because every poll would then be a write.
package struct LiveFeeds: Sendable {
    private let feeds: [String: Feed]

    private struct Answer: Decodable {
        var feeds: [Feed]
    }

    private struct Feed: Decodable {
        var name: String
        var lastPoll: String?
        var lastSuccess: String?
        var nextPoll: String?
        var because: String?
    }

    /// - Parameter address: host and port of `ingest.listen`.
    /// - Returns: `nil` if no process that follows feeds answers there within two seconds.
    package static func ask(_ address: String) async -> LiveFeeds? {
        guard let url = URL(string: "http://\(address)/api/status") else { return nil }
        let request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 2)
        return await withCheckedContinuation { continuation in
            let task = URLSession.shared.dataTask(with: request) { data, _, _ in
                continuation.resume(returning: data.flatMap { LiveFeeds(json: $0) })
            }
            task.resume()
        }
    }

    package init?(json: Data) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: json) else { return nil }
        feeds = Dictionary(answer.feeds.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Completes a status from the state topic with what this report knows.
    package func complete(_ status: inout FeedStatus) {
        guard let feed = feeds[status.name] else { return }
        status.lastPollAt = feed.lastPoll.flatMap { Instant(rfc3339: $0) } ?? status.lastPollAt
        // The topic records a success without new entries only now and then.
        status.lastSuccessAt = feed.lastSuccess.flatMap { Instant(rfc3339: $0) } ?? status.lastSuccessAt
        status.nextPollAt = feed.nextPoll.flatMap { Instant(rfc3339: $0) }
        status.because = feed.because
    }
}
