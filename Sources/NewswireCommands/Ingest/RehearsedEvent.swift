import ByteText
import Feeds
import NewsModel

/// Formats events that would be written, and the summary of a round of polls.
enum RehearsedEvent {
    static func text(_ lane: String, _ event: FeedEvent) -> String {
        "would write to \(lane): \(String(decoding: event.value, as: UTF8.self))"
    }

    /// A JSON object with the event as its record would carry it.
    static func json(_ lane: String, _ event: FeedEvent) -> String {
        let head = JSONWriter.object { json in
            json.field("lane", lane)
            json.field("feed", event.feed)
            json.field("key", event.key)
        }
        return String(decoding: head.dropLast(), as: UTF8.self) + ",\"event\":"
            + String(decoding: event.value, as: UTF8.self) + "}"
    }

    static func summary(_ statuses: [FeedStatus]) -> String {
        func sum(_ action: Decision.Action) -> Int { statuses.reduce(0) { $0 + ($1.counts?[action] ?? 0) } }
        let actions: [Decision.Action] = [.alert, .update, .canceled, .withheld, .noise, .stale, .backlog, .unreadable]
        let found = actions.map { ($0, sum($0)) }.filter { $0.1 > 0 }.map { "\($0.1) \($0.0.rawValue)" }
        let failed = statuses.count(where: \.isProblem)
        return "polled \(counted(statuses.count, "feed")): "
            + (found.isEmpty ? "nothing new" : found.joined(separator: ", "))
            + (failed > 0 ? "; \(failed) failed" : "")
    }
}
