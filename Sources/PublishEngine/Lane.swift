import DequeModule
import HeapModule
import NewsModel

/// One lane: what it has read, what is ready to leave, what waits for its time.
struct Lane: Sendable {
    let settings: LaneSettings
    /// Records that were read and not examined yet.
    var unexamined: Deque<Unexamined> = []
    /// Deliveries that may leave, oldest first.
    var ready: Deque<DeliveryID> = []
    /// Deliveries that wait for a time: retries and embargoes.
    var parked: Heap<Parked> = []
    private var parkedCount: UInt64 = 0
    var isPaused = false
    /// Some partition may be held for its length: worth a look when records finish.
    var hasHeldPartitions = false
    /// What lower lanes have coming from requests of others, in percent of one request, below 200.
    var floorCredit = 0
    /// Partitions of all the lane's topics, whoever owns them; 0 before it is known.
    var partitionTotal = 0
    /// The slots of the partitions that are ours, in ascending order of topic and partition.
    var slots: [Int] = []

    /// The last assignment.
    var generation = 0

    // The window: records not stored yet, and what may still be read.
    private(set) var heldRecords = 0
    private(set) var heldBytes = 0
    private var grantedRecords = 0
    private var grantedBytes = 0

    // Commits: one under way at a time.
    var commitUnderWay = false
    var isDirty = false
    /// Only time stands between the lane and its next commit.
    var commitIsDue = false
    var commitAt = Instant.distantPast
    /// The generation that is being given up, and until when we wait for what is under way.
    var draining: Draining?

    struct Unexamined: Sendable {
        var id: DeliveryID
        var record: SourceRecord
    }

    struct Parked: Sendable, Comparable {
        var until: Instant
        var order: UInt64
        var id: DeliveryID

        static func < (lhs: Parked, rhs: Parked) -> Bool { (lhs.until, lhs.order) < (rhs.until, rhs.order) }
        static func == (lhs: Parked, rhs: Parked) -> Bool { lhs.order == rhs.order }
    }

    struct Draining: Sendable, Hashable {
        var generation: Int
        var until: Instant
        /// The last commit was tried; its answer releases the partitions.
        var committed = false
    }

    /// Records of one partition between its low watermark and the newest: one stuck delivery must not let finished ones
    /// behind it pile up without bound.
    var spanMax: Int { settings.window.records * 2 }

    init(_ settings: LaneSettings) {
        self.settings = settings
    }

    mutating func park(_ id: DeliveryID, until: Instant) {
        parked.insert(Parked(until: until, order: parkedCount, id: id))
        parkedCount += 1
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
