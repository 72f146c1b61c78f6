import KafkaModel
public import NewsModel

/// Events that stood on the held topic and are gone from it although nobody erased them, because the topic was deleted and made
/// again.
///
/// Everything that was known before a reading is expected by it. What the reading has not shown when it reaches the end has
/// vanished. The owner of an event's source partition writes the original once more to its lane, where it is held again.
struct VanishedEvents: Sendable {
    private var expected = HeldIndex()
    /// Events whose records were asked for and are not on the topic, although nothing that was read says why. Usually another
    /// process has erased them, and the tombstone is still to be read; else the topic has been made again, and the reading does
    /// not know it yet.
    private var unexplained = HeldIndex()
    private var lastUnexplained = Instant.distantPast
    /// The reading has reached the end: what is still expected has vanished.
    private var isOver = false
    /// There may be something to write again.
    private var isDue = false
    private var restoring: [UInt64: Missing] = [:]
    private var lastID: UInt64 = 0
    private var notBefore = Instant.distantPast
    /// Events whose originals are gone too.
    private(set) var lost = 0
    /// Events that were written to their lanes again.
    private(set) var restored = 0

    private struct Missing: Sendable {
        var slot: HeldIndex.Slot
        var story: UInt64
        var partition: Int32
    }

    /// Originals in one pass: they are read together.
    static let passMax = 256
    /// The delay before a failed pass is tried again.
    static let pause = Duration.seconds(5)
    /// Its owner has written it again long before that, or nobody will.
    static let margin = Duration.seconds(600)
    /// Unexplained events that are kept; when there are more, those before them are forgotten.
    static let unexplainedMax = 10_000

    var isEmpty: Bool { expected.count == 0 }
    /// What is missed may be written again soon.
    var isBusy: Bool { !isEmpty && (!isOver || isDue || !restoring.isEmpty) }
    var wakeAt: Instant? { isOver && isDue && restoring.isEmpty && !isEmpty ? notBefore : nil }

    /// The topic is read from its beginning: all of this is expected.
    mutating func expect(_ index: HeldIndex) {
        isOver = false
        if isEmpty, restoring.isEmpty { expected = index } else { for slot in index.slots { expect(index[slot]) } }
        for slot in unexplained.slots { expect(unexplained[slot]) }
        unexplained = HeldIndex()
    }

    /// The same for one partition.
    mutating func expect(_ index: HeldIndex, in partition: Int32) {
        isOver = false
        for slot in index.slots where index[slot].place.partition == partition { expect(index[slot]) }
        for slot in unexplained.slots where unexplained[slot].place.partition == partition {
            expect(unexplained[slot])
        }
        unexplained.removeAll(in: partition)
    }

    /// The entry's record is not on the topic: what follows on the topic explains it, or the topic begins anew.
    mutating func notFound(_ entry: HeldIndex.Entry, at now: Instant) {
        if lastUnexplained + Self.margin < now || unexplained.count >= Self.unexplainedMax { unexplained = HeldIndex() }
        lastUnexplained = now
        _ = unexplained.insert(entry, since: nil)
    }

    private mutating func expect(_ entry: HeldIndex.Entry) {
        // What was returned is on its lane; only its tombstone is missing.
        guard entry.state != .returned else { return }
        if let known = expected.find(entry.story, entry.place.partition) { expected.remove(known) }
        _ = expected.insert(entry, since: nil)
    }

    /// The topic shows the story in the partition: it holds the event, or says that it was erased.
    mutating func found(_ story: UInt64, in partition: Int32) {
        if let slot = unexplained.find(story, partition) { unexplained.remove(slot) }
        if let slot = expected.find(story, partition) { expected.remove(slot) }
    }

    /// Ownership has changed, or the reading has reached the end.
    mutating func look() { isDue = true }

    /// The originals to be written again now.
    ///
    /// - Parameters:
    ///   - isComplete: the topic was read to its end.
    ///   - clock: the time by which events are due.
    mutating func next(
        isComplete: Bool, _ sources: HeldSources, clock: Instant, at now: Instant
    ) -> [HeldDesk.Restore] {
        guard !isEmpty else { return [] }
        if isComplete, !isOver { (isOver, isDue) = (true, true) }
        guard isOver, isComplete, isDue, restoring.isEmpty, now >= notBefore else { return [] }
        var restores: [HeldDesk.Restore] = []
        for slot in expected.slots {
            let entry = expected[slot]
            guard entry.state != .returned else {
                expected.remove(slot)
                continue
            }
            guard sources.isOurs(entry.source) else {
                // Its owner has the same to do. Should it not know the event, we may become its owner in time.
                if entry.release + Self.margin <= clock { expected.remove(slot) }
                continue
            }
            // A partition that is no more has taken its records with it.
            guard let original = entry.original, let partition = sources.partition(of: entry.source),
                sources.otherTarget(of: entry.source) == nil
            else {
                lost += 1
                expected.remove(slot)
                continue
            }
            guard restores.count < Self.passMax else { return restores }
            lastID += 1
            restoring[lastID] = Missing(slot: slot, story: entry.story, partition: entry.place.partition)
            restores.append(HeldDesk.Restore(id: lastID, partition: partition, original: original))
        }
        isDue = false
        return restores
    }

    mutating func ended(_ ending: HeldDesk.RestoreEnding, at now: Instant) {
        guard let missing = restoring.removeValue(forKey: ending.id) else { return }
        switch ending {
        case .restored: restored += 1
        case .gone: lost += 1
        case .failed:
            (isDue, notBefore) = (true, now + Self.pause)
            return
        }
        // The topic may have shown it meanwhile.
        if let slot = expected.find(missing.story, missing.partition), slot == missing.slot { expected.remove(slot) }
    }
}

extension HeldDesk {
    /// An original to be written to its lane once more.
    public struct Restore: Sendable, Hashable {
        public var id: UInt64
        /// The source partition on which the original stands.
        public var partition: TopicPartition
        public var original: HeldOriginal
    }

    /// The end of a `Restore`.
    public enum RestoreEnding: Sendable, Hashable {
        case restored(UInt64)
        /// The source topic does not have the original any more.
        case gone(UInt64)
        /// A topic or a broker was away; the desk tries again.
        case failed(UInt64)

        public var id: UInt64 {
            switch self {
            case .restored(let id), .gone(let id), .failed(let id): id
            }
        }
    }

    /// Events are missed on the held topic, and some may be written to their lanes again.
    package var isRestoring: Bool { vanishedEvents.isBusy }

    /// Events that vanished from the held topic: those written to their lanes again, and those whose originals are gone too.
    public var vanished: (restored: Int, lost: Int) { (vanishedEvents.restored, vanishedEvents.lost) }
}
