import KafkaModel
public import NewsModel
import NotificationHub

/// A state in which sending has stopped for a reason that concerns more than one event. One request at a time, the
/// probe, finds out when it is over.
public struct Halt: Sendable, Hashable {
    public var reason: Reason
    /// The words of the hub or the network.
    public var detail: String
    /// The stopped lane; `nil` for all lanes.
    public let lane: String?
    public var since: Instant
    /// The earliest time of the next probe.
    public var probeAt: Instant
    /// The delay before the probe after that.
    private var pause: Duration
    private(set) var probe: RequestID?

    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// 401 with a fresh token: the key is wrong.
        case keyRefused = "key-refused"
        /// 403 without Retry-After: the rule has no Send right, or the tier lacks the feature.
        case rightMissing = "right-missing"
        /// 404: no such hub.
        case hubMissing = "hub-missing"
        /// The hub's certificate cannot be trusted.
        case certificate
        /// The hub cannot be reached, or is overloaded.
        case outage
        /// Most recent events failed for their own fault.
        case flood

        /// The step for a person to take.
        public var remedy: String {
            switch self {
            case .keyRefused: "check hub.connectionString: the key or its name is wrong, or was regenerated"
            case .rightMissing:
                "give the rule in hub.connectionString the Send right, and check the hub's tier and quota"
            case .hubMissing: "check hub.name and the namespace in hub.connectionString"
            case .certificate: "check the hub's certificate, this machine's clock and hub.trustRoots"
            case .outage: "the hub is down or unreachable; sending resumes by itself when a probe passes"
            case .flood:
                "look at the dead letters: an upstream change probably broke the events; once it is mended, release the lane"
            }
        }
    }

    /// The step for a person to take, with the command if there is one.
    public var remedy: String {
        guard reason == .flood, let lane else { return reason.remedy }
        return "\(reason.remedy): newswire release --config FILE --lane \(lane), with --dead-letter if nothing of what "
            + "waits is worth sending"
    }

    init(reason: Reason, detail: String, lane: String? = nil, at now: Instant, probeAfter pause: Duration) {
        self.reason = reason
        self.detail = detail
        self.lane = lane
        since = now
        probeAt = now + pause
        self.pause = pause
    }

    func isProbeDue(at now: Instant) -> Bool { probe == nil && now >= probeAt }

    mutating func beginProbe(_ id: RequestID?) { probe = id }
    mutating func postponeProbe(to instant: Instant) { probeAt = instant }

    /// Lets the next probe leave at once, or soon after one in flight has failed.
    mutating func probeSoon(at now: Instant, pause: Duration) { (probeAt, self.pause) = (now, pause) }

    /// The next probe waits twice as long, up to `longest`.
    mutating func probeFailed(at now: Instant, longest: Duration) {
        probe = nil
        pause = min(pause * 2, longest)
        probeAt = now + pause
    }

    /// Converts the times to the wall clock, for people.
    func onTheWall(_ moment: Moment) -> Halt {
        var halt = self
        halt.probe = nil
        halt.since = moment.wall + (since - moment.steady)
        halt.probeAt = moment.wall + (probeAt - moment.steady)
        return halt
    }
}

struct HubPause: Sendable {
    private(set) var since = Instant.distantPast
    private(set) var until = Instant.distantPast

    mutating func extend(to until: Instant, at now: Instant) {
        if now >= self.until { since = now }
        self.until = max(self.until, until)
    }
}

/// The epoch of the access token that requests carry. Only a refusal of the current token counts.
struct TokenEpoch: Sendable {
    private(set) var number = 0
    /// The hub accepted the current token in some request, so the key is right.
    private(set) var isProven = false

    /// The refusal may be the token's fault, so a fresh token is worth a try.
    var deservesRenewal: Bool { isProven || number == 0 }

    mutating func letIn(_ epoch: Int) { if epoch == number { isProven = true } }

    mutating func renew() {
        number += 1
        isProven = false
    }
}

/// Distinguishes a failing hub from a single failing request: only different deliveries count.
struct OutageDetector: Sendable {
    /// Different deliveries that must fail in a row, with no acceptance between.
    static let threshold = 8
    private var failing: [DeliveryID] = []

    mutating func accepted() { if !failing.isEmpty { failing.removeAll(keepingCapacity: true) } }

    /// `true` when this failure makes it an outage.
    mutating func failed(_ delivery: DeliveryID) -> Bool {
        if !failing.contains(delivery), failing.count < Self.threshold { failing.append(delivery) }
        return failing.count >= Self.threshold
    }
}
