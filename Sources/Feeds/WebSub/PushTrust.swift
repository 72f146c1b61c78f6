import NewsModel

/// How far pushes of a hub may stand in for polls. Hubs die silently: they take subscriptions and never push again.
///
/// Nothing is trusted before the first push. From then on each new entry counts for whoever brought it first; a poll
/// that finds one is not held against the hub if a push follows within `grace`, because then it only came a moment late.
public struct PushTrust: Sendable, Hashable {
    /// New entries that a push brought before any poll.
    public internal(set) var pushedFirst = 0
    /// New entries that a push should have brought, found by a poll.
    public internal(set) var polledFirst = 0
    /// Polls in a row that found such entries, without a push since.
    public internal(set) var silentPolls = 0

    private var awaited: Awaited?
    /// The last poll under the present subscription. What an earlier one left unseen no push could bring.
    private var polledAt: Instant?

    /// Entries that polls have found while their push may be on its way.
    private struct Awaited: Hashable {
        var count = 0
        var since: Instant
    }

    public init() {}

    /// From a poll's discovery of an entry to the push that excuses it.
    public static let grace = Duration.seconds(600)
    /// Silent polls in a row after which a hub counts as dead.
    public static let silentPollsMax = 3
    /// How much longer the time between polls is under a proven hub.
    public static let factor = 5
    /// Both counts are halved above, so that last year's pushes do not speak for today's.
    static let tallyMax = 200

    /// Pushes come, and at most a tenth of what is new is found by polls.
    public var isProven: Bool {
        pushedFirst > 0 && silentPolls == 0 && polledFirst * 10 <= pushedFirst + polledFirst
    }

    public var isDead: Bool { silentPolls >= Self.silentPollsMax }

    /// A subscription begins, or the process did: the next poll may find what nobody could push.
    mutating func begin() {
        polledAt = nil
        awaited = nil
    }

    mutating func polled(new: Int, at now: Instant) {
        settle(at: now)
        if polledAt != nil, new > 0 {
            var found = awaited ?? Awaited(since: now)
            found.count = min(found.count + min(new, Self.tallyMax), Self.tallyMax)
            awaited = found
        }
        polledAt = now
    }

    mutating func pushed(new: Int, at now: Instant) {
        settle(at: now)
        awaited = nil
        silentPolls = 0
        count(pushed: min(max(new, 0), Self.tallyMax), polled: 0)
    }

    /// Holds against the hub what no push has excused in time.
    private mutating func settle(at now: Instant) {
        guard let awaited, now - awaited.since >= Self.grace else { return }
        silentPolls = min(silentPolls + 1, Self.silentPollsMax)
        count(pushed: 0, polled: awaited.count)
        self.awaited = nil
    }

    private mutating func count(pushed: Int, polled: Int) {
        pushedFirst += pushed
        polledFirst += polled
        if pushedFirst + polledFirst > Self.tallyMax {
            pushedFirst /= 2
            polledFirst /= 2
        }
    }
}
