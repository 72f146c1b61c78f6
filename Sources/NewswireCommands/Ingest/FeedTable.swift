package import Feeds
package import Foundation
package import NewsModel

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The table of feeds and their states that `newswire ingest --status` shows.
package enum FeedTable {
    private static let columns: [TextTable.Column] = [
        .left("FEED", max: 32), .left("STATE", max: 20), "LAST SUCCESS", "LAST NEW", .left("WEBSUB", max: 12),
        .left("NEXT POLL AND WHY", max: 160),
    ]

    /// - Parameter statuses: in any order; the newest problem comes first.
    package static func text(_ statuses: [FeedStatus], at now: Instant, hasColours: Bool) -> String {
        var table = TextTable(columns, hasColours: hasColours)
        for status in FeedStatus.sorted(statuses) {
            table.add([
                .init(status.name), .init(state(status, at: now), colour: status.isProblem ? .red : nil),
                .init(past(status.lastSuccessAt, at: now)), .init(past(status.lastNewAt, at: now)),
                .init(status.push.phase == .none ? "" : status.push.isProven ? "proven" : status.push.phase.rawValue),
                .init(next(status, at: now)),
            ])
            for remark in remarks(status) { table.add(["", "", "", "", "", .init(remark)]) }
        }
        return table.text
    }

    private static func state(_ status: FeedStatus, at now: Instant) -> String {
        switch status.state {
        case .failing(let since?, _), .blocked(let since?, _):
            "\(status.state.code) for \(words(now - since))"
        case .capped(let since, _): "capped \(past(since, at: now))"
        case .waiting(let until): "waiting, \(words(until - now))"
        default: status.state.code
        }
    }

    private static func next(_ status: FeedStatus, at now: Instant) -> String {
        switch (status.nextPollAt, status.state) {
        case (_, .gone), (_, .stopped): return "never"
        case (nil, _): return status.because ?? ""
        case (let next?, _):
            let time = next > now ? "in \(words(next - now))" : "now"
            return status.because.map { "\(time): \($0)" } ?? time
        }
    }

    private static func remarks(_ status: FeedStatus) -> [String] {
        let quiet =
            status.isQuiet ? status.usualGap.map { "strangely quiet: usually something new every \(words($0))" } : nil
        let heldBack = status.heldBack.flatMap { $0 > 0 ? "\($0) held back by limits, sent later" : nil }
        return [status.state.detail, heldBack, quiet, status.movedTo.map { "moved for good: set url to \($0)" }]
            .compactMap(\.self)
    }

    private static func past(_ instant: Instant?, at now: Instant) -> String {
        instant.map { "\(words(max(now - $0, .zero))) ago" } ?? "never"
    }

    /// A duration such as `45 s`, `20 min`, `3 h` or `4 d`.
    private static func words(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7_200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) d"
        }
    }
}

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
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        // On Linux, a timeout that the initializer gets has no effect.
        request.timeoutInterval = 2
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

    /// True if the process follows the feed now.
    package func follows(_ name: String) -> Bool { feeds[name] != nil }

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
