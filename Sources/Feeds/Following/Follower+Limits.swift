import ByteText
import NewsModel

// The events that a feed may send within an hour, and those held back beyond that.

extension Follower {
    /// A limit that holds an event back, and its end.
    struct Limit {
        var because: String
        /// A minute since 1970.
        var until: UInt32
        /// True for `maxPerHour`, which applies to the feed as a whole.
        var isOfFeed = false
    }

    /// The limit of the whole feed, if the events of the last hour have reached it.
    var feedLimit: Limit? {
        guard sentThisHour >= rules.maxPerHour else { return nil }
        return Limit(
            because: "the feed has sent `maxPerHour` (\(rules.maxPerHour)) events within the hour", until: minute,
            isOfFeed: true)
    }

    /// The limit of one entry, if an update has reached it.
    func entryLimit(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, print: UInt32, state: inout EntryState
    ) -> Limit? {
        // Caches and hubs deliver old copies after newer ones. A publisher whose clock was set back sends no newer one.
        if old.isNewer(than: keyed.entry) {
            return Limit(
                because: "its `updated` is older than that of a former text: it may be an old copy",
                until: minute + Self.lasting)
        }
        if old.hasLeft(print, at: minute) {
            if old.returnedAt != 0, Minute.between(old.returnedAt, minute) < 24 * 60 {
                return Limit(because: "its text goes to and fro", until: minute + Self.lasting)
            }
            // The text returns for the first time, so the publisher has corrected itself.
            state.returnedAt = minute
        }
        guard old.versions(inHourOf: minute) >= rules.maxVersionsPerHour else { return nil }
        return Limit(
            because: "it changed more than \(rules.maxVersionsPerHour) times within the hour",
            until: old.hourBegan + 60)
    }

    /// Minutes for which one of two alternating texts, or a text that may be an old copy, must last before it is sent.
    private static let lasting: UInt32 = 60

    /// Holds an event back, and replaces the event that was held back for the entry before.
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
            // Nothing is learned, so that the entry is compared again as long as it is in the feed.
            decide(keyed, .limited, limit.because, keeping: nil)
            return
        }
        if before == nil { heldBackNow += 1 }
        let held = HeldBack(
            intent: Intent(lane: lane, key: event.orderKey, event: bytes, order: 0),
            version: event.version?.text ?? "", due: limit.until, staleAt: staleAt)
        decide(keyed, .limited, limit.because, keeping: state, held: .replaced(held))
        if limit.isOfFeed { newlyLimited += 1 } else if before == nil { newlyDelayed += 1 }
    }

    /// Maximum number and bytes of events held back for one feed, so that no publisher can fill the memory.
    static let heldBackMax = 100
    static let heldBytesMax = 256 << 10

    /// Drops waiting alerts whose entries have left the feed, because readers would not find these there any more.
    mutating func dropLeftAlerts(_ present: Set<EntryHash>) {
        var dropped = 0
        let moved = Set((result.changes + written.map(\.change)).compactMap(\.former))
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
                "\(counted(newlyLimited, "event")) held back: it has sent `maxPerHour` (\(rules.maxPerHour)) within the hour"
            )
        }
        if newlyDelayed > 0 {
            result.notes.append(
                "\(counted(newlyDelayed, "entry", plural: "entries")) changed too often: the last text is sent later")
        }
        if beyondHeldBack > 0 {
            result.notes.append(
                "\(beyondHeldBack) events more than can be held back are due; they are looked at again with each reading"
            )
        }
    }
}
