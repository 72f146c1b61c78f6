public import NewsModel

/// The state of one feed between polls.
public struct FeedState: Sendable, Hashable {
    /// The configured address from which this state was learned. Another address makes the validators void.
    public var url = ""
    /// The address to which the feed may have moved for good.
    public var move: MovedAddress?
    public var validators: Validators?
    /// Time of the last request without validators. They are left out at times, as some servers always answer 304.
    var validatorsSince: Instant?
    public var bodyHash: BodyHash?
    /// Time of the first reading; `nil` before it.
    public var primedAt: Instant?
    /// Offset on the state topic after which the entries of the first reading were stored.
    var primedAfter: Int64 = -1
    /// True if entries of the first reading may be missing, because its document was cut off or not all of them were stored. The next
    /// document that is read clears it.
    var isHalfPrimed = false
    /// The rule that identifies its entries for good, because ids or links repeat within its documents.
    var identity = IdentityFallback.none
    /// The host that last gave a document of this feed; `nil` for that of its address.
    var host: String?
    /// Time of the last poll that the publisher answered with a feed or with "unchanged".
    public var lastSuccessAt: Instant?
    public var failures = 0
    public var failingSince: Instant?
    /// One sentence about the last failure.
    public var failure: String?
    /// True once the publisher has answered 410. The feed is not polled any more.
    public var isGone = false
    public var retryUntil: Instant?
    /// The median gap between entries; `nil` until it is known.
    var medianGap: Duration?
    var interval: Duration?
    /// Time at which `maxPerHour` last held something back.
    public var cappedAt: Instant?
    /// Time at which something new last came.
    public var lastNewAt: Instant?
    public var webSub = Subscription()

    public init() {}

    public var isPrimed: Bool { primedAt != nil }

    /// Returns true if the first reading began before this offset of the state topic.
    func wasPrimed(below offset: Int64) -> Bool { isPrimed && offset > 0 && primedAfter < offset - 1 }

    /// Returns true if nothing new has come for three times the usual gap, and for at least an hour. Publishers whose
    /// feed has died often answer as before; so do those that pause at night.
    func isQuiet(at now: Instant) -> Bool {
        guard let medianGap, let since = lastNewAt ?? primedAt else { return false }
        return now - since > max(medianGap * 3, Self.quietMin)
    }

    /// The time since the last successful poll if it is too long for a feed that somebody polls; `nil` if it is not, or if the feed was
    /// never polled.
    /// - Parameter intervalMax: by the settings. The publisher may ask for more.
    public func unpolledFor(_ intervalMax: Duration, at now: Instant) -> Duration? {
        // A poll that brings nothing new is recorded at least every 15 minutes.
        let longest = max(intervalMax, interval ?? .zero) * 2 + .seconds(900)
        return lastSuccessAt.flatMap { now - $0 > longest ? now - $0 : nil }
    }

    func wasPolledLately(at now: Instant) -> Bool {
        lastSuccessAt != nil && unpolledFor(.seconds(1_800), at: now) == nil
    }

    private static let quietMin = Duration.seconds(3_600)

    /// Corrects the times of the first reading and of the last poll in the future, which a clock that was ahead has measured.
    /// If they stayed until their time had come, news before that time would look like the backlog.
    ///
    /// Entries of the last hour then count as news unless they are known, because a poll may come as late as that.
    /// - Returns: true if the time was wrong.
    mutating func correctFirstReading(at wall: Instant) -> Bool {
        guard let primedAt, primedAt > wall + Self.clockDifferenceMax else { return false }
        self.primedAt = wall - Self.lateMax
        lastSuccessAt = lastSuccessAt.map { min($0, wall) }
        return true
    }

    private static let clockDifferenceMax = Duration.seconds(60)
    private static let lateMax = Duration.seconds(3_600)

    /// Takes over permanent facts from another view of the feed: the first reading, and what identifies entries.
    ///
    /// Two views may have found different parts of the first reading. It is complete if one of them has found all of it.
    mutating func learnForGood(from other: FeedState) {
        if other.isPrimed { isHalfPrimed = other.isHalfPrimed && (isHalfPrimed || !isPrimed) }
        primedAt = [primedAt, other.primedAt].compactMap(\.self).min()
        primedAfter = max(primedAfter, other.primedAfter)
        identity = max(identity, other.identity)
    }
}
