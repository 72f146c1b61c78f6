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
    /// - Parameter isNewVersion: true if the publisher's version proves that this is no old copy.
    func entryLimit(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, print: UInt32, isNewVersion: Bool, state: inout EntryState
    ) -> Limit? {
        // Caches and hubs deliver old copies after newer ones. A publisher whose clock was set back sends no newer one.
        if !isNewVersion, old.isNewer(than: keyed.entry) {
            return Limit(
                because: "its `updated` is older than that of a former text: it may be an old copy",
                until: minute + Self.lasting)
        }
        let hasReturned = old.returnedAt != 0 && Minute.between(old.returnedAt, minute) < 24 * 60
        // A text that returned was sent at once, and another may have to correct it.
        let most = rules.maxVersionsPerHour + (hasReturned && old.hourBegan <= old.returnedAt ? 1 : 0)
        let hourLimit = hourLimit(old, most: most)
        if !isNewVersion, print != old.significant(for: rules.updates), old.hasLeft(print, at: minute) {
            if !hasReturned { (state.returnedAt, state.returns) = (minute, 0) }
            let returns = state.returns
            state.returns = returns == .max ? .max : returns + 1
            // The text returns for the first time, so the publisher has corrected itself.
            if returns == 0, hourLimit == nil { return nil }
            return Limit(because: "its text goes to and fro", until: minute + lasting(after: returns))
        }
        return hourLimit
    }

    /// The limit of the entry's versions within an hour, if they have reached it.
    func hourLimit(_ old: EntryState, most: Int) -> Limit? {
        guard old.versions(inHourOf: minute) >= most else { return nil }
        return Limit(
            because: "it changed more than \(rules.maxVersionsPerHour) times within the hour",
            until: Minute.hourAfter(old.hourBegan))
    }

    /// Minutes for which a text that may be an old copy, or the most for which one that alternates, must last before it is sent.
    private static let lasting: UInt32 = 60

    /// Minutes for which a text that has returned must last before it is sent: two polls at least, and twice as long after each return.
    private func lasting(after returns: UInt8) -> UInt32 {
        let polls = UInt32(clamping: (result.feed.interval ?? .zero).components.seconds / 60) &* 2
        return min(max(3 << UInt32(min(max(returns, 1) - 1, 5)), polls), Self.lasting)
    }

    /// Holds an event back, and replaces the event that was held back for the entry before.
    /// - Parameter staleAt: see `HeldBack`.
    mutating func holdBack(
        _ keyed: EntryIdentity.Keyed, _ event: NewsEvent, lane: String, _ limit: Limit, staleAt: UInt32,
        keeping state: EntryState, _ old: EntryState?
    ) {
        if limit.isOfFeed { result.feed.cappedAt = now }
        let held = HeldBack(
            event, publishers: keyed.entry.version, lane: lane, due: limit.until, staleAt: staleAt)
        if let before = log.heldBack[keyed.hash], before.intent.event == held.intent.event, let old,
            known[keyed.hash] == old, before.due <= limit.until
        {
            unchanged(keyed, old, "its event is held back already")
            return
        }
        let hasRoom = makeRoom(for: held, of: keyed.hash, limit)
        // Without room nothing is learned, so that the entry is compared again as long as it is in the feed.
        decide(keyed, .limited, limit.because, keeping: hasRoom ? state : nil, held: .replaced(held))
    }

    /// Counts an event among those held back.
    /// - Returns: false if no more can be held back.
    mutating func makeRoom(for held: HeldBack, of hash: EntryHash, _ limit: Limit) -> Bool {
        let before = log.heldBack[hash]
        let count = log.heldBack.count + (before == nil ? heldBackNow + 1 : heldBackNow)
        let bytes = heldBytes + held.intent.event.count - (before?.intent.event.count ?? 0)
        guard count <= Self.heldBackMax, bytes <= Self.heldBytesMax else {
            beyondHeldBack += 1
            return false
        }
        heldBytes = bytes
        if before == nil { heldBackNow += 1 }
        if limit.isOfFeed { newlyLimited += 1 } else if before == nil { newlyDelayed += 1 }
        return true
    }

    /// Maximum number and bytes of events held back for one feed, so that no publisher can fill the memory.
    static let heldBackMax = 100
    static let heldBytesMax = 256 << 10

    /// Drops waiting alerts whose entries have left the feed, because readers would not find these there any more. An entry must
    /// be missing from two documents in a row, because one of them may be an old copy.
    mutating func dropLeftAlerts(_ present: Set<EntryHash>) {
        var dropped = 0
        let changes = result.changes + written.map(\.change)
        let changed = Set(changes.map(\.hash) + changes.compactMap(\.former))
        for (hash, var held) in log.heldBack.sorted(by: { $0.key < $1.key }) where !changed.contains(hash) {
            let isMissing = !present.contains(hash)
            guard var state = known[hash], state.standing == .waiting, isMissing || held.isMissing else { continue }
            if isMissing, held.isMissing {
                state.standing = .known
                dropped += 1
                result.changes.append(Following.Change(hash: hash, state: state, heldBack: .dropped))
            } else {
                held.isMissing = isMissing
                result.changes.append(
                    Following.Change(hash: hash, state: state, name: log.names[hash], heldBack: .replaced(held)))
            }
        }
        if dropped > 0 {
            let entries = counted(dropped, "new entry", plural: "new entries")
            result.notes.append("\(entries) left it while held back by `maxPerHour`, and will not be sent")
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
        if beyondUsed > 0 {
            result.notes.append(
                "\(counted(beyondUsed, "new entry", plural: "new entries")) beyond the newest \(FeedLimits.entriesUsed) are not sent"
            )
        }
        if staleVersions > 0 {
            result.notes.append(
                "\(counted(staleVersions, "entry", plural: "entries")) came with another text, but with a version that is not newer "
                    + "than the last one and no later date: not sent")
        }
        result.isIncomplete = isInDoubt || beyondHeldBack > 0
        if beyondHeldBack > 0 {
            result.notes.append(
                "\(counted(beyondHeldBack, "event")) beyond a limit cannot be held back; each reading looks at them again"
            )
        }
    }

    /// Writes the recall of an entry of which nothing was written here, because others may have sent it. Such recalls obey the limit
    /// of the feed, so that no publisher uses up the orders that the newsroom may give. They follow the document's news, because they
    /// would use up its limit.
    /// - Parameter old: the state kept until now; `nil` for an entry that was not known.
    mutating func cancelUnsent(_ keyed: EntryIdentity.Keyed, keeping state: EntryState, _ old: EntryState?) {
        guard let feedLimit else { return cancel(keyed, keeping: state, old) }
        result.feed.cappedAt = now
        beyondHeldBack += 1
        // Its alert must not be sent while the recall waits, unless the publisher brings the entry back.
        var held = old?.standing == .waiting ? state : nil
        held?.standing = .held
        if let version = keyed.entry.version { held?.learnVersion(version) }
        decide(keyed, .limited, feedLimit.because, keeping: held, held: .dropped)
    }
}
