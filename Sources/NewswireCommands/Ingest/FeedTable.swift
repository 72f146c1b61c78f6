package import Feeds
package import NewsModel

/// The table of feeds and their states that `newswire ingest --status` shows.
package enum FeedTable {
    private static let columns = [
        TextTable.Column(title: "FEED", widthMax: 32), TextTable.Column(title: "STATE", widthMax: 20),
        TextTable.Column(title: "LAST SUCCESS"), TextTable.Column(title: "LAST NEW"),
        TextTable.Column(title: "WEBSUB", widthMax: 12), TextTable.Column(title: "NEXT POLL AND WHY", widthMax: 160),
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
        case (nil, _): return ""
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
            .compactMap(
                \.self)
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
