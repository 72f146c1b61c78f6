public import NewsModel

/// What is kept of one feed between polls.
public struct FeedState: Sendable, Hashable {
    /// The configured address that this state was learned from; another one makes validators void.
    public var url = ""
    /// Where the feed may have moved for good.
    public var move: MovedAddress?
    public var validators: Validators?
    /// When the validators were last dropped: some servers answer 304 to anything.
    var validatorsSince: Instant?
    public var bodyHash: BodyHash?
    /// When the feed was first read; `nil` until then.
    public var primedAt: Instant?
    /// Perhaps not all entries of the first reading were stored. Not kept: the next document that is read ends it.
    var isHalfPrimed = false
    /// Ids repeat within its documents: it is known by its links, for good.
    public var hasDegraded = false
    /// The last poll that the publisher answered with a feed or with "unchanged".
    public var lastSuccessAt: Instant?
    public var failures = 0
    public var failingSince: Instant?
    /// One sentence about the last failure.
    public var failure: String?
    /// The publisher said 410: polled no more.
    public var isGone = false
    public var retryUntil: Instant?
    /// The median gap between entries, as far as known.
    var medianGap: Duration?
    var interval: Duration?
    /// When `maxPerHour` last held something back.
    public var cappedAt: Instant?
    /// When a poll last brought something new.
    public var lastNewAt: Instant?
    public var webSub = Subscription()

    public init() {}

    public var isPrimed: Bool { primedAt != nil }

    /// Nothing new for three times as long as is usual, and for an hour at least. Publishers whose feed has died often answer
    /// as before; so do those that sleep at night.
    func isQuiet(at now: Instant) -> Bool {
        guard let medianGap, let since = lastNewAt ?? primedAt else { return false }
        return now - since > max(medianGap * 3, Self.quietMin)
    }

    private static let quietMin = Duration.seconds(3_600)

    /// Takes over what holds for good, whoever found it out: the feed was read for the first time, and how its entries are
    /// known since.
    mutating func learnForGood(from other: FeedState) {
        primedAt = [primedAt, other.primedAt].compactMap(\.self).min()
        hasDegraded = hasDegraded || other.hasDegraded
    }
}
