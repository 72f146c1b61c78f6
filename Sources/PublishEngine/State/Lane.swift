import DequeModule
import HeapModule
import KafkaModel
import NewsModel

/// One lane: what it has read, what is ready to leave, what waits for its time.
struct Lane: Sendable {
    let settings: LaneSettings
    /// Records that were read and not examined yet.
    var unexamined: Deque<Unexamined> = []
    /// Deliveries that may leave, oldest first.
    var ready: Deque<DeliveryID> = []
    /// Retries, by the monotonic clock.
    var retries: Heap<Delayed> = []
    /// Deliveries under embargo, by the clock on the wall.
    var embargoed: Heap<Delayed> = []
    private var delayedCount: UInt64 = 0
    var isPaused = false
    /// Most of its recent events failed for their own fault: it stopped.
    var flood: Halt?
    var floodGuard: FloodGuard
    /// The request that finds out whether the flood is over.
    var floodProbe: RequestID?
    /// Some partition may be held for its length: worth a look when records finish.
    var hasHeldPartitions = false
    /// Floor credit earned, in percent of one request; below 200.
    var floorCredit = 0
    /// Partitions of the lane's topics, whoever owns them.
    var counts = PartitionCounts()
    /// The slots of the partitions that are ours, in ascending order of topic and partition.
    var slots: [Int] = []
    /// Some of them are finishing a former incarnation.
    var hasFinishingPartitions = false

    /// The last assignment.
    var generation = Generation.none

    // The window: records not stored yet, and what may still be read.
    private(set) var heldRecords = 0
    private(set) var heldBytes = 0
    private var grantedRecords = 0
    private var grantedBytes = 0

    var commit = LaneCommit()
    /// The generation that is being given up, and until when we wait for what is under way.
    var draining: Draining?

    struct Unexamined: Sendable {
        var id: DeliveryID
        var record: SourceRecord
    }

    struct Delayed: Sendable, Comparable {
        /// When to look again.
        var until: Instant
        /// It does not leave before; earlier than this it only ends.
        var notBefore: Instant
        var order: UInt64
        var id: DeliveryID

        static func < (lhs: Delayed, rhs: Delayed) -> Bool { (lhs.until, lhs.order) < (rhs.until, rhs.order) }
        static func == (lhs: Delayed, rhs: Delayed) -> Bool { lhs.order == rhs.order }
    }

    struct Draining: Sendable, Hashable {
        var generation: Generation
        var until: Instant
        /// The last commit was tried; its answer releases the partitions.
        var committed = false
    }

    /// Records of one partition between its low watermark and the newest: one stuck delivery must not let finished ones
    /// behind it pile up without bound.
    var spanMax: Int { settings.window.records * 2 }

    init(_ settings: LaneSettings, floodGuard: FloodGuard.Settings) {
        self.settings = settings
        self.floodGuard = FloodGuard(floodGuard)
    }

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

    /// Takes `records` into the window; `granted` were delivered in all (some may have been stale).
    ///
    /// The last record of a grant may overdraw its bytes: the reader takes that from the next grant, so here too what
    /// is granted may fall below zero.
    mutating func received(records: Int, bytes: Int, granted: Int, grantedBytes delivered: Int) {
        grantedRecords -= granted
        grantedBytes -= delivered
        heldRecords += records
        heldBytes += bytes
    }

    mutating func finished(bytes: Int) {
        heldRecords -= 1
        heldBytes -= bytes
    }

    /// How much more may be read now; `nil` while it is not worth a message to the reader.
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
    subscript(lane: LaneID) -> Lane {
        get { self[lane.index] }
        _modify { yield &self[lane.index] }
    }
}

/// When a lane commits, and what it committed: one commit under way at a time.
struct LaneCommit: Sendable {
    var isUnderWay = false
    /// Something moved since the last one.
    var isDirty = false
    /// Only time stands between the lane and its next commit.
    var isDue = false
    var notBefore = Instant.distantPast
    /// Everything is committed anew then although nothing moved: brokers forget offsets of topics a group does not
    /// read (KIP-211), L among them.
    var renewAt = Instant.distantFuture
    /// L as last committed, by results partition.
    var ledger: [Int32: Int64] = [:]
    /// Commits that failed in a row, since when and why.
    var failures = 0
    var failingSince: Instant?
    var failure: KafkaFailure?

    static let renewInterval = Duration.seconds(12 * 3600)
    static let longestRest = Duration.seconds(5)
    /// An idle lane moves its L along when other lanes' results have gone so far ahead.
    static let ledgerStep: Int64 = 2048

    mutating func begin(at now: Instant, interval: Duration) {
        isUnderWay = true
        notBefore = now + interval
    }

    mutating func succeeded() {
        isUnderWay = false
        failures = 0
        failingSince = nil
        failure = nil
    }

    mutating func failed(_ failure: KafkaFailure, at now: Instant, interval: Duration) {
        isUnderWay = false
        failingSince = failingSince ?? now
        self.failure = failure
        failures += 1
        var rest = interval
        for _ in 0..<min(failures - 1, 10) { rest = min(rest * 2, max(Self.longestRest, interval)) }
        notBefore = now + rest
    }
}

/// How many partitions each topic of a lane has, as far as we know.
struct PartitionCounts: Sendable {
    private(set) var byTopic: [String: Int] = [:]
    /// Read since the last assignment: only then our part of the whole is known.
    private(set) var isFresh = false

    /// Since when the topics differ in length, or the counts are not known anew; by the monotonic clock.
    private(set) var unequalSince: Instant?
    private(set) var assignedAt = Instant.distantPast

    mutating func assigned(at now: Instant) {
        isFresh = false
        assignedAt = now
    }

    /// Counts of topics that are gone for the moment stay; and until the next assignment a topic does not shrink, as others
    /// may still hold partitions that are no more.
    mutating func learn(_ counts: [String: Int], of topics: [String], isFresh: Bool, at now: Instant) {
        for topic in topics {
            guard let count = counts[topic] else { continue }
            byTopic[topic] = isFresh && !self.isFresh ? count : max(byTopic[topic] ?? 0, count)
        }
        if isFresh { self.isFresh = true }
        unequalSince = areEqual ? nil : unequalSince ?? now
    }

    var total: Int { byTopic.values.reduce(0, +) }

    /// All topics of a lane have the same count: partition p of all of them belongs to one member.
    var areEqual: Bool { Set(byTopic.values).count <= 1 }
}
