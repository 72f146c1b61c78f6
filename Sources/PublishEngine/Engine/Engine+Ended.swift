import EditorialControl
import KafkaModel
import NewsModel

/// Returns held events that a later event of their story has overtaken: it was withheld, has expired or was sent. Usually the held
/// event is requested back at once. If the process dies before that, or while the held topic is away, the next owner learns it
/// from the ledger.
extension Engine {
    /// Notes that a delivery has ended.
    ///
    /// - Returns: the story for the header of the result; `nil` if older events of the story may still follow.
    mutating func noteEnd(of place: Place, _ content: ExaminedRecord, as outcome: Outcome) -> String? {
        guard let routed = content.routed else { return nil }
        let version = routed.event.version
        let endsOlder = endsOlder(content, routed, outcome)
        if endsOlder {
            partitions[place.slot].ended.note(
                routed.heldKey, at: content.record.offset, writtenAt: content.record.timestamp, version, as: outcome,
                isPart: routed.event.isForSomeOfItsStory)
        }
        // A version that waits is not noted, because it may be held while an older one for more readers is due before it.
        if outcome.mayHaveLeft, !routed.event.users.isEmpty {
            partitions[place.slot].recent.note(
                routed, RecentDeliveries.story(routed.orderKey, platform: place.platform))
        }
        // Results do not name single readers, so another process does not know what has ended for them.
        guard !routed.event.isForSomeOfItsStory else { return nil }
        if version != nil, outcome.mayHaveLeft {
            return routed.edition == nil ? routed.event.resultStory : routed.orderKey
        }
        return endsOlder || outcome == .held ? routed.orderKey : nil
    }

    /// Returns true if older events of the story must not follow. False for copies, whose offsets are higher than their age.
    private func endsOlder(_ content: ExaminedRecord, _ routed: RoutedEvent, _ outcome: Outcome) -> Bool {
        guard content.record.origin == .published, content.returned == nil, content.heldFrom == nil,
            !routed.isRefused
        else { return false }
        switch outcome {
        // An event without a story is its own story, and the duplicate window remembers that it was sent.
        case .accepted, .rejected, .exhausted, .unknown: return routed.event.story != nil
        case .expired: return true
        case .withheld: return routed.event.status == .withheld
        case .undecodable, .unroutable, .duplicate, .superseded, .canceled, .held: return false
        }
    }

    /// True if an event that was published behind this one has overtaken it. Only events that waited for their time are overtaken:
    /// copies from the held topic, originals that it refused, and those under embargo that a former owner could not hold.
    ///
    /// - Parameter isKeptHere: the held topic has just refused it. There a later event would have taken the place of a redriven record too.
    func isOvertaken(
        _ content: ExaminedRecord, _ routed: RoutedEvent, at place: Place, in story: StoryID, isKeptHere: Bool = false
    ) -> Bool {
        guard content.record.origin == .published || isKeptHere && content.heldFrom == nil else { return false }
        if let source = content.heldFrom {
            guard source.partition == partitions[place.slot].id else { return false }
            // A copy that was restored after the held topic had lost the event may come behind a later event that is held.
            let ended = partitions[place.slot].ended
            return ended.hasNewer(than: source.offset, routed.event.version, of: routed.heldKey)
                // A withheld event ends itself, whatever readers its record names.
                || routed.event.isForSomeOfItsStory
                    && ended.hasNewer(
                        than: source.offset, routed.event.version,
                        of: EndedStories.event(routed.event.id, of: routed.orderKey))
                || content.returned == nil && held.hasLater(than: source, of: routed, content.identity)
        }
        guard isKeptHere || routed.event.embargoUntil != nil, content.returned == nil,
            !routed.event.isForSomeOfItsStory
        else { return false }
        let source = partitions.source(of: place)
        return partitions[place.slot].ended.hasNewer(than: source.offset, routed.event.version, of: routed.orderKey)
            || isBehindLater(story, place, routed)
            || held.hasLater(than: source, of: routed, content.identity)
    }

    /// Restores an end from the ledger. The records of open results are read again: see `repeatEnd`.
    mutating func restoreEnd(of entry: LedgerEntry, _ platform: Int, _ slot: Int) {
        guard let story = entry.story, let outcome = entry.outcome, !entry.isOpen else { return }
        // Earlier ends do not affect a held event. Those at later offsets are of a former incarnation of the topic.
        if outcome == .held { return partitions[slot].ended.forget(story, from: entry.source.offset) }
        guard entry.endsOlder else { return }
        let version = entry.eventVersion
        partitions[slot].ended.note(story, at: entry.source.offset, version, as: outcome)
        if outcome == .withheld, let id = entry.eventID {
            partitions[slot].ended.note(
                EndedStories.event(id, of: story), at: entry.source.offset, version, as: outcome, isPart: true)
        }
        if outcome == .withheld, let version {
            partitions[slot].recent.restore(version, ofStory: RecentDeliveries.story(story, platform: platform))
        }
        if held.contains(story) { partitions[slot].uncompared.append(story) }
    }

    /// Applies the end of an event to older events again, because a former run may have crashed before it did. The record
    /// was read at its offset, so its result belongs to this incarnation of the topic.
    mutating func repeatEnd(
        of routed: RoutedEvent, _ content: ExaminedRecord, _ source: ResultRecord.Source, _ outcome: Outcome,
        isGone: Bool, in first: Place, _ turn: inout Turn
    ) {
        let writtenAt = content.record.timestamp
        partitions[first.slot].ended.note(
            routed.orderKey, at: source.offset, writtenAt: writtenAt, routed.event.version, as: outcome)
        takeBackHeld(olderThan: routed, from: source, writtenAt: writtenAt, isGone: isGone, &turn)
        // Most lanes delay nothing, and every record that is read again comes here.
        guard lanes[first.lane].delayed.hasEmbargoes else { return }
        for platform in settings.platforms.indices {
            let story = StoryID(routed.orderKey, platform: platform, lane: first.lane)
            supersedeDelayed(in: story, of: first.lane, by: routed, content, from: source, &turn)
        }
        advanceStories(&turn)
    }

    /// Requests a held event back if an event that was published after it has ended here.
    mutating func takeBackIfEnded(_ story: HeldStory, _ turn: inout Turn) {
        if let version = story.version, hasSeen(newerThan: version, of: story.story) {
            return takeBackHeld(story.story, because: .superseded, &turn)
        }
        for lane in lanes.ids {
            for slot in lanes[lane].slots where partitions[slot].ended.has(story.story) {
                partitions[slot].uncompared.append(story.story)
                takeBackEnded(slot, &turn)
            }
        }
    }

    /// Requests overtaken events back. Waits until it is certain that the ends are of this incarnation and that the partition
    /// is ours: until the first record was read, and until a standstill is over.
    mutating func takeBackEnded(_ slot: Int, _ turn: inout Turn) {
        guard !partitions[slot].uncompared.isEmpty, partitions[slot].isReading, partitions[slot].position != nil,
            standstill == nil
        else { return }
        while let story = partitions[slot].uncompared.popLast() {
            guard let latest = held.latest(of: story, on: partitions[slot].id),
                latest.formerlyWrittenAt.map({
                    partitions[slot].ended.endsFormer(writtenAt: $0, latest.version, of: story)
                })
                    ?? partitions[slot].ended.hasNewer(than: latest.offset, latest.version, of: story)
            else { continue }
            takeBackHeld(story, because: .superseded, &turn)
        }
    }
}

extension StoreRequest {
    /// True if a later event of the story has ended while this one was on its way to the held topic. Its result must not say that
    /// it was held after that end.
    func isOvertaken(by ended: EndedStories) -> Bool {
        guard let ledgerStory else { return false }
        let version = version.flatMap { RoutedEvent.version(ofLedger: $0, story: ledgerStory) }
        return ended.hasNewer(than: result.source.offset, version, of: ledgerStory)
    }
}

extension LedgerEntry {
    var eventVersion: NewsEvent.Version? { version.flatMap { RoutedEvent.version(ofLedger: $0, story: story) } }

    /// True if held events of its story that were published before it must not follow. Versions that left are compared as such: their
    /// offsets may be those of copies.
    var endsOlder: Bool {
        guard story != nil, let outcome else { return false }
        return switch outcome {
        case .withheld, .expired: true
        case .held: false
        default: eventVersion == nil
        }
    }
}
