public import NewsModel

/// A feed's subscription to its WebSub hub: a value that is told what happened, and says what to ask and to answer.
/// W3C WebSub.
///
/// All times are of the wall clock, because leases outlive processes; a clock set wrong costs a renewal, never a story,
/// for the poll goes on under every state. A push passes the same rules as a poll: it never proves by itself that its
/// entries are new.
///
/// It is part of the feed's record on the state topic, callback and secret included: store it before posting what
/// `request` gives, or a verification that reaches a restarted process is answered with 404. Who may read that topic can
/// forge pushes until the lease is renewed.
public struct Subscription: Sendable, Hashable {
    /// What the feed names now; `nil` without a hub.
    public internal(set) var offered: PushSource?
    public internal(set) var state = State.idle
    public internal(set) var trust = PushTrust()
    /// The hub refuses to be told how long a lease shall be.
    var omitsLease = false
    /// Requests in a row that led to no subscription, and subscriptions that brought nothing.
    var failures = 0
    /// No request to the hub before.
    var retryAt = Instant.distantPast
    /// The callback before the last renewal: the hub keeps a subscription of its own for it until that is over.
    var retired: String?

    static let failuresMax = 20

    public init() {}

    public enum State: Sendable, Hashable {
        /// Not subscribed; with an offered hub, about to ask.
        case idle
        /// The hub was asked and has not verified yet.
        case asked(Attempt)
        case active(Lease)
        /// The hub refused, now or during the lease.
        case denied(PushSource, until: Instant)
        /// The hub took the subscription and brought nothing of what polls found.
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
        /// The request for the next one; this one stays valid until that is verified.
        public var renewal: Attempt?
    }

    /// The length that we ask for.
    public static let leaseWanted = Duration.seconds(864_000)
    /// A longer lease is renewed as if it had this length: a hub that forgets a subscription is noticed sooner.
    public static let leaseMax = Duration.seconds(1_209_600)
    /// A shorter one is renewed as if it had this length: hubs are not asked all the time.
    public static let leaseMin = Duration.seconds(600)
    /// The length where the hub names none, as hubs do that never end a subscription.
    public static let leaseUnnamed = Duration.seconds(86_400)
    /// From a request to the verification that must follow.
    public static let patience = Duration.seconds(600)
    /// How long a hub that refused or brought nothing is left alone, doubled each time.
    public static let refusalPause = Duration.seconds(86_400)

    /// The last parts of the addresses that a hub may call for this feed.
    public var paths: [String] {
        [attempt?.callback.path, lease?.callback.path, retired].compactMap(\.self)
    }

    /// How many times longer the time between polls may be at this time.
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
