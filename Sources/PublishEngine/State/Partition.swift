import DequeModule
import KafkaModel
import NewsModel

/// One source partition that is ours: its records from the low watermark up, and the state of each delivery.
///
/// It makes every transition that changes one of its counts.
struct Partition: Sendable {
    let id: TopicPartition
    let lane: LaneID
    let generation: Generation
    /// Earlier uses of its slot, modulo 128.
    let occupancy: UInt8
    /// Deliveries a record has: one per platform of the settings.
    let platformCount: Int

    private(set) var phase: Phase
    /// Records that are not yet done, and done ones behind them, in the order they were read.
    private(set) var entries: Deque<Entry> = []
    /// What the entries' records hold: `nil` before a record was examined, and again once every delivery has its outcome.
    /// Apart from the entries, which are looked at all the time and then count no reference.
    private var contents: Deque<ExaminedRecord?> = []
    private var deliveries: Deque<Delivery> = []
    /// The sequence of the first entry.
    private var base: UInt32 = 0
    /// Everything below was read: one past the last record, or the end where gaps are.
    private(set) var position: Int64?
    /// Requests in flight.
    private(set) var inFlight = 0
    /// Deliveries settled whose results are not acknowledged.
    private(set) var unstored = 0
    /// When the last of them was acknowledged, or the first of them settled.
    private(set) var storedAt = Instant.distantPast
    var restored = RestoredResults()
    var commit = WatermarkCommit()
    var recent: RecentDeliveries
    /// For the records below its end.
    private var release: (decision: FloodRelease, end: Int64)?

    enum Phase: Sendable, Hashable {
        /// The slot awaits its next partition. Next: `restoring`.
        case free
        /// The ledger is being read, since then, and why the last try failed; nothing may be sent. Next: `active`.
        case restoring(since: Instant, failure: KafkaFailure?)
        /// Next: `held`, `finishing` or `draining`.
        case active
        /// Nothing more is read until its records have become fewer. Next: `active`, `finishing` or `draining`.
        case held
        /// Its offsets start again. What was read of the former incarnation is finished, and nothing is committed. Next:
        /// `restoring` or `draining`.
        case finishing
        /// Being given up: nothing new is sent, what is in flight is awaited. A former incarnation's offsets are not
        /// committed, not even at the end. Next: `free`.
        case draining(commitsWatermark: Bool)
    }

    /// One record.
    struct Entry: Sendable {
        let offset: Int64
        let byteCount: Int
        /// By the clock on the wall.
        let readAt: Instant
        /// When the record was written to its topic, by its own account but not in the future: latencies count from here.
        let writtenAt: Instant
        /// Deliveries without an outcome.
        fileprivate var unsettled: UInt8
        /// Deliveries whose result is not acknowledged yet.
        fileprivate(set) var open: UInt8
        /// An operator released it from a flood.
        fileprivate(set) var release: FloodRelease?
        /// The smallest offset among its acknowledged results; `Int64.max` for none.
        fileprivate(set) var firstResult = Int64.max
    }

    init(
        id: TopicPartition, lane: LaneID, generation: Generation, occupancy: UInt8, platformCount: Int,
        recent: RecentDeliveries, at now: Instant
    ) {
        self.id = id
        self.lane = lane
        self.generation = generation
        self.occupancy = occupancy
        self.platformCount = platformCount
        self.recent = recent
        phase = .restoring(since: now, failure: nil)
    }

    /// An empty slot that remembers its last occupancy.
    static func free(after occupancy: UInt8) -> Partition {
        var slot = Partition(
            id: TopicPartition(topic: "", partition: -1), lane: LaneID(0), generation: .none, occupancy: occupancy,
            platformCount: 1, recent: RecentDeliveries(capacity: 0), at: .distantPast)
        slot.phase = .free
        return slot
    }

    // MARK: Phases

    var isFree: Bool { if case .free = phase { true } else { false } }
    var isRestoring: Bool { if case .restoring = phase { true } else { false } }
    var isDraining: Bool { if case .draining = phase { true } else { false } }
    var isFinishing: Bool { if case .finishing = phase { true } else { false } }
    var isHeld: Bool { if case .held = phase { true } else { false } }

    /// Records of it are taken in.
    var isReading: Bool {
        switch phase {
        case .active, .held: true
        case .free, .restoring, .finishing, .draining: false
        }
    }

    /// Its deliveries may leave.
    var isSending: Bool {
        switch phase {
        case .active, .held, .finishing: true
        case .free, .restoring, .draining: false
        }
    }

    /// A former incarnation's offsets would hide records of the one that is there now.
    var mayCommitWatermark: Bool {
        switch phase {
        case .restoring, .active, .held: true
        case .draining(let commitsWatermark): commitsWatermark
        case .free, .finishing: false
        }
    }

    /// Since when the ledger is being read, for the first time or on, and why the last try failed; `nil` if it is not.
    var ledgerReading: (since: Instant, failure: KafkaFailure?)? {
        if case .restoring(let since, let failure) = phase { return (since, failure) }
        return restored.reading.map { ($0.since, $0.failure) }
    }

    /// Nothing is under way: no reply and no acknowledgement is awaited.
    var isQuiet: Bool { inFlight == 0 && unstored == 0 }

    /// The reading of the ledger goes on, or could not for this reason.
    mutating func restore(failure: KafkaFailure? = nil) {
        if case .restoring(let since, _) = phase { phase = .restoring(since: since, failure: failure) }
        restored.readingFailed(failure)
    }

    /// The ledger was read to its end.
    mutating func finishRestore(end: Int64) {
        restored.finish(end: end)
        if isRestoring { phase = .active }
    }

    mutating func hold() { phase = .held }
    mutating func resume() { phase = .active }

    /// The partition's offsets start again.
    ///
    /// - Returns: `false` if it is being given up anyway, or knows already.
    mutating func finishIncarnation() -> Bool {
        switch phase {
        case .restoring, .active, .held:
            phase = .finishing
            return true
        case .free, .finishing, .draining: return false
        }
    }

    mutating func drain() { phase = .draining(commitsWatermark: mayCommitWatermark) }

    // MARK: Records

    /// Takes in a record; `nil` when it was read before (offsets only rise).
    ///
    /// - Parameter wall: the clock on the wall.
    mutating func append(_ record: SourceRecord, at wall: Instant) -> UInt32? {
        guard record.offset >= position ?? .min, record.offset < .max else { return nil }
        position = record.offset + 1
        let sequence = base &+ UInt32(truncatingIfNeeded: entries.count)
        if let release, record.offset >= release.end { self.release = nil }
        entries.append(
            Entry(
                offset: record.offset, byteCount: record.byteCount, readAt: wall,
                writtenAt: record.timestamp.map { min($0, wall) } ?? wall, unsettled: UInt8(platformCount),
                open: UInt8(platformCount), release: release?.decision))
        contents.append(nil)
        for _ in 0..<platformCount { deliveries.append(Delivery()) }
        return sequence
    }

    mutating func reachEnd(_ offset: Int64) {
        position = max(position ?? .min, offset)
        restored.reachEnd(offset)
    }

    /// For the records below an offset, those not read yet included.
    mutating func release(_ decision: FloodRelease, upTo end: Int64) {
        release = (decision, end)
        for index in entries.indices where entries[index].offset < end { entries[index].release = decision }
    }

    /// Reads from the beginning, whatever offset that is: the first record decides.
    mutating func startFromBeginning() { position = 0 }

    /// The index of a sequence, unless its record is done and gone.
    func index(of sequence: UInt32) -> Int? {
        let index = Int(sequence &- base)
        return index < entries.count ? index : nil
    }

    subscript(index: Int, platform: Int) -> Delivery {
        _read { yield deliveries[index * platformCount + platform] }
        _modify { yield &deliveries[index * platformCount + platform] }
    }

    mutating func examined(_ content: ExaminedRecord, at index: Int) { contents[index] = content }

    func content(at index: Int) -> ExaminedRecord? { contents[index] }

    /// W: every record below has all its results acknowledged. `nil` before anything was read.
    var lowWatermark: Int64? { entries.first?.offset ?? position }

    // MARK: Deliveries that are counted

    mutating func depart(_ place: Place, cuts: PayloadCuts, isQuiet: Bool, at wall: Instant) {
        inFlight += 1
        self[place.index, place.platform].depart(cuts: cuts, isQuiet: isQuiet, at: wall)
    }

    /// - Parameter roundTrip: `nil` if the request never left.
    mutating func arrive(_ place: Place, after roundTrip: Duration?) {
        inFlight -= 1
        self[place.index, place.platform].arrive(after: roundTrip)
    }

    /// The last outcome frees the record's content: it was just used, and freeing what is at hand costs far less than
    /// looking for it when the result is stored.
    mutating func settle(_ place: Place, isPending: Bool, at now: Instant) {
        if unstored == 0 { storedAt = now }
        unstored += 1
        self[place.index, place.platform].settle(isPending: isPending)
        entries[place.index].unsettled -= 1
        if entries[place.index].unsettled == 0 { contents[place.index] = nil }
    }

    /// A pending delivery could not be held.
    mutating func reopen(_ place: Place, _ content: ExaminedRecord) {
        unstored -= 1
        self[place.index, place.platform].reopen()
        entries[place.index].unsettled += 1
        contents[place.index] = content
    }

    /// The result of a pending delivery is on its way.
    mutating func resultWritten(_ place: Place, at now: Instant) {
        storedAt = now
        self[place.index, place.platform].resultWritten()
    }

    /// - Returns: the record's size if this was its last delivery.
    mutating func resultStored(_ place: Place, at now: Instant) -> Int? {
        storedAt = now
        unstored -= 1
        return close(place)
    }

    /// The delivery needs no outcome here: the ledger has it, or the record is not for its platform.
    ///
    /// - Returns: the record's size if this was its last delivery.
    mutating func skip(_ place: Place) -> Int? {
        entries[place.index].unsettled -= 1
        return close(place)
    }

    /// Finished records at the front go, so that the low watermark rises.
    private mutating func close(_ place: Place) -> Int? {
        self[place.index, place.platform].store()
        entries[place.index].open -= 1
        guard entries[place.index].open == 0 else { return nil }
        let bytes = entries[place.index].byteCount
        while !entries.isEmpty, entries[0].open == 0 {
            commit.note(firstResult: entries[0].firstResult)
            entries.removeFirst()
            contents.removeFirst()
            deliveries.removeFirst(platformCount)
            base &+= 1
        }
        return bytes
    }

    // MARK: Results

    mutating func noteResult(at offset: Int64, of index: Int) {
        entries[index].firstResult = min(entries[index].firstResult, offset)
    }

    /// The results topic was made anew: its offsets start again.
    mutating func forgetResultOffsets() {
        for index in entries.indices { entries[index].firstResult = .max }
        commit.forgetResultOffsets()
        restored.forgetResultOffsets()
    }

    /// L for this partition: no result for a record at or above W stands below it. `nil` while the ledger is not read.
    ///
    /// - Parameter acknowledgedEnd: one past the highest offset in its results partition that was acknowledged to us.
    func ledgerStart(acknowledgedEnd: Int64) -> Int64? {
        guard let end = restored.end else { return nil }
        var start = min(max(acknowledgedEnd, end), commit.firstResult, restored.firstResult)
        for entry in entries where entry.firstResult < start { start = entry.firstResult }
        return start
    }
}
