/// How a delivery ended. Final: a delivery has exactly one.
public enum Outcome: String, CaseIterable, Codable, Sendable, Hashable {
    /// The hub took it (which is not yet a phone that shows it).
    case accepted
    /// The hub refused this one for its own fault.
    case rejected
    /// Retries are used up; it was certainly not accepted.
    case exhausted
    /// It may have been accepted; policy forbids another try.
    case unknown
    /// Past its expiry or its lane's maximum age before it could leave.
    case expired
    /// The record's bytes are no news event.
    case undecodable
    /// No category, hence no tag: an untagged send would reach everyone.
    case unroutable
    /// The same id and version was already sent.
    case duplicate
    /// A newer version of the story was already waiting.
    case superseded
    /// The event says it must not be published.
    case withheld
    /// Recalled before it left.
    case canceled

    /// Whether the original record also goes to the dead-letter topic.
    public var isDeadLettered: Bool {
        switch self {
        case .rejected, .exhausted, .unknown, .undecodable, .unroutable: true
        case .accepted, .expired, .duplicate, .superseded, .withheld, .canceled: false
        }
    }
}

/// What a delivery is made for. The raw value is the hub's `ServiceBusNotification-Format`.
public enum Platform: String, CaseIterable, Codable, Sendable, Hashable {
    /// One payload that the hub expands through each device's own template.
    case template
    case apple, fcmv1, gcm, windows, windowsphone, adm, baidu, browser, xiaomi
}
