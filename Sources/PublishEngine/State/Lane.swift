import DequeModule
import HeapModule
import KafkaModel
import NewsModel

/// One lane: the records it has read, the deliveries that are ready to leave, and those that wait for a time.
struct Lane: Sendable {
    let settings: LaneSettings
    /// Records that were read and not examined yet.
    var unexamined: Deque<Unexamined> = []
    var ready = ReadyQueue()
    /// Retries, by the monotonic clock.
    var retries: Heap<Delayed> = []
    /// Deliveries under embargo, by the clock on the wall.
    var embargoed: Heap<Delayed> = []
    /// Deliveries that came to the front and stand before a gate, by when they become too old. In the order of their arrival
    /// they go on.
    var stopped: Heap<Delayed> = []
    private var delayedCount: UInt64 = 0
    var isPaused = false
    /// Editors have stopped it. Unlike a paused one it goes on reading: what it reads may recall a story.
    var isStopped = false
    /// Most of its recent events failed for their own fault: it stopped.
    var flood: Halt?
    var floodGuard: FloodGuard
    /// Some partition may be held for its length: worth a look when records finish.
    var hasHeldPartitions = false
    /// Floor credit earned, in percent of one request; at most 100.
    private(set) var floorCredit = 0
    /// Partitions of the lane's topics, whoever owns them.
    var counts = PartitionCounts()
    /// The slots of the partitions that are ours, in ascending order of topic and partition.
    var slots: [Int] = []
    /// Some of them are finishing a former incarnation.
    var hasFinishingPartitions = false

    /// The last assignment.
    var generation = Generation.none

    // The window: records not stored yet, and credit to read more.
    private(set) var heldRecords = 0
    private(set) var heldBytes = 0
    private var grantedRecords = 0
    private var grantedBytes = 0

    var commit = LaneCommit()
    var assignment = Assignment.confirmed
    /// Partitions are being given up.
    var handover: Handover?

    struct Unexamined: Sendable {
        var id: DeliveryID
        var record: SourceRecord
    }

    struct Delayed: Sendable, Comparable {
        /// When to look again.
        var until: Instant
        /// The delivery does not leave before this; looked at earlier, it can only end.
        var notBefore: Instant
        var order: UInt64
        var id: DeliveryID

        static func < (lhs: Delayed, rhs: Delayed) -> Bool { (lhs.until, lhs.order) < (rhs.until, rhs.order) }
        static func == (lhs: Delayed, rhs: Delayed) -> Bool { lhs.order == rhs.order }
    }

    /// The giving up of a generation's partitions.
    struct Handover: Sendable, Hashable {
        let generation: Generation
        /// The partitions go then, whatever is still under way.
        let deadline: Instant
        /// The last commit was answered, or there was none to make.
        private(set) var isCommitted: Bool

        init(of generation: Generation, by deadline: Instant, isLost: Bool) {
            self.generation = generation
            self.deadline = deadline
            isCommitted = isLost
        }

        mutating func committed() { isCommitted = true }
    }

    /// Records of one partition between its low watermark and the newest: one stuck delivery must not let finished ones
    /// behind it pile up without bound.
    var spanMax: Int { settings.window.records * 2 }

    /// `flood` without a look at its texts.
    var isFlooded: Bool { if case .some = flood { true } else { false } }
    /// Neither paused nor stopped by a flood or an editor.
    var maySend: Bool { !isPaused && !isStopped && !isFlooded }
    /// Its flood may be probed.
    var mayProbe: Bool { !isPaused && !isStopped }
    var delayedCounts: Int { retries.count + embargoed.count + stopped.count }
    /// It has earned a request although a more urgent lane has work.
    var hasFloorDue: Bool { floorCredit >= 100 }

    init(_ settings: LaneSettings, floodGuard: FloodGuard.Settings) {
        self.settings = settings
        self.floodGuard = FloodGuard(floodGuard)
    }

    /// What comes counts anew.
    mutating func endFlood() {
        flood = nil
        floodGuard.reset()
    }

    /// With other settings what comes counts anew, so they end a flood.
    mutating func guardAgainstFlood(_ settings: FloodGuard.Settings) {
        guard settings != floodGuard.settings else { return }
        floodGuard = FloodGuard(settings)
        flood = nil
    }

    mutating func earnFloor() { floorCredit = min(floorCredit + settings.floorPercent, 100) }
    mutating func spendFloor() { floorCredit = max(floorCredit - 100, 0) }

    /// - Parameter until: when to look again, at most `notBefore`; both by the monotonic clock.
    mutating func retry(_ id: DeliveryID, notBefore: Instant, until: Instant) {
        retries.insert(Delayed(until: until, notBefore: notBefore, order: delayedCount, id: id))
        delayedCount += 1
    }

    /// - Parameter until: by the clock on the wall.
    mutating func embargo(_ id: DeliveryID, until: Instant) {
        embargoed.insert(Delayed(until: until, notBefore: until, order: delayedCount, id: id))
        delayedCount += 1
    }

    /// - Parameter until: when it is too old, by the monotonic clock.
    mutating func stop(_ id: DeliveryID, until: Instant) {
        stopped.insert(Delayed(until: until, notBefore: until, order: delayedCount, id: id))
        delayedCount += 1
    }

    /// Takes `records` into the window; `granted` were delivered in all (some may have been stale).
    ///
    /// The last record of a grant may overdraw its bytes: the reader takes that from the next grant, so the granted bytes
    /// may fall below zero here too.
    mutating func received(records: Int, bytes: Int, granted: Int, grantedBytes delivered: Int) {
        grantedRecords -= granted
        grantedBytes -= delivered
        heldRecords += records
        heldBytes += bytes
    }

    /// A record left the window.
    mutating func finished(bytes: Int) {
        heldRecords -= 1
        heldBytes -= bytes
    }

    /// The records and bytes that may be read in addition now; `nil` while they are not worth a message to the reader.
    mutating func grant() -> (records: Int, bytes: Int)? {
        let records = settings.window.records - heldRecords - grantedRecords
        let bytes = settings.window.bytes - heldBytes - grantedBytes
        let worthIt = records >= settings.window.records / 8 || grantedRecords <= 0 || grantedBytes <= 0
        guard records > 0, bytes > 0, worthIt else { return nil }
        grantedRecords += records
        grantedBytes += bytes
        return (records, bytes)
    }
}

extension [Lane] {
    /// Most urgent first.
    var ids: LazyMapSequence<Range<Int>, LaneID> { indices.lazy.map { LaneID($0) } }

    subscript(lane: LaneID) -> Lane {
        // In place: a copy would count the references of all its queues.
        _read { yield self[lane.index] }
        _modify { yield &self[lane.index] }
    }
}
