import DequeModule
import NewsModel
import NotificationHub

/// One source partition that is ours: its records from the low watermark up, and what is known of each delivery.
struct Partition: Sendable {
    let id: TopicPartition
    let lane: Int
    let generation: Int
    let incarnation: UInt8
    /// Deliveries a record has: one per platform of the settings.
    private let platformCount: Int

    var phase = Phase.restoring
    /// Records that are not yet done, and done ones behind them, in the order they were read.
    private(set) var entries: Deque<Entry> = []
    private var deliveries: Deque<DeliveryState> = []
    /// The sequence of the first entry.
    private(set) var base: UInt32 = 0
    /// Everything below was read: one past the last record, or the end where gaps are.
    private(set) var position: Int64?
    /// The low watermark last given to be committed.
    var committed: Int64?
    /// One past the highest result offset known in our results partition.
    var resultsEnd: Int64 = 0
    /// Requests under way.
    var inFlight = 0
    /// Deliveries settled whose results are not acknowledged.
    var unstored = 0
    var isHeld = true
    /// What the ledger says of records not read again yet.
    var restored: [Int64: Restored] = [:]
    var recent: RecentDeliveries

    enum Phase: Sendable, Hashable {
        /// The slot awaits its next partition.
        case free
        /// The ledger is being read; nothing may be sent.
        case restoring
        case active
        /// Being given up: nothing new is sent, what is under way is awaited.
        case draining
    }

    /// Deliveries of one record that the ledger knows as settled.
    struct Restored: Sendable {
        var platforms: UInt16
        var firstResult: Int64
    }

    /// One record.
    struct Entry: Sendable {
        let offset: Int64
        /// `nil` before it was examined, and again once every delivery has its outcome.
        var content: Content?
        let byteCount: Int
        let readAt: Instant
        /// When the record was written to its topic: ages and latencies count from here.
        let writtenAt: Instant
        /// Deliveries without an outcome.
        var unsettled: UInt8
        /// Deliveries whose result is not acknowledged yet.
        var open: UInt8
        /// The smallest offset among its acknowledged results; `Int64.max` for none.
        var firstResult = Int64.max
    }

    init(id: TopicPartition, lane: Int, generation: Int, incarnation: UInt8, platformCount: Int, duplicateWindow: Int) {
        self.id = id
        self.lane = lane
        self.generation = generation
        self.incarnation = incarnation
        self.platformCount = platformCount
        recent = RecentDeliveries(capacity: duplicateWindow)
    }

    /// An empty slot that remembers its last incarnation.
    static func free(after incarnation: UInt8) -> Partition {
        var slot = Partition(
            id: TopicPartition(topic: "", partition: -1), lane: 0, generation: -1, incarnation: incarnation,
            platformCount: 1, duplicateWindow: 0)
        slot.phase = .free
        return slot
    }

    /// Nothing is under way: no reply and no acknowledgement is awaited.
    var isQuiet: Bool { inFlight == 0 && unstored == 0 }

    // MARK: Records

    /// Takes in a record; `nil` when it was read before (offsets only rise).
    mutating func append(_ record: SourceRecord, at now: Instant) -> UInt32? {
        guard record.offset >= position ?? .min, record.offset < .max else { return nil }
        position = record.offset + 1
        let sequence = base &+ UInt32(truncatingIfNeeded: entries.count)
        entries.append(
            Entry(
                offset: record.offset, content: nil, byteCount: record.byteCount, readAt: now,
                writtenAt: record.timestamp.map { min($0, now) } ?? now, unsettled: UInt8(platformCount),
                open: UInt8(platformCount)))
        for _ in 0..<platformCount { deliveries.append(DeliveryState()) }
        return sequence
    }

    mutating func reachedEnd(_ offset: Int64) {
        position = max(position ?? .min, offset)
    }

    /// The index of a sequence, unless its record is done and gone.
    func index(of sequence: UInt32) -> Int? {
        let index = Int(sequence &- base)
        return index < entries.count ? index : nil
    }

    subscript(entry index: Int) -> Entry {
        get { entries[index] }
        _modify { yield &entries[index] }
    }

    subscript(delivery index: Int, platform: Int) -> DeliveryState {
        get { deliveries[index * platformCount + platform] }
        _modify { yield &deliveries[index * platformCount + platform] }
    }

    func sequence(at index: Int) -> UInt32 { base &+ UInt32(truncatingIfNeeded: index) }

    /// Forgets finished records at the front, so that the low watermark rises.
    mutating func advance() {
        // In place: a copy would count its content's reference.
        while !entries.isEmpty, entries[0].open == 0 {
            entries.removeFirst()
            deliveries.removeFirst(platformCount)
            base &+= 1
        }
    }

    // MARK: Commits

    /// W: every record below has all its results acknowledged. `nil` before anything was read.
    var lowWatermark: Int64? { entries.first?.offset ?? position }

    /// L for this partition: no result for a record at or above W stands below it.
    var ledgerStart: Int64 {
        var start = resultsEnd
        for entry in entries where entry.firstResult < start { start = entry.firstResult }
        for settled in restored.values where settled.firstResult < start { start = settled.firstResult }
        return start
    }
}

/// Where one delivery stands.
struct DeliveryState: Sendable {
    var phase = Phase.unread
    /// Requests put on the wire.
    var attempts: UInt16 = 0
    /// Attempts that count against the bound.
    var charged: UInt16 = 0
    /// Attempts whose acceptance is unknown.
    var unknowns: UInt16 = 0
    /// Acknowledgements its result still waits for: result and dead letter.
    var acknowledgements: UInt8 = 0
    /// Its story's line.
    var line: UInt64 = 0
    var firstSentAt: Instant?
    var hubTime: Duration?

    enum Phase: UInt8, Sendable {
        /// Its record was not examined yet.
        case unread
        /// Behind another delivery of its story.
        case waiting
        /// In the lane's queue.
        case ready
        /// Holds its story's line until a time: a retry, or an embargo.
        case parked
        case flying
        /// Has its outcome; the result is not acknowledged.
        case settled
        /// Done, or not asked for.
        case stored
    }

    var isQueued: Bool { phase == .waiting || phase == .ready || phase == .parked }
}

/// What a record says, once examined. Immutable, so copies of the engine may share it.
final class Content: Sendable {
    let record: SourceRecord
    /// `nil` when the record could not be read far enough.
    let eventID: String?
    /// `nil` when the record holds no event.
    let news: News?
    /// Past this it is not sent.
    let deadline: Instant
    /// What phones are told: the event's own expiry, or its lane's.
    let expiresAt: Instant?

    init(
        record: SourceRecord, eventID: String?, news: News? = nil, deadline: Instant = .distantFuture,
        expiresAt: Instant? = nil
    ) {
        self.record = record
        self.eventID = eventID
        self.news = news
        self.deadline = deadline
        self.expiresAt = expiresAt
    }
}

/// An event and where it goes. An object, because handing on the event itself would count references for each of its
/// texts, and that on every step of its way.
final class News: Sendable {
    let event: NewsEvent
    /// `nil` when it belongs to no category.
    let routing: Routing.Tagged?
    /// Who read it, and builds its requests.
    let desk: Desk

    init(_ event: consuming NewsEvent, _ routing: Routing, read desk: Desk) {
        self.event = event
        self.desk = desk
        self.routing = if case .tagged(let tagged) = routing { tagged } else { nil }
    }

    /// `nil` when it belongs to no category.
    func request(on platform: Platform, lane: Int, since: Instant, expiresAt: Instant?) -> SendRequest? {
        guard let routing else { return nil }
        return desk.builder.build(
            event, routing: routing, platform: platform, lane: lane, since: since, expiresAt: expiresAt)
    }
}
