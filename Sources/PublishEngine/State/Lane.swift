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
    /// Deliveries set aside before a gate, by the time when they become too old. They continue in the order of their
    /// arrival.
    var stopped: Heap<Delayed> = []
    private var delayedCount: UInt64 = 0
    var isPaused = false
    /// Editors have stopped the lane. Unlike a paused lane it keeps reading, because a record may recall a story.
    var isStopped = false
    /// The flood that has stopped the lane: most of its recent events failed for their own fault.
    var flood: Halt?
    var floodGuard: FloodGuard
    /// Some partition may be paused for its length; checked when records finish.
    var hasHeldPartitions = false
    /// Floor credit earned, in percent of one request; at most 100.
    private(set) var floorCredit = 0
    /// Partitions of the lane's topics, of all owners.
    var counts = PartitionCounts()
    /// The slots of the partitions that are ours, in ascending order of topic and partition.
    var slots: [Int] = []
    /// Some of the slots are finishing a former incarnation.
    var hasFinishingPartitions = false

    /// The generation of the last assignment.
    var generation = Generation.none

    // The window: records not stored yet, and credit to read more.
    private(set) var heldRecords = 0
    private(set) var heldBytes = 0
    private var grantedRecords = 0
    private var grantedBytes = 0

    var commit = LaneCommit()
    var assignment = Assignment.confirmed
    /// The release of revoked partitions.
    var handover: Handover?

    struct Unexamined: Sendable {
        var id: DeliveryID
        var record: SourceRecord
    }

    struct Delayed: Sendable, Comparable {
        /// The time of the next check.
        var until: Instant
        /// The delivery does not leave before this time; at an earlier check it can only end.
        var notBefore: Instant
        var order: UInt64
        var id: DeliveryID

        static func < (lhs: Delayed, rhs: Delayed) -> Bool { (lhs.until, lhs.order) < (rhs.until, rhs.order) }
        static func == (lhs: Delayed, rhs: Delayed) -> Bool { lhs.order == rhs.order }
    }

    /// The release of a generation's partitions after a revoke.
    struct Handover: Sendable, Hashable {
        let generation: Generation
        /// The partitions are released then, even with work in flight.
        let deadline: Instant
        /// The last commit was answered, or none was needed.
        private(set) var isCommitted: Bool

        init(of generation: Generation, by deadline: Instant, isLost: Bool) {
            self.generation = generation
            self.deadline = deadline
            isCommitted = isLost
        }

        mutating func committed() { isCommitted = true }
    }

    /// Maximum records of one partition above its low watermark, because one stuck delivery must not let finished
    /// records accumulate without bound.
    var spanMax: Int { settings.window.records * 2 }

    /// True if `flood` is set; does not copy its texts.
    var isFlooded: Bool { if case .some = flood { true } else { false } }
    /// Neither paused nor stopped by a flood or an editor.
    var maySend: Bool { !isPaused && !isStopped && !isFlooded }
    /// Its flood may be probed.
    var mayProbe: Bool { !isPaused && !isStopped }
    var delayedCounts: Int { retries.count + embargoed.count + stopped.count }
    /// The lane has earned a request although a more urgent lane has work.
    var hasFloorDue: Bool { floorCredit >= 100 }

    init(_ settings: LaneSettings, floodGuard: FloodGuard.Settings) {
        self.settings = settings
        self.floodGuard = FloodGuard(floodGuard)
    }

    /// Ends the flood and restarts the count.
    mutating func endFlood() {
        flood = nil
        floodGuard.reset()
    }

    /// Applies new settings. If they differ, they restart the count and so end a flood.
    mutating func guardAgainstFlood(_ settings: FloodGuard.Settings) {
        guard settings != floodGuard.settings else { return }
        floodGuard = FloodGuard(settings)
        flood = nil
    }

    mutating func earnFloor() { floorCredit = min(floorCredit + settings.floorPercent, 100) }
    mutating func spendFloor() { floorCredit = max(floorCredit - 100, 0) }

    /// - Parameter until: the time of the next check, at most `notBefore`; both by the monotonic clock.
    mutating func retry(_ id: DeliveryID, notBefore: Instant, until: Instant) {
        retries.insert(Delayed(until: until, notBefore: notBefore, order: delayedCount, id: id))
        delayedCount += 1
    }

    /// - Parameter until: the end by the wall clock.
    mutating func embargo(_ id: DeliveryID, until: Instant) {
        embargoed.insert(Delayed(until: until, notBefore: until, order: delayedCount, id: id))
        delayedCount += 1
    }

    /// - Parameter until: the time when it becomes too old, by the monotonic clock.
    mutating func stop(_ id: DeliveryID, until: Instant) {
        stopped.insert(Delayed(until: until, notBefore: until, order: delayedCount, id: id))
        delayedCount += 1
    }

    /// Adds `records` to the window; `granted` were delivered in all, some of them perhaps stale.
    ///
    /// The last record of a grant may exceed its bytes. The reader subtracts the excess from the next grant, so the
    /// granted bytes may fall below zero here too.
    mutating func received(records: Int, bytes: Int, granted: Int, grantedBytes delivered: Int) {
        grantedRecords -= granted
        grantedBytes -= delivered
        heldRecords += records
        heldBytes += bytes
    }

    /// Removes a record from the window.
    mutating func finished(bytes: Int) {
        heldRecords -= 1
        heldBytes -= bytes
    }

    /// The additional records and bytes that may be read now; `nil` while too few for a message to the reader.
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
    /// The lanes' ids, most urgent first.
    var ids: LazyMapSequence<Range<Int>, LaneID> { indices.lazy.map { LaneID($0) } }

    subscript(lane: LaneID) -> Lane {
        // Mutates in place, because a copy would retain all its queues.
        _read { yield self[lane.index] }
        _modify { yield &self[lane.index] }
    }
}
