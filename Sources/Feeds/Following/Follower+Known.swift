import NewsModel

// Entries that were seen before: new versions, or noise.

extension Follower {
    mutating func followKnown(_ keyed: EntryIdentity.Keyed, _ old: EntryState) {
        let meaning = EntryMeaning(keyed.entry, rules: rules)
        let prints = Prints(keyed)
        if meaning.status == .canceled {
            recall(keyed, old)
            return
        }
        let age = versionAge(of: keyed.entry, old)
        let ends = embargoes(prints, old)
        let heldBack = log.heldBack[keyed.hash]
        let isAlert = old.standing == .sent || old.standing == .waiting || heldBack != nil
        if let version = keyed.entry.version, let age, age != .newer, old.standing != .unreadable {
            let print = prints.significant(for: rules.updates)
            // Some publishers make no new version for a hold, an embargo or another text, which a later date shows to be new.
            // An event that is held back must not be sent in spite of them.
            let isDelayed = meaning.isHeld || ends.new > ends.old
            let isLater = Second.of(keyed.entry.updatedAt) > old.updatedAt
            // The text that readers have is back. Another one is held back, under a version that cannot be compared.
            let isBack = heldBack.map {
                let held = EntryVersion.publishers(in: $0.version)
                return print == old.sentPrint && EntryVersion.age(of: version.text, comparedWith: held) == nil
            }
            // The clocks of a publisher differ, so a hold counts also under an earlier time as its version.
            let isHold = meaning.isHeld && version.time != nil
            guard isAlert, isHold || age == .same && (isDelayed || isLater || isBack ?? false) else {
                if old.standing.isHeld, !meaning.isHeld, heldBack == nil { freeWithoutVersion += 1 }
                if isAlert, print != old.significant(for: rules.updates), print != old.sentPrint { staleVersions += 1 }
                unchanged(keyed, old, "version \(version) of it is known")
                return
            }
        }
        if old.isNewer(than: keyed.entry),
            old.standing == .canceled || (meaning.isHeld ? !isAlert : old.standing.isHeld)
        {
            unchanged(keyed, old, "its `updated` is older than that of a copy that is known")
            return
        }
        if meaning.isHeld {
            hold(keyed, old, meaning)
            return
        }
        if followUnread(keyed, old, meaning, prints) { return }
        switch old.standing {
        case .held: release(keyed, old, meaning)
        case .heldAfterSent where old.sentPrint == 0 && log.heldBack[keyed.hash] == nil: release(keyed, old, meaning)
        case .unreadable: retry(keyed, old, meaning, prints)
        case .duplicate where isOwnStory(keyed, old, meaning, prints): compare(keyed, old, meaning, prints)
        case .duplicate:
            silentlyLearn(
                keyed, old, prints, "another feed of the group has brought it",
                held: keyed.title == old.title ? .kept : .dropped)
        case .known, .moved: silentlyLearn(keyed, old, prints, "it changed, but no alert was ever written for it")
        case .waiting: awaitRoom(keyed, old, meaning, prints)
        case .canceled where keyed.entry.version == nil && old.headlinePrint == 0:
            silentlyLearn(keyed, old, prints, "it was recalled")
        case .canceled, .heldAfterSent, .sent: compare(keyed, old, meaning, prints)
        }
    }

    /// Returns true if the headline of an entry that another feed of the group has brought is now one that no feed has brought,
    /// while the group still remembers the story.
    ///
    /// A page that several feeds list has one headline, and the feed that sent it brings the next one too. That feed may have
    /// dropped the page, so a correction does not wait for it.
    private func isOwnStory(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, _ meaning: EntryMeaning, _ prints: Prints
    ) -> Bool {
        guard keyed.title != old.title, Minute.between(old.firstSeen, minute) <= GroupMemory.minutes else {
            return false
        }
        var state = old
        state.learn(prints, of: keyed)
        if meaning.isCorrection { state.link = 0 }
        return otherFeed(keyed, state) == nil
    }

    /// The age of the entry's version compared with that of the last copy. Without an answer, its dates decide.
    func versionAge(of entry: FeedEntry, _ old: EntryState) -> EntryVersion.Age? {
        entry.version.flatMap { EntryVersion.age(of: $0.text, comparedWith: old.publishersVersion.text) }
    }

    // MARK: - Recalled and withheld

    private mutating func recall(_ keyed: EntryIdentity.Keyed, _ old: EntryState) {
        guard old.standing != .canceled else {
            unchanged(keyed, old, "it was recalled before")
            return
        }
        var state = old
        state.see(keyed.entry, at: minute)
        if old.standing.wasSent {
            cancel(keyed, keeping: state, old)
        } else if keyed.former != nil {
            cancelUnsent(keyed, keeping: state, old)
        } else {
            unsentRecalls.append((keyed, state, old))
        }
    }

    mutating func cancel(_ keyed: EntryIdentity.Keyed, keeping state: EntryState, _ old: EntryState?) {
        var state = state
        let meaning = EntryMeaning(keyed.entry, rules: rules)
        let version = state.nextVersion(keyed.entry.version)
        switch maker.event(keyed, id: eventID(keyed), version: version, change: nil, meaning: meaning) {
        case .failure(let refusal): decide(keyed, .unreadable, refusal.because, keeping: state)
        case .success(let event):
            state.setVersion(version, publishers: keyed.entry.version)
            state.standing = .canceled
            if !(old?.standing.wasSent ?? false) {
                state.countVersion(at: minute)
                sentThisHour += 1
            }
            write(keyed, .canceled, "the publisher withdrew it", event, lane: lane, keeping: state)
        }
    }

    /// Withholds an entry. If an event of it was written, another one says so, because the first may still wait for its time.
    /// - Parameter unread: the reason why a usable copy cannot become an event. Its version frees the entry once it can be read.
    mutating func hold(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, _ meaning: EntryMeaning, unread: EventMaker.Refusal? = nil
    ) {
        let isHeldBack = log.heldBack[keyed.hash] != nil
        guard !old.standing.isHeld || isHeldBack else {
            unchanged(keyed, old, "it is still withheld")
            return
        }
        // The backlog and stale entries do not become news by being withheld for a while.
        guard !old.standing.isUnwritten || isHeldBack else {
            silentlyLearn(keyed, old, Prints(keyed), "it is withheld, but no alert was ever written for it")
            return
        }
        let because =
            unread.map { "its alert has an embargo, and its newest copy cannot become an event: \($0.because)" }
            ?? "the publisher withholds it: only a later version frees it"
        let own = unread == nil ? keyed.entry.version : nil
        var state = old
        state.see(keyed.entry, at: minute)
        guard old.standing == .sent else {
            state.standing = old.standing.wasSent ? .heldAfterSent : .held
            // An event that is held back would have freed it.
            if let own, !old.standing.wasSent || isHeldBack { state.learnVersion(own) }
            decide(keyed, .withheld, because, keeping: state, held: .dropped)
            return
        }
        let version = old.nextVersion(own)
        switch maker.event(keyed, id: eventID(keyed), version: version, change: nil, meaning: meaning) {
        case .failure(let refusal): decide(keyed, .unreadable, refusal.because, keeping: state)
        case .success(let event):
            state.standing = .heldAfterSent
            if embargo(old.embargo) > 0 { state.sentPrint = 0 }
            state.setVersion(version, publishers: own)
            // A copy that can be read frees the entry under the same version, which no copy of the former text has with this date.
            let isLater = Second.of(keyed.entry.updatedAt) > old.updatedAt
            if unread != nil, isLater, versionAge(of: keyed.entry, old) == .same { state.versionsAhead &+= 1 }
            write(keyed, .withheld, because, event, lane: lane(of: old), keeping: state)
        }
    }

    /// Follows an entry that could not become an event when it was new. It is news as soon as it can, however far down it is by
    /// then.
    private mutating func retry(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, _ meaning: EntryMeaning, _ prints: Prints
    ) {
        let lane = lane(of: old)
        if lane == self.lane, let because = reasonForStale(keyed.entry, isAboveKnown: true) {
            silentlyLearn(keyed, old, prints, because)
            return
        }
        var state = old
        state.learn(prints, of: keyed)
        // Changed settings may let the same text become an event.
        if state == old,
            case .failure = maker.event(
                keyed, id: eventID(keyed), version: old.nextVersion(keyed.entry.version), change: nil, meaning: meaning)
        {
            unchanged(keyed, old, "it still cannot become an event")
            return
        }
        state.lastSeen = minute
        state.standing = .known
        if let other = otherFeed(keyed, state) {
            leave(keyed, to: other, state)
            return
        }
        alert(keyed, meaning, because: "it is new, and can become an event now", lane: lane, keeping: &state, old)
    }

    /// Follows an entry whose alert is held back. If its text, its embargo or its expiry has changed, a new alert replaces that one.
    private mutating func awaitRoom(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, _ meaning: EntryMeaning, _ prints: Prints
    ) {
        let ends = embargoes(prints, old)
        let isSame =
            prints.significant(for: rules.updates) == old.significant(for: rules.updates)
            && ends.new == ends.old && prints.expiry == old.expiry
        // An old copy does not end an embargo.
        let isFreedByCopy = ends.new < ends.old && old.isNewer(than: keyed.entry)
        guard !isSame, !isFreedByCopy else {
            unchanged(keyed, old, "its alert is held back")
            return
        }
        var state = old
        state.learn(prints, of: keyed)
        state.lastSeen = minute
        if let other = otherFeed(keyed, state) {
            leave(keyed, to: other, state)
            return
        }
        let lane = log.heldBack[keyed.hash]?.intent.lane ?? lane(of: old)
        alert(keyed, meaning, because: "it is new, and has changed since", lane: lane, keeping: &state, old)
    }

    /// Follows an entry that was withheld before readers had it and is now free. Its age counts from its latest date.
    private mutating func release(_ keyed: EntryIdentity.Keyed, _ old: EntryState, _ meaning: EntryMeaning) {
        var state = old
        state.learn(Prints(keyed), of: keyed)
        state.lastSeen = minute
        state.standing = old.standing == .held ? .known : .sent
        let date = [keyed.entry.publishedAt, keyed.entry.updatedAt].compactMap(\.self).max()
        if let date, isTooOld(date, keyed.entry) {
            if let version = keyed.entry.version { state.learnVersion(version) }
            decide(keyed, .stale, "it was freed, but its dates are older than `maxAge`", keeping: state)
            return
        }
        if let other = otherFeed(keyed, state) {
            if let version = keyed.entry.version { state.learnVersion(version) }
            leave(keyed, to: other, state)
            return
        }
        alert(keyed, meaning, because: "it was withheld and is free now", lane: lane(of: old), keeping: &state, old)
    }

    // MARK: - Changed

    private mutating func compare(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, _ meaning: EntryMeaning, _ prints: Prints
    ) {
        let isRevived = old.standing == .canceled
        let isFreed = old.standing == .heldAfterSent
        let ends = embargoes(prints, old)
        let hasNewEmbargo = ends.new != ends.old
        // An event with a later embargo replaces one that must not be sent before it.
        let isDelay = ends.new > ends.old && old.standing == .sent
        let print = prints.significant(for: rules.updates)
        let before = old.significant(for: rules.updates)
        let age = versionAge(of: keyed.entry, old)
        // A newer version than a held-back event must not overtake that event in the state.
        let isHeldBack = log.heldBack[keyed.hash] != nil
        let isNewVersion = age == .newer && (rules.updates == .any || isHeldBack)
        guard isRevived || isFreed || hasNewEmbargo || print != before || isNewVersion else {
            let because =
                rules.updates == .any ? "only its dates changed" : "nothing changed that readers are alerted of"
            silentlyLearn(keyed, old, prints, because)
            return
        }
        if !isRevived, !isFreed, !hasNewEmbargo, print == old.sentPrint, print != before || isHeldBack {
            silentlyLearn(keyed, old, prints, "it says again what readers have", held: .dropped)
            return
        }
        var state = old
        var limit: Limit?
        if isRevived || isDelay || isFreed && isHeldBack {
            limit = hourLimit(old, most: rules.maxVersionsPerHour)
        } else if !isFreed {
            limit = entryLimit(keyed, old, print: print, isNewVersion: age == .newer, state: &state)
        }
        limit = limit ?? feedLimit
        learn(keyed, prints, in: &state)
        let version = old.nextVersion(keyed.entry.version)
        // Readers do not have what is still under embargo, or was when a limit held back the event that changes the embargo.
        let isUnread =
            isHeldBack && old.sentPrint == 0 || embargo(old.embargo) > 0 && !(isHeldBack && isFreed)
        let change: EventMaker.Change? = isUnread ? nil : meaning.change
        switch maker.event(keyed, id: eventID(keyed), version: version, change: change, meaning: meaning) {
        // The change is not learned, so that it is sent once it can become an event.
        case .failure(let refusal): decide(keyed, .unreadable, refusal.because, keeping: nil)
        case .success(let event):
            if let limit {
                if hasNewEmbargo, isUnread { state.sentPrint = 0 }
                if isDelay { return delay(keyed, event, version, limit, isUnread: isUnread, keeping: state) }
                if hasNewEmbargo, !isFreed, !isRevived, !isHeldBack, print == old.sentPrint {
                    // The event that waits has the same text, and is due at the former end of the embargo in any case.
                    beyondHeldBack += 1
                    decide(keyed, .limited, limit.because, keeping: nil)
                    return
                }
                holdBack(keyed, event, lane: lane(of: old), limit, staleAt: Minute.never, keeping: state, old)
                return
            }
            state.wasWritten(version, publishers: keyed.entry.version, at: minute, for: rules.updates)
            sentThisHour += 1
            let because =
                isRevived
                ? "it was recalled and is back"
                : isFreed
                    ? "it was withheld and is free now"
                    : hasNewEmbargo ? "its embargo changed" : "its \(changed(old, prints)) changed"
            write(keyed, .update, because, event, lane: lane(of: old), keeping: state)
        }
    }

    /// Writes a withheld event in place of an event with a later embargo that a limit holds back. What still waits for the former
    /// embargo is not sent, and the event that is held back follows when the limit allows it. Without room for it, an event that
    /// readers do not have yet is written at once, because no copy of the same version would free the entry.
    private mutating func delay(
        _ keyed: EntryIdentity.Keyed, _ event: NewsEvent, _ version: NewsEvent.Version, _ limit: Limit, isUnread: Bool,
        keeping state: EntryState
    ) {
        var (later, delayed) = (event, state)
        if limit.isOfFeed { result.feed.cappedAt = now }
        delayed.standing = .heldAfterSent
        // The publisher's version is learned from the event that is held back.
        delayed.setVersion(version, publishers: nil)
        later.version = delayed.nextVersion(keyed.entry.version)
        let held = HeldBack(
            later, publishers: keyed.entry.version, lane: lane(of: state), due: limit.until, staleAt: Minute.never)
        let isHeldBack = makeRoom(for: held, of: keyed.hash, limit)
        if !isHeldBack, isUnread {
            var state = state
            state.wasWritten(version, publishers: keyed.entry.version, at: minute, for: rules.updates)
            sentThisHour += 1
            write(keyed, .update, "its embargo changed", event, lane: lane(of: state), keeping: state)
            return
        }
        var withheld = event
        withheld.status = .withheld
        write(
            keyed, .withheld, "its embargo ends later, and \(limit.because)", withheld, lane: lane(of: state),
            keeping: delayed, held: isHeldBack ? .replaced(held) : .dropped)
    }

    /// The lane of an entry's next event: the one to which its alert went, also after the feed has got another one, because the engine
    /// orders the versions of a story within one lane only. A recall goes to the feed's lane, because it ends what waits on any lane.
    func lane(of state: EntryState) -> String {
        if let lane = log.lane(of: state), lanes?.contains(lane) ?? true { return lane }
        return state.isLate && !backfillLane.isEmpty ? backfillLane : lane
    }

    private func changed(_ old: EntryState, _ prints: Prints) -> String {
        if old.headlinePrint != prints.headline { return "headline or categories" }
        if old.expiry != prints.expiry { return "expiry" }
        return old.bodyPrint != prints.body ? "summary, link or image" : "version"
    }

    /// Returns 0 for an embargo that has ended.
    func embargo(_ end: UInt32) -> UInt32 { end > minute ? end : 0 }

    /// The ends of both embargoes in seconds, to be compared with each other; 0 for one that has ended. Only the minutes count if
    /// the second of one is not known.
    func embargoes(_ prints: Prints, _ old: EntryState) -> (new: UInt64, old: UInt64) {
        let isExact = prints.embargoSecond > 0 && old.embargoSecond > 0
        func end(_ minute: UInt32, _ second: UInt8) -> UInt64 {
            embargo(minute) == 0 ? 0 : UInt64(minute) * 60 + (isExact ? UInt64(second) : 0)
        }
        return (end(prints.embargo, prints.embargoSecond), end(old.embargo, old.embargoSecond))
    }

    private func learn(_ keyed: EntryIdentity.Keyed, _ prints: Prints, in state: inout EntryState) {
        let before = state.significant(for: rules.updates)
        if before != prints.significant(for: rules.updates) { state.past.leave(before, at: minute) }
        state.learn(prints, of: keyed)
        state.lastSeen = minute
    }

    /// Stores the entry's current content for the next comparison, without a write if nothing changed.
    private mutating func silentlyLearn(
        _ keyed: EntryIdentity.Keyed, _ old: EntryState, _ prints: Prints, _ because: String,
        held: Following.Held = .kept
    ) {
        var state = old
        learn(keyed, prints, in: &state)
        state.lastSeen = old.lastSeen
        if let version = keyed.entry.version, versionAge(of: keyed.entry, old) == .newer { state.learnVersion(version) }
        guard state != old else {
            unchanged(keyed, old, "nothing changed")
            return
        }
        state.lastSeen = minute
        decide(keyed, .noise, because, keeping: state, held: held)
    }

    mutating func unchanged(_ keyed: EntryIdentity.Keyed, _ old: EntryState, _ because: String) {
        guard Minute.between(old.lastSeen, minute) >= Self.lastSeenIsCoarse else {
            decide(keyed, .unchanged, because, keeping: nil)
            return
        }
        var state = old
        state.lastSeen = minute
        decide(keyed, .unchanged, because, keeping: state)
    }

    /// A day, because each update costs a record, and an entry is forgotten only after 30 days.
    private static let lastSeenIsCoarse: UInt32 = 24 * 60
}
