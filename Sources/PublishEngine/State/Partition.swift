import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

/// One source partition that is ours: its records from the low watermark up, and what is known of each delivery.
struct Partition: Sendable {
    let id: TopicPartition
    let lane: LaneID
    let generation: Generation
    /// How often its slot was used before, modulo 128.
    let occupancy: UInt8
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
    /// The first results of records that are finished, but may still stand above the watermark that the broker has: it may
    /// refuse the watermark and take L. Of those since the last commit was given, and of those that it covers.
    private var uncommitted = Int64.max
    private var underCommit = Int64.max
    /// Requests under way.
    var inFlight = 0
    /// Deliveries settled whose results are not acknowledged.
    var unstored = 0
    /// When the last of them was acknowledged, or the first of them settled.
    var storedAt = Instant.distantPast
    var isHeld = true
    /// The end of its results partition as its own reading of the ledger saw it; `nil` before.
    private(set) var restoredEnd: Int64?
    /// Since when its ledger is being read, and why it could not be read at the last try.
    var restoringSince = Instant.distantPast
    var restoreFailure: KafkaFailure?
    /// What the ledger says of records not read again yet.
    private(set) var restored: [RestoredRecord: Restored] = [:]
    /// Its offsets name records of the incarnation that is there now.
    var isCommitting = true
    var recent: RecentDeliveries

    enum Phase: Sendable, Hashable {
        /// The slot awaits its next partition.
        case free
        /// The ledger is being read; nothing may be sent.
        case restoring
        case active
        /// Its offsets start again. What was read of the former incarnation is finished, and nothing is committed; then
        /// `restoring` follows.
        case finishing
        /// Being given up: nothing new is sent, what is under way is awaited. Next is `free`.
        case draining
    }

    /// A record that the ledger knows. Offsets alone come again when a topic is made anew.
    struct RestoredRecord: Sendable, Hashable {
        var offset: Int64
        var identity: RecordIdentity
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
        /// By the clock on the wall.
        let readAt: Instant
        /// When the record was written to its topic, by its own account but not in the future: latencies count from here.
        let writtenAt: Instant
        /// Deliveries without an outcome.
        var unsettled: UInt8
        /// Deliveries whose result is not acknowledged yet.
        var open: UInt8
        /// The smallest offset among its acknowledged results; `Int64.max` for none.
        var firstResult = Int64.max
    }

    init(
        id: TopicPartition, lane: LaneID, generation: Generation, occupancy: UInt8, platformCount: Int,
        duplicateWindow: Int
    ) {
        self.id = id
        self.lane = lane
        self.generation = generation
        self.occupancy = occupancy
        self.platformCount = platformCount
        recent = RecentDeliveries(capacity: duplicateWindow)
    }

    /// An empty slot that remembers its last occupancy.
    static func free(after occupancy: UInt8) -> Partition {
        var slot = Partition(
            id: TopicPartition(topic: "", partition: -1), lane: LaneID(0), generation: .none, occupancy: occupancy,
            platformCount: 1, duplicateWindow: 0)
        slot.phase = .free
        return slot
    }

    /// Nothing is under way: no reply and no acknowledgement is awaited.
    var isQuiet: Bool { inFlight == 0 && unstored == 0 }

    /// Whether all results of its records are known, so that L may pass them.
    var isLedgerKnown: Bool { restoredEnd != nil }

    /// A former incarnation's offsets would hide records of the one that is there now.
    var mayCommitWatermark: Bool { phase != .finishing && isCommitting }

    /// Whether deliveries may leave.
    var isSending: Bool { phase == .active || phase == .finishing }

    // MARK: Records

    /// Takes in a record; `nil` when it was read before (offsets only rise).
    ///
    /// - Parameter wall: the clock on the wall.
    mutating func append(_ record: SourceRecord, at wall: Instant) -> UInt32? {
        guard record.offset >= position ?? .min, record.offset < .max else { return nil }
        position = record.offset + 1
        let sequence = base &+ UInt32(truncatingIfNeeded: entries.count)
        entries.append(
            Entry(
                offset: record.offset, content: nil, byteCount: record.byteCount, readAt: wall,
                writtenAt: record.timestamp.map { min($0, wall) } ?? wall, unsettled: UInt8(platformCount),
                open: UInt8(platformCount)))
        for _ in 0..<platformCount { deliveries.append(DeliveryState()) }
        return sequence
    }

    mutating func reachedEnd(_ offset: Int64) {
        position = max(position ?? .min, offset)
        // No record stands there: such results are about a former incarnation.
        if !restored.isEmpty { restored = restored.filter { $0.key.offset < offset } }
    }

    /// Reads from the beginning, whatever offset that is: the first record decides.
    mutating func startFromBeginning() { position = 0 }

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
            uncommitted = min(uncommitted, entries[0].firstResult)
            entries.removeFirst()
            deliveries.removeFirst(platformCount)
            base &+= 1
        }
    }

    // MARK: The ledger

    /// Notes what the ledger says of a delivery.
    mutating func learn(_ entry: LedgerEntry, platform: Int) {
        if entry.outcome == .accepted, let eventID = entry.eventID {
            _ = recent.insert(RecentDeliveries.delivery(id: eventID, version: entry.version, platform: UInt8(platform)))
        }
        guard entry.isOpen else { return }
        let record = RestoredRecord(offset: entry.source.offset, identity: entry.identity)
        restored[record, default: Restored(platforms: 0, firstResult: .max)].note(platform, at: entry.offset)
    }

    /// What the ledger knows of a record that is read again. Other records that stood at its offset are history.
    ///
    /// - Parameter eventID: by which results of former versions name the record.
    mutating func takeRestored(_ offset: Int64, _ identity: RecordIdentity, eventID: String?) -> Restored? {
        guard !restored.isEmpty else { return nil }
        return restored.removeValue(forKey: RestoredRecord(offset: offset, identity: identity))
            ?? eventID.flatMap {
                restored.removeValue(forKey: RestoredRecord(offset: offset, identity: RecordIdentity(eventID: $0)))
            }
    }

    /// The ledger was read to its end.
    mutating func finishRestore(end: Int64) {
        restoredEnd = end
        restoreFailure = nil
        phase = .active
        isHeld = false
    }

    /// The results topic was made anew: its offsets start again.
    mutating func forgetResultOffsets() {
        if restoredEnd != nil { restoredEnd = 0 }
        for index in entries.indices { entries[index].firstResult = .max }
        (uncommitted, underCommit) = (.max, .max)
        restored = restored.mapValues { Restored(platforms: $0.platforms, firstResult: .max) }
    }

    var restoredCount: Int { restored.count }

    /// Records below the low watermark will not come again. (Those between it and the position may yet be examined.)
    mutating func pruneRestored() {
        guard !restored.isEmpty, let lowWatermark else { return }
        restored = restored.filter { $0.key.offset >= lowWatermark }
    }

    // MARK: Commits

    /// The broker has, or has not, taken the watermark that was given last.
    mutating func finishCommit(isTaken: Bool) {
        if !isTaken { uncommitted = min(uncommitted, underCommit) }
        underCommit = .max
    }

    /// The watermark is given to be committed.
    mutating func beginCommit(of watermark: Int64) {
        committed = watermark
        underCommit = min(underCommit, uncommitted)
        uncommitted = .max
    }

    /// W: every record below has all its results acknowledged. `nil` before anything was read.
    var lowWatermark: Int64? { entries.first?.offset ?? position }

    /// L for this partition: no result for a record at or above W stands below it.
    ///
    /// - Parameter acknowledgedEnd: one past the highest offset in its results partition that was acknowledged to us.
    func ledgerStart(acknowledgedEnd: Int64) -> Int64 {
        var start = min(max(acknowledgedEnd, restoredEnd ?? 0), uncommitted, underCommit)
        for entry in entries where entry.firstResult < start { start = entry.firstResult }
        for settled in restored.values where settled.firstResult < start { start = settled.firstResult }
        return start
    }
}

extension Partition.Restored {
    fileprivate mutating func note(_ platform: Int, at offset: Int64) {
        platforms |= 1 << platform
        firstResult = min(firstResult, offset)
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
    /// Why it must not leave again, though it was under way when that was decided.
    var withdrawal: Withdrawal?
    /// It put its event's id into the duplicate window, so it takes it out again should it end without acceptance.
    var hasNotedID = false
    /// The same id and version was read before and has no outcome yet: whether this is a duplicate shows when it has.
    var awaitsTwin = false
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
        case delayed
        case inFlight
        /// Has its outcome; its dead letter is not acknowledged, so its result is not written yet.
        case deadLettered
        /// Has its outcome; the result is not acknowledged.
        case settled
        /// Done, or not asked for.
        case stored
    }

    enum Withdrawal: UInt8, Sendable {
        /// An editor recalled the story.
        case recalled
        /// A newer version of the story waits behind it.
        case superseded
    }

    var isQueued: Bool { phase == .waiting || phase == .ready || phase == .delayed }
    /// Holds its story's line, or waits in it.
    var isOpen: Bool { isQueued || phase == .inFlight || phase == .deadLettered }
}
