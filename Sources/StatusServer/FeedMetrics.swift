import Feeds
import NewsModel

/// All metrics of a process that follows feeds. The number of series is the number of feeds times a constant, because
/// only the configuration names feeds.
enum FeedMetrics {
    static func text(_ report: IngestReport, _ process: ProcessFigures) -> [UInt8] {
        var text = MetricsText()
        let feeds = report.feeds.sorted { $0.name < $1.name }
        states(feeds, &text)
        times(feeds, &text)
        counts(feeds, &text)
        pushes(feeds, &text)
        text.family("newswire_ready", .gauge, "1 when feeds can be followed.", report.notReady.isEmpty ? 1 : 0)
        text.program(startedAt: report.startedAt)
        process.write(into: &text)
        return text.bytes
    }

    private static func states(_ feeds: [FeedStatus], _ text: inout MetricsText) {
        text.family("newswire_feed_state", .gauge, "1 for the state that the feed is in.") { text in
            for feed in feeds {
                for code in FeedStatus.State.codes {
                    text.sample(feed.state.code == code ? 1 : 0, ("feed", feed.name), ("state", code))
                }
            }
        }
        text.gauge("newswire_feed_problem", "1 while somebody should look at the feed.", feeds) { $0.isProblem ? 1 : 0 }
        text.gauge(
            "newswire_feed_quiet",
            "1 while nothing new has come for three times as long as is usual, and for an hour at least.", feeds
        ) { $0.isQuiet ? 1 : 0 }
        text.gauge("newswire_feed_held_back", "Events that limits of the feed hold back until later.", feeds) {
            $0.heldBack ?? 0
        }
        text.gauge("newswire_feed_usual_gap_seconds", "The median time between entries.", feeds) {
            $0.usualGap?.components.seconds
        }
    }

    private static func times(_ feeds: [FeedStatus], _ text: inout MetricsText) {
        let families: [(String, String, KeyPath<FeedStatus, Instant?>)] = [
            ("newswire_feed_last_poll_timestamp_seconds", "When the last poll ended.", \.lastPollAt),
            ("newswire_feed_last_success_timestamp_seconds", "When the publisher last gave the feed.", \.lastSuccessAt),
            ("newswire_feed_last_new_timestamp_seconds", "When something new came last.", \.lastNewAt),
            ("newswire_feed_next_poll_timestamp_seconds", "When the next poll is due.", \.nextPollAt),
        ]
        for (name, help, path) in families {
            text.gauge(name, help, feeds) { feed in feed[keyPath: path].map { Double($0.milliseconds) / 1000 } }
        }
    }

    private static func counts(_ feeds: [FeedStatus], _ text: inout MetricsText) {
        let families: [(String, String, KeyPath<FeedCounts, Int>)] = [
            ("newswire_feed_polls_total", "Polls that have ended.", \.polls),
            ("newswire_feed_unchanged_polls_total", "Polls answered with 304 or the known document.", \.unchanged),
            ("newswire_feed_failed_polls_total", "Polls that brought no document.", \.failures),
            (
                "newswire_feed_rekeyed_entries_total",
                "Known entries that came back under new ids, and were not sent again for it.", \.rekeyed
            ),
            (
                "newswire_feed_unreadable_dates_total", "Dates that stand in documents but cannot be read.",
                \.unreadableDates
            ),
            ("newswire_feed_pushes_total", "Deliveries of a WebSub hub that were read.", \.pushes),
            ("newswire_feed_forged_pushes_total", "Deliveries that no hub had signed.", \.forgedPushes),
        ]
        for (name, help, path) in families {
            text.family(name, .counter, help, of: feeds, { [("feed", $0.name)] }, { $0.counts?[keyPath: path] ?? 0 })
        }
        text.family(
            "newswire_feed_bytes_total", .counter, "Bytes of documents, after decompression.", of: feeds,
            { [("feed", $0.name)] }, { $0.counts?.bytes ?? 0 })
        text.family(
            "newswire_feed_entries_total", .counter, "Entries read, by what was decided; each document counts its own."
        ) { text in
            for feed in feeds {
                for action in Decision.Action.allCases {
                    text.sample(feed.counts?[action] ?? 0, ("feed", feed.name), ("decision", action.rawValue))
                }
            }
        }
    }

    private static func pushes(_ feeds: [FeedStatus], _ text: inout MetricsText) {
        text.family("newswire_feed_websub_state", .gauge, "1 for the state of the feed's WebSub subscription.") {
            text in
            for feed in feeds {
                for phase in PushStatus.Phase.allCases {
                    text.sample(feed.push.phase == phase ? 1 : 0, ("feed", feed.name), ("state", phase.rawValue))
                }
            }
        }
        text.gauge("newswire_feed_websub_proven", "1 while pushes stand in for most polls.", feeds) {
            $0.push.isProven ? 1 : 0
        }
    }
}

extension MetricsText {
    /// Writes a gauge with one sample for each feed that has a value.
    fileprivate mutating func gauge(
        _ name: String, _ help: String, _ feeds: [FeedStatus], _ value: (FeedStatus) -> (some MetricValue)?
    ) {
        family(name, .gauge, help, of: feeds, { [("feed", $0.name)] }, value)
    }
}
