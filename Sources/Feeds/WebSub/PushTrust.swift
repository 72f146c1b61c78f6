import NewsModel

/// Decides how far a hub's pushes may replace polls. Hubs die silently: they accept subscriptions and never push again.
///
/// A hub is not trusted before its first push. From then on, each new entry counts for the push or the poll that
/// brought it first. An entry that a poll finds does not count against the hub if a push follows within `grace`.
public struct PushTrust: Sendable, Hashable {
    /// Number of new entries that a push brought before any poll.
    public internal(set) var pushedFirst = 0
    /// Number of new entries that a push should have brought, but a poll found.
    public internal(set) var polledFirst = 0
    /// Consecutive polls that found such entries, without a push since.
    public internal(set) var silentPolls = 0

    private var awaited: Awaited?
    /// Time of the last poll under the current subscription; `nil` before the first, as its finds could not be pushed.
    private var polledAt: Instant?

    /// Entries that polls have found and whose push may still arrive.
    private struct Awaited: Hashable {
        var count = 0
        var since: Instant
    }

    public init() {}

    /// Time between a poll's discovery of an entry and the latest push that excuses it.
    public static let grace = Duration.seconds(600)
    /// Consecutive silent polls after which a hub counts as dead.
    public static let silentPollsMax = 3
    /// Factor by which the time between polls is longer under a proven hub.
    public static let factor = 5
    /// Both counts are halved above this sum, so that old pushes lose their weight.
    static let tallyMax = 200

    /// True if pushes arrive, and polls find at most a tenth of the new entries.
    public var isProven: Bool {
        pushedFirst > 0 && silentPolls == 0 && polledFirst * 10 <= pushedFirst + polledFirst
    }

    public var isDead: Bool { silentPolls >= Self.silentPollsMax }

    /// Called when a subscription or the process begins, because no push could bring what the next poll may find.
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

    /// Counts entries against the hub that no push has brought in time.
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
