public import NewsModel

/// Events that disappeared from the held topic without a tombstone, because the topic was deleted and recreated, or its records were
/// removed.
///
/// A reading expects every event known before it. Events still missing at its end have vanished. The owner of the source
/// partition then writes the original to its lane again, where it is held again. An owner that was restarted before it could
/// do so knows nothing of the event. After `ownersTurn`, the other processes therefore write what is still missing, one after the
/// other, so that most copies are written once. A tombstone then tells the others that the event is on its lane, because it may be
/// sent at once and never be held again. Engines report a second copy as a duplicate.
struct VanishedEvents: Sendable {
    private var expected = HeldIndex()
    /// Events whose requested records are not on the topic, for a reason that was not read yet. Usually, another process has
    /// deleted them and its tombstone is unread. Otherwise the topic was recreated and the reading has not noticed it, or the records
    /// were removed, e.g. by `kafka-delete-records`.
    private var unexplained = HeldIndex()
    /// The refresh of the topic's ends before which every tombstone of an unexplained event was written.
    private var explainedBefore = 0
    /// True after the reading has reached the end. Events still expected then have vanished.
    private var isOver = false
    private var overAt = Instant.distantPast
    /// True if there may be events to write again.
    private var isDue = false
    private var restoring: [UInt64: Missing] = [:]
    /// Stories that this process wrote to their lanes again, until a record of them is read.
    private var unread: Set<UInt64> = []
    /// Events that this process wrote to their lanes again, until their tombstones are read.
    private var ended: [HeldState.Vanished] = []
    private var erasesAt = Instant.distantPast
    private var lastID: UInt64 = 0
    private var notBefore = Instant.distantPast
    /// Time at which this process writes the missing events of other owners.
    private var takesOverAt = Instant.distantFuture
    /// Number of events whose originals are gone too.
    private(set) var lost = 0
    /// Number of events that were written to their lanes again.
    private(set) var restored = 0

    private struct Missing: Sendable {
        var slot: HeldIndex.Slot
        var story: UInt64
        var partition: Int32
        var isOurs: Bool
    }

    /// Originals in one pass, which reads them together.
    static let passMax = 256
    /// Delay before a failed pass is retried.
    static let pause = Duration.seconds(5)
    /// Time after the end of the reading that an owner has for writing its events.
    static let ownersTurn = Duration.seconds(30)
    /// Time after which the next of the other processes writes what is still missing.
    static let othersTurn = Duration.seconds(10)
    /// Time after which unread tombstones are written again.
    static let repeatsAfter = Duration.seconds(30)
    /// Limit of unexplained events. When it is reached, all earlier ones are forgotten.
    static let unexplainedMax = 10_000

    var isEmpty: Bool { expected.count == 0 }
    /// True if missing events may be written again soon.
    var isBusy: Bool { !isEmpty }
    var wakeAt: Instant? {
        let next = isOver && restoring.isEmpty && !isEmpty ? isDue ? notBefore : takesOverAt : nil
        return ended.isEmpty ? next : min(next ?? erasesAt, erasesAt)
    }

    /// Expects all of these events, because reading starts at the beginning of the topic.
    mutating func expect(_ index: HeldIndex) {
        isOver = false
        if isEmpty, restoring.isEmpty { expected = index } else { for slot in index.slots { expect(index[slot]) } }
        for slot in unexplained.slots { expect(unexplained[slot]) }
        unexplained = HeldIndex()
    }

    mutating func expect(_ index: HeldIndex, in partition: Int32) {
        isOver = false
        for slot in index.slots(in: partition) { expect(index[slot]) }
        for slot in unexplained.slots(in: partition) { expect(unexplained[slot]) }
        unexplained.removeAll(in: partition)
    }

    /// Handles an entry whose record is not on the topic.
    ///
    /// - Parameter look: a refresh of the topic's ends that begins now.
    mutating func notFound(_ entry: HeldIndex.Entry, look: Int) {
        explainedBefore = look
        if unexplained.count >= Self.unexplainedMax { unexplained = HeldIndex() }
        _ = unexplained.insert(entry, since: nil)
    }

    /// Expects the unexplained events of partitions that were read far enough to explain them: their records were removed.
    mutating func endExplaining(_ reach: HeldReach) {
        guard unexplained.count > 0 else { return }
        for slot in unexplained.slots {
            let entry = unexplained[slot]
            guard
                reach.hasReached(explainedBefore, in: entry.place.partition) || reach.hasLost(entry.place.partition),
                // The event that took its place is written again first.
                expected.find(entry.story, entry.place.partition) == nil
            else { continue }
            isOver = false
            expect(entry)
            unexplained.remove(slot)
        }
    }

    private mutating func expect(_ entry: HeldIndex.Entry) {
        // A returned event is on its lane; only its tombstone is missing.
        guard entry.state != .returned else { return }
        if let known = expected.find(entry.story, entry.place.partition) { expected.remove(known) }
        _ = expected.insert(entry, since: nil)
    }

    /// Returns true if the event was known before the topic was recreated, and no record of it was read since.
    func expects(_ story: UInt64, in partition: Int32) -> Bool {
        expected.find(story, partition) != nil || unread.contains(story)
    }

    /// Handles a record of the story in the partition: the topic holds the event or its tombstone.
    ///
    /// - Parameter original: of the event that a tombstone erases, which may be an earlier one; `nil` for other records.
    mutating func found(_ story: UInt64, in partition: Int32, erasing original: HeldOriginal? = nil) {
        unread.remove(story)
        if let slot = unexplained.find(story, partition), unexplained[slot].original.mayBe(original) {
            unexplained.remove(slot)
        }
        if let slot = expected.find(story, partition), expected[slot].original.mayBe(original) { expected.remove(slot) }
    }

    /// Handles the tombstone of a vanished event: a process has written it to its lane again.
    mutating func end(_ event: HeldState.Vanished) {
        ended.removeAll { $0 == event }
        let partition = event.place.partition
        if let slot = unexplained.find(event.story, partition), unexplained[slot].original == event.original {
            unexplained.remove(slot)
        }
        guard let slot = expected.find(event.story, partition), expected[slot].original == event.original else {
            return
        }
        expected.remove(slot)
        unread.insert(event.story)
    }

    /// Returns the events whose tombstones are to be written now. Without its partition, a tombstone has no place.
    mutating func erasures(_ reach: HeldReach, at now: Instant) -> [HeldState.Vanished] {
        guard !ended.isEmpty, reach.isCaughtUp, now >= erasesAt else { return [] }
        ended.removeAll { reach.hasLost($0.place.partition) }
        erasesAt = now + Self.repeatsAfter
        return Array(ended.prefix(Self.passMax))
    }

    /// Counts events that this process never knew.
    mutating func lose(_ count: Int) { lost += count }

    /// Requests another pass, after a change of ownership or at the end of the reading.
    mutating func look() { isDue = true }

    /// Returns the originals to write again now.
    ///
    /// - Parameter isComplete: true if the topic was read to its end.
    mutating func next(isComplete: Bool, _ sources: HeldSources, at now: Instant) -> [HeldState.Restore] {
        guard !isEmpty else { return [] }
        if isComplete, !isOver { (isOver, overAt, isDue) = (true, now, true) }
        takesOverAt = overAt + Self.ownersTurn + Self.othersTurn * sources.rank
        if now >= takesOverAt { isDue = true }
        guard isOver, isComplete, isDue, restoring.isEmpty, now >= notBefore else { return [] }
        var restores: [HeldState.Restore] = []
        for slot in expected.slots {
            let entry = expected[slot]
            guard entry.state != .returned else {
                expected.remove(slot)
                continue
            }
            let isOurs = sources.isOurs(entry.source)
            guard isOurs || now >= takesOverAt else { continue }
            // A deleted partition has taken its records with it.
            guard let original = entry.original, let partition = sources.partition(of: entry.source),
                sources.otherTarget(of: entry.source) == nil
            else {
                if isOurs { lost += 1 }
                expected.remove(slot)
                continue
            }
            guard restores.count < Self.passMax else { return restores }
            lastID += 1
            restoring[lastID] = Missing(
                slot: slot, story: entry.story, partition: entry.place.partition, isOurs: isOurs)
            restores.append(HeldState.Restore(id: lastID, partition: partition, original: original))
        }
        isDue = false
        return restores
    }

    mutating func ended(_ ending: HeldState.RestoreEnding, at now: Instant) {
        guard let missing = restoring.removeValue(forKey: ending.id) else { return }
        switch ending {
        case .restored:
            restored += 1
            // Its reading may have shown the event meanwhile.
            guard expected.find(missing.story, missing.partition) == missing.slot else { break }
            unread.insert(missing.story)
            guard let original = expected[missing.slot].original else { break }
            let place = expected[missing.slot].place
            ended.append(HeldState.Vanished(story: missing.story, place: place, original: original))
            erasesAt = min(erasesAt, now)
        case .gone: if missing.isOurs { lost += 1 }
        case .failed:
            (isDue, notBefore) = (true, now + Self.pause)
            return
        }
        // The topic may have shown the event meanwhile.
        if let slot = expected.find(missing.story, missing.partition), slot == missing.slot { expected.remove(slot) }
    }
}

extension HeldState {
    mutating func restoreVanished(_ now: Instant, _ actions: inout [Action]) {
        vanishedEvents.lose(former.finishReading(reach, at: now))
        vanishedEvents.endExplaining(reach)
        let restores = vanishedEvents.next(isComplete: reach.isCaughtUp, sources, at: now)
        if !restores.isEmpty { actions.append(.restore(restores)) }
        let erasures = vanishedEvents.erasures(reach, at: now)
        if !erasures.isEmpty { actions.append(.eraseVanished(erasures)) }
    }

    /// Forgets a vanished event that is on its lane again. The topic may hold the same event again at another place.
    mutating func endVanished(_ event: Vanished) {
        vanishedEvents.end(event)
        guard let slot = index.find(event.story, event.place.partition), index[slot].place == event.place,
            index[slot].original == event.original
        else { return }
        index.remove(slot)
    }

    /// An original to write to its lane again.
    public struct Restore: Sendable, Hashable {
        public var id: UInt64
        /// The source partition of the original.
        public var partition: TopicPartition
        public var original: HeldOriginal
    }

    public enum RestoreEnding: Sendable, Hashable {
        case restored(UInt64)
        /// The source topic no longer has the original.
        case gone(UInt64)
        /// A topic or a broker was unavailable. `HeldState` retries.
        case failed(UInt64)

        public var id: UInt64 {
            switch self {
            case .restored(let id), .gone(let id), .failed(let id): id
            }
        }
    }

    /// Expects the events that lost their place in a partition that the topic no longer has, because it was recreated with fewer.
    mutating func expectDisplaced(at now: Instant) {
        for (place, entry) in displaced where reach.hasLost(place.partition) {
            displaced[place] = nil
            notFound(entry, now)
        }
    }

    /// True if events are missing on the held topic and some may be written to their lanes again.
    package var isRestoring: Bool { vanishedEvents.isBusy || isCountingLost }

    /// Number of events that vanished from the held topic: those written to their lanes again, and those without an original.
    public var vanished: (restored: Int, lost: Int) { (vanishedEvents.restored, vanishedEvents.lost) }
}
