/// The final outcome of a delivery; each has exactly one.
public enum Outcome: String, CaseIterable, Codable, Sendable, Hashable {
    /// The hub accepted it, which does not mean that a phone has shown it.
    case accepted
    /// The hub refused it because of its content.
    case rejected
    /// All retries are used up; it was certainly not accepted.
    case exhausted
    /// It may have been accepted; the settings forbid another try.
    case unknown
    /// It passed its expiry or its lane's maximum age before it could be sent.
    case expired
    /// The record's bytes are not a news event.
    case undecodable
    /// It has no category, hence no tag, and an untagged send would reach every device.
    case unroutable
    /// The same id and version was already sent.
    case duplicate
    /// A newer version of the story was already waiting.
    case superseded
    /// The event says it must not be published.
    case withheld
    /// It was recalled before it was sent.
    case canceled
    /// It is not due and waits on the held topic. The outcome after its return is the final one.
    case held

    /// True when the original record also goes to the dead-letter topic.
    public var isDeadLettered: Bool {
        switch self {
        case .rejected, .exhausted, .unknown, .undecodable, .unroutable: true
        case .accepted, .expired, .duplicate, .superseded, .withheld, .canceled, .held: false
        }
    }
}

extension Outcome {
    /// True when readers may have got it.
    public var mayHaveLeft: Bool { self == .accepted || self == .unknown }
}

/// The target of a delivery. The raw value is the hub's `ServiceBusNotification-Format`.
public enum Platform: String, CaseIterable, Codable, Sendable, Hashable {
    /// One payload that the hub expands through each device's own template.
    case template
    case apple, fcmv1, gcm, windows, windowsphone, adm, baidu, browser, xiaomi
}
