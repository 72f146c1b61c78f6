public import NewsModel

/// A feed's subscription to its WebSub hub, W3C WebSub: a plain value whose outputs are requests and answers.
///
/// All times are by the wall clock, because leases outlive processes. A wrong clock costs a renewal but never a story,
/// because polls continue in every state. A push passes the same rules as a poll, and does not prove that its entries
/// are new.
///
/// The subscription is part of the feed's record on the state topic, including callback and secret. Store it before
/// posting the form from `request`, because a restarted process answers an unknown verification with 404. Readers of
/// that topic can forge pushes until the lease is renewed.
public struct Subscription: Sendable, Hashable {
    /// The push source that the feed names now; `nil` without a hub.
    public internal(set) var offered: PushSource?
    public internal(set) var state = State.idle
    public internal(set) var trust = PushTrust()
    /// True if the hub rejects requests that name the length of a lease.
    var omitsLease = false
    /// Consecutive requests that led to no subscription, and subscriptions that brought nothing.
    var failures = 0
    /// The earliest time of the next request to the hub.
    var retryAt = Instant.distantPast
    /// The callback before the last renewal. The hub keeps a separate subscription for it until that one expires.
    var retired: String?

    static let failuresMax = 20

    public init() {}

    public enum State: Sendable, Hashable {
        /// Not subscribed. If a hub is offered, a request follows.
        case idle
        /// The hub was asked, but has not verified yet.
        case asked(Attempt)
        case active(Lease)
        /// The hub refused, now or during the lease.
        case denied(PushSource, until: Instant)
        /// The hub accepted the subscription but pushed nothing of what polls found.
        case distrusted(PushSource, until: Instant)
    }

    /// A request for a subscription.
    public struct Attempt: Sendable, Hashable {
        public var source: PushSource
        public var callback: WebSubCallback
        public var askedAt: Instant
    }

    /// A subscription that the hub has verified.
    public struct Lease: Sendable, Hashable {
        public var source: PushSource
        public var callback: WebSubCallback
        public var until: Instant
        public var renewAt: Instant
        /// The request for the next lease. This lease stays valid until that one is verified.
        public var renewal: Attempt?
    }

    /// The lease length that we request.
    public static let leaseWanted = Duration.seconds(864_000)
    /// A longer lease is renewed as if it had this length, so that a hub's loss of a subscription is noticed sooner.
    public static let leaseMax = Duration.seconds(1_209_600)
    /// A shorter lease is renewed as if it had this length, so that hubs are not asked all the time.
    public static let leaseMin = Duration.seconds(600)
    /// The lease length if the hub names no length, like hubs whose subscriptions never end.
    public static let leaseUnnamed = Duration.seconds(86_400)
    /// Time between a request and the verification that must follow.
    public static let patience = Duration.seconds(600)
    /// Pause after a hub refused or brought nothing; doubles each time.
    public static let refusalPause = Duration.seconds(86_400)

    /// The last path components of the addresses that a hub may call for this feed.
    public var paths: [String] {
        [attempt?.callback.path, lease?.callback.path, retired].compactMap(\.self)
    }

    /// Returns the factor by which the time between polls may be longer at this time.
    public func pollFactor(at now: Instant) -> Int {
        guard let lease, now < lease.until, trust.isProven else { return 1 }
        return PushTrust.factor
    }

    /// The request that the hub has not verified yet.
    public var attempt: Attempt? {
        switch state {
        case .asked(let attempt): attempt
        case .active(let lease): lease.renewal
        default: nil
        }
    }

    public var lease: Lease? {
        if case .active(let lease) = state { lease } else { nil }
    }
}
