/// The outcome of a delivery. Each delivery has exactly one final outcome.
public enum Outcome: String, CaseIterable, Codable, Sendable, Hashable {
    case accepted, rejected, exhausted, unknown, expired, undecodable, unroutable, duplicate, superseded, withheld,
        canceled, held

    /// The kind of an outcome. Colours and sums depend on it.
    public enum Kind: String, Sendable {
        /// The hub took the notification.
        case sent
        /// The delivery failed. Its original record is also on the dead-letter topic.
        case failed
        /// The delivery was intentionally not sent.
        case unsent
        /// The delivery waits, and another outcome follows.
        case waiting
    }

    /// The kind, and one sentence that explains the outcome. Tables, pages, help texts and metrics show it; the tests compare it with
    /// the README and the schema.
    public var facts: (kind: Kind, meaning: String) {
        switch self {
        case .accepted: (.sent, "the hub took the notification, which does not prove that a phone has shown it")
        case .rejected: (.failed, "the hub refused this notification because of its content")
        case .exhausted: (.failed, "all attempts failed, and the hub certainly did not take it")
        case .unknown: (.failed, "the hub may have taken it; it is not sent again")
        case .expired: (.unsent, "it was too old for its lane (`maxAge`), or past its own `expiresAt`")
        case .undecodable: (.failed, "the record is not a news event")
        case .unroutable: (.failed, "the event has no known category")
        case .duplicate: (.unsent, "the same id and version was sent before, not long ago, on the same partition")
        case .superseded:
            (.unsent, "a newer version of the story, or without versions a later event of it, was waiting or has left")
        case .withheld:
            (
                .unsent,
                "the event must not be published: because of its status, another environment, a missing test tag, or quiet hours"
            )
        case .canceled: (.unsent, "it was recalled before it was sent")
        case .held:
            (
                .waiting,
                "it waits on the held topic; the final outcome follows, unless a newer version takes its place there"
            )
        }
    }

    /// True if the original record also goes to the dead-letter topic.
    public var isDeadLettered: Bool { facts.kind == .failed }

    /// True if readers may have got the notification.
    public var mayHaveLeft: Bool { self == .accepted || self == .unknown }
}
