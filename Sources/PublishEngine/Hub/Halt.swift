public import NewsModel

/// Sending has stopped for a reason that is nobody's single event.
public struct Halt: Sendable, Hashable {
    public var reason: Reason
    /// What the hub or the network said.
    public var detail: String
    public var since: Instant
    /// The next probe leaves no earlier.
    public var probeAt: Instant
    /// What the probe after that waits.
    var pause: Duration

    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// 401 with a fresh token: the key is wrong.
        case keyRefused = "key-refused"
        /// 403 without Retry-After: the rule has no Send right, or the tier lacks the feature.
        case rightMissing = "right-missing"
        /// 404: no such hub.
        case hubMissing = "hub-missing"
        /// The hub's certificate is not to be trusted.
        case certificate
        /// The hub cannot be reached, or is too busy for anyone.
        case outage
        /// Most recent events failed for their own fault.
        case flood

        /// What a person should do.
        public var remedy: String {
            switch self {
            case .keyRefused: "check hub.connectionString: the key or its name is wrong, or was regenerated"
            case .rightMissing:
                "give the rule in hub.connectionString the Send right, and check the hub's tier and quota"
            case .hubMissing: "check hub.name and the namespace in hub.connectionString"
            case .certificate: "check the hub's certificate, this machine's clock and hub.trustRoots"
            case .outage: "the hub is down or unreachable; sending resumes by itself when a probe passes"
            case .flood: "look at the dead letters: an upstream change probably broke the events"
            }
        }
    }

    init(reason: Reason, detail: String, at now: Instant, probeAfter pause: Duration) {
        self.reason = reason
        self.detail = detail
        since = now
        probeAt = now + pause
        self.pause = pause
    }

    /// A probe failed: the next waits twice as long, up to `longest`.
    mutating func probeFailed(at now: Instant, longest: Duration) {
        pause = min(pause * 2, longest)
        probeAt = now + pause
    }
}
