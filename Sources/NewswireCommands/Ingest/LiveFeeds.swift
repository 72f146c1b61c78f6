package import Feeds
package import Foundation
import NewsModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a process that follows feeds says of them over HTTP: when each is polled next, and why. The state topic does not
/// keep that, or every poll would be a write.
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
    /// - Returns: `nil` if nothing answers there within two seconds that follows feeds.
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

    /// Adds what is known here to what the topic says.
    package func complete(_ status: inout FeedStatus) {
        guard let feed = feeds[status.name] else { return }
        status.lastPollAt = feed.lastPoll.flatMap { Instant(rfc3339: $0) } ?? status.lastPollAt
        // The topic learns of a success that brought nothing only now and then.
        status.lastSuccessAt = feed.lastSuccess.flatMap { Instant(rfc3339: $0) } ?? status.lastSuccessAt
        status.nextPollAt = feed.nextPoll.flatMap { Instant(rfc3339: $0) }
        status.because = feed.because
    }
}
