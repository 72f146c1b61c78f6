import NewsModel

// What a feed may send within an hour, and what waits beyond that.

extension Follower {
    /// Why an event is held back, and for how long.
    struct Limit {
        var because: String
        /// A minute since 1970.
        var until: UInt32
        /// It is `maxPerHour`, which holds for the feed as a whole.
        var isOfFeed = false
    }

    /// The limit that is reached by all that the feed has sent within the hour.
    var feedLimit: Limit? {
        guard sentThisHour >= rules.maxPerHour else { return nil }
        return Limit(
            because: "the feed has sent `maxPerHour` (\(rules.maxPerHour)) events within the hour", until: minute,
            isOfFeed: true)
    }

    /// The limit of one entry that an update has reached.
    func entryLimit(_ old: EntryState, print: UInt32, state: inout EntryState) -> Limit? {
        if old.hasLeft(print, at: minute) {
            if old.returnedAt != 0, Minute.between(old.returnedAt, minute) < 24 * 60 {
                return Limit(because: "its text goes to and fro", until: minute + Self.lasting)
            }
            // Taken back for the first time: the publisher has corrected itself.
            state.returnedAt = minute
        }
        guard old.versions(inHourOf: minute) >= rules.maxVersionsPerHour else { return nil }
        return Limit(
            because: "it changed more than \(rules.maxVersionsPerHour) times within the hour",
            until: old.hourBegan + 60)
    }

    /// Minutes that one of two texts that alternate must last before it is sent.
    private static let lasting: UInt32 = 60

    /// Keeps an event for later. What was held back for the entry before is replaced.
    /// - Parameter staleAt: see `HeldBack`.
    mutating func holdBack(
        _ keyed: EntryIdentity.Keyed, _ event: NewsEvent, lane: String, _ limit: Limit, staleAt: UInt32,
        keeping state: EntryState, _ old: EntryState?
    ) {
        if limit.isOfFeed { result.feed.cappedAt = now }
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        let before = log.heldBack[keyed.hash]
        if let before, before.intent.event == bytes, let old, known[keyed.hash] == old, before.due <= limit.until {
            unchanged(keyed, old, "its event is held back already")
            return
        }
        heldBytes += bytes.count - (before?.intent.event.count ?? 0)
        let count = log.heldBack.count + (before == nil ? heldBackNow + 1 : heldBackNow)
        guard count <= Self.heldBackMax, heldBytes <= Self.heldBytesMax else {
            heldBytes -= bytes.count - (before?.intent.event.count ?? 0)
            beyondHeldBack += 1
            // Nothing is learned of it, so that it is compared again as long as it stands in the feed.
            decide(keyed, .limited, limit.because, keeping: nil)
            return
        }
        if before == nil { heldBackNow += 1 }
        let held = HeldBack(
            intent: Intent(lane: lane, key: event.orderKey, event: bytes, order: 0),
            version: event.version?.text ?? "", due: limit.until, staleAt: staleAt)
        decide(keyed, .limited, limit.because, keeping: state, held: .replaced(held))
        newlyLimited += limit.isOfFeed ? 1 : 0
    }

    /// Events held back for one feed, and their bytes: memory does not depend on what a publisher does.
    static let heldBackMax = 100
    static let heldBytesMax = 256 << 10

    /// An alert that waits is one of an entry that readers would find in the feed. What has left it is no news any more.
    mutating func dropLeftAlerts(_ present: Set<EntryHash>) {
        var dropped = 0
        let moved = Set(leftBehind.map(\.hash))
        for hash in log.heldBack.keys.sorted() where !present.contains(hash) && !moved.contains(hash) {
            guard var state = known[hash], state.standing == .waiting else { continue }
            state.standing = .known
            dropped += 1
            result.changes.append(Following.Change(hash: hash, state: state, heldBack: .dropped))
        }
        if dropped > 0 {
            result.notes.append("\(dropped) new entries left it while `maxPerHour` held them back; they are not sent")
        }
    }

    mutating func noteLimits() {
        if newlyLimited > 0 {
            result.notes.append(
                "\(newlyLimited) events are held back: it has sent `maxPerHour` (\(rules.maxPerHour)) within the hour")
        }
        if beyondHeldBack > 0 {
            result.notes.append(
                "\(beyondHeldBack) events more than can be held back are due; they are looked at again with each reading"
            )
        }
    }
}
