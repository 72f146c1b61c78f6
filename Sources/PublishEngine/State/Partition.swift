import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

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
    /// Records that are not done, and done ones behind them, in the order of reading.
    private(set) var entries: Deque<Entry> = []
    /// The content of the entries' records: `nil` before examination, and again once all deliveries have outcomes. A
    /// separate queue, so that reading entries counts no references.
    private var contents: Deque<ExaminedRecord?> = []
    private var deliveries: Deque<Delivery> = []
    /// The sequence of the first entry.
    private var base: UInt32 = 0
    /// One past the last record read, or the end if offsets have gaps.
    private(set) var position: Int64?
    /// The position at which the partition last had no further record.
    private var end: Int64?
    /// The number of requests in flight.
    private(set) var inFlight = 0
    /// Deliveries settled whose results are not acknowledged.
    private(set) var unstored = 0
    /// The time of the last acknowledgement, or of the first unacknowledged settlement.
    private(set) var storedAt = Instant.distantPast
    private(set) var restored = RestoredResults()
    private var commit = WatermarkCommit()
    var partlySent = PartlySent()
    private(set) var nextIncarnation = 0
    var recent: RecentDeliveries
    var ended: EndedStories
    /// Stories with a held event and an end, which are compared once it is certain that the end is of this incarnation.
    var uncompared: [String] = []
    /// A release decision, which covers the records below its end.
    private var release: (decision: FloodRelease, end: Int64)?

    /// One record of the partition.
    struct Entry: Sendable {
        let offset: Int64
        let byteCount: Int
        /// By the clock on the wall.
        let readAt: Instant
        /// The time when the record was written, by its timestamp but not in the future; latencies start here.
        let writtenAt: Instant
        /// Deliveries without an outcome.
        fileprivate var unsettled: UInt8
        /// Deliveries whose result is not acknowledged yet.
        fileprivate(set) var open: UInt8
        /// An operator released it from a flood.
        fileprivate(set) var release: FloodRelease?
        /// The smallest offset among its acknowledged results; `Int64.max` for none.
        fileprivate(set) var firstResult = Int64.max
        /// The platforms, as bits, of its deliveries that ended as held. The held topic has its original for these.
        fileprivate(set) var held: UInt16 = 0
    }

    init(
        id: TopicPartition, lane: LaneID, generation: Generation, occupancy: UInt8, platformCount: Int,
        recent: RecentDeliveries, ended: EndedStories, at now: Instant
    ) {
        self.id = id
        self.lane = lane
        self.generation = generation
        self.occupancy = occupancy
        self.platformCount = platformCount
        self.recent = recent
        self.ended = ended
        phase = .restoring(since: now, failure: nil)
    }

    /// An empty slot that remembers its last occupancy.
    static func free(after occupancy: UInt8) -> Partition {
        var slot = Partition(
            id: TopicPartition(topic: "", partition: -1), lane: LaneID(0), generation: .none, occupancy: occupancy,
            platformCount: 1, recent: RecentDeliveries(capacity: 0),
            ended: EndedStories(capacity: 0), at: .distantPast)
        slot.phase = .free
        return slot
    }

    // MARK: Phases

    /// The start of reading the ledger, and the last try's failure; `nil` if it is not being read.
    var ledgerReading: (since: Instant, failure: KafkaFailure?)? {
        if case .restoring(let since, let failure) = phase { return (since, failure) }
        return restored.reading.map { ($0.since, $0.failure) }
    }

    /// No send, no reply and no acknowledgement is awaited.
    var isQuiet: Bool { inFlight == 0 && unstored == 0 }

    /// Pauses reading if the partition has too many records above its low watermark.
    ///
    /// - Returns: `false` if it has fewer than `most`, or is paused already.
    mutating func pause(from most: Int) -> Bool {
        guard !isPaused, entries.count >= most else { return false }
        phase = .paused
        return true
    }

    /// Resumes reading if the partition has at most this many records.
    mutating func resume(upTo most: Int) -> Bool {
        guard entries.count <= most else { return false }
        phase = .active
        return true
    }

    /// The partition's offsets start again.
    ///
    /// - Returns: `false` if the partition is being released, or is finishing already.
    mutating func finishIncarnation(next: Int, at now: Instant) -> Bool {
        switch phase {
        case .restoring, .active, .paused:
            phase = .finishing(since: now)
            nextIncarnation = next
            return true
        case .free, .finishing, .draining: return false
        }
    }

    mutating func drain() { phase = .draining(commitsWatermark: mayCommitWatermark) }

    // MARK: The ledger

    /// Reading of the ledger continues, or failed for this reason.
    mutating func restore(failure: KafkaFailure? = nil) {
        if case .restoring(let since, _) = phase { phase = .restoring(since: since, failure: failure) }
        restored.readingFailed(failure)
    }

    /// Learns a result that is on the ledger.
    ///
    /// - Parameter capacity: the maximum number of records whose results are kept, at least 2.
    mutating func restore(_ entry: LedgerEntry, platform: Int, capacity: Int) {
        if entry.outcome == .accepted { recent.restore(entry, platform: platform) }
        if entry.isOpen { restored.learn(entry, platform: platform, capacity: capacity) }
    }

    /// The delivery ends as held.
    mutating func noteHold(of place: Place) { entries[place.index].held |= 1 << place.platform }

    /// Finishes reading the ledger.
    ///
    /// - Returns: `true` if it was read for the first time.
    mutating func finishRestore(_ end: RestoreEnd) -> Bool {
        restored.finish(end: end.offset)
        guard isRestoring else { return false }
        partlySent.inherit(end.progress[id] ?? [])
        phase = .active
        return true
    }

    /// Starts reading the ledger for records from the horizon on.
    ///
    /// - Returns: the first offset of the results partition to read.
    mutating func readLedgerOn(at now: Instant) -> Int64 { restored.readOn(at: now) }

    /// Removes the ledger's results for a record that was read.
    ///
    /// - Returns: `nil` if the ledger has no result for the record.
    mutating func takeRestored(_ content: ExaminedRecord, at index: Int) -> RestoredResults.Settled? {
        guard
            let known = restored.remove(content.record.offset, content.identity, eventID: content.eventID)
        else { return nil }
        noteResult(at: known.firstResult, of: index)
        entries[index].held = known.held
        return known
    }

    // MARK: Records

    /// Appends a record; `nil` if it was read before (offsets only rise).
    ///
    /// - Parameter wall: the clock on the wall.
    mutating func append(_ record: SourceRecord, at wall: Instant) -> UInt32? {
        guard record.offset >= position ?? .min, record.offset < .max else { return nil }
        if position == nil { begin(at: record.offset) }
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

    /// Begins to read at this offset. The ledger's ends belong to committed records, which are below it. Ends at or above it
    /// belong to a former incarnation.
    private mutating func begin(at offset: Int64) { ended.forget(from: offset) }

    /// The partition has no records between those that were read and this offset.
    ///
    /// - Returns: `true` if its watermark has moved since the last commit.
    mutating func reachEnd(_ offset: Int64) -> Bool {
        if position == nil { begin(at: offset) }
        position = max(position ?? .min, offset)
        end = position
        restored.reachEnd(offset)
        return lowWatermark != commit.watermark
    }

    /// Every record up to the partition's end was read, so the next one is new.
    var isAtEnd: Bool { end != nil && end == position }

    /// Forgets that the end was reached, because the process stood still: the next record may have been there for long.
    mutating func forgetEnd() { end = nil }

    /// Applies a decision to the records below an offset, including those not read yet.
    mutating func release(_ decision: FloodRelease, upTo end: Int64) {
        release = (decision, end)
        for index in entries.indices where entries[index].offset < end { entries[index].release = decision }
    }

    /// Starts reading from the beginning; the first record sets the offset.
    mutating func startFromBeginning() { position = 0 }

    /// The index of a sequence; `nil` if its record is done and removed.
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

    /// W: all records below have acknowledged results. `nil` before the first read.
    var lowWatermark: Int64? { entries.first?.offset ?? position }

    // MARK: Deliveries that are counted

    mutating func depart(_ place: Place, cuts: PayloadCuts, isQuiet: Bool, at wall: Instant) {
        inFlight += 1
        self[place.index, place.platform].depart(cuts: cuts, isQuiet: isQuiet, at: wall)
    }

    /// - Parameter roundTrip: `nil` if the request never left.
    mutating func arrive(_ place: Place, _ meaning: SendMeaning, after roundTrip: Duration?) {
        inFlight -= 1
        self[place.index, place.platform].arrive(meaning, after: roundTrip)
    }

    /// Takes over the last owner's progress of a delivery whose record is read again.
    ///
    /// - Parameter hash: the hash of the record and its first sends; `nil` if no send follows.
    mutating func inherit(_ place: Place, _ platform: Platform, _ record: RecordIdentity, hash: (Int) -> UInt64?) {
        let offset = entries[place.index].offset
        guard let last = partlySent.resume(record, at: offset, platform, index: place.platform) else { return }
        // With other settings its sends are others, or none.
        self[place.index, place.platform].resume(after: last, isSame: last.hash == hash(Int(last.sends)))
    }

    /// Settles a delivery. The last outcome frees the record's content now, because it is still cached; freeing it
    /// later would cost far more.
    mutating func settle(_ place: Place, isPending: Bool, at now: Instant) {
        if unstored == 0 { storedAt = now }
        unstored += 1
        self[place.index, place.platform].settle(isPending: isPending)
        entries[place.index].unsettled -= 1
        if entries[place.index].unsettled == 0 { contents[place.index] = nil }
    }

    /// Reopens a pending delivery that could not be held.
    mutating func reopen(_ place: Place, _ content: ExaminedRecord) {
        unstored -= 1
        self[place.index, place.platform].reopen()
        entries[place.index].held &= ~(1 << place.platform)
        entries[place.index].unsettled += 1
        contents[place.index] = content
    }

    /// Records that the result of a pending delivery was written.
    mutating func resultWritten(_ place: Place, at now: Instant) {
        storedAt = now
        self[place.index, place.platform].resultWritten()
    }

    /// - Parameter offset: the offset of the result.
    /// - Returns: the record's size if this was its last delivery.
    mutating func resultStored(at offset: Int64, of place: Place, at now: Instant) -> Int? {
        noteResult(at: offset, of: place.index)
        storedAt = now
        unstored -= 1
        return close(place)
    }

    /// Closes a delivery that needs no outcome here: the ledger has it, or its platform was not wanted.
    ///
    /// - Returns: the record's size if this was its last delivery.
    mutating func skip(_ place: Place) -> Int? {
        entries[place.index].unsettled -= 1
        return close(place)
    }

    /// Removes finished records at the front, so that the low watermark rises.
    private mutating func close(_ place: Place) -> Int? {
        self[place.index, place.platform].store()
        partlySent.close(entries[place.index].offset, place.platform)
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

    private mutating func noteResult(at offset: Int64, of index: Int) {
        entries[index].firstResult = min(entries[index].firstResult, offset)
    }

    /// Forgets result offsets, because the results topic was recreated and its offsets start again.
    mutating func forgetResultOffsets() {
        for index in entries.indices { entries[index].firstResult = .max }
        commit.forgetResultOffsets()
        restored.forgetResultOffsets()
    }

    /// L for this partition: all results of records at or above W are at or above it. `nil` before the ledger is read.
    ///
    /// - Parameter acknowledgedEnd: one past the last offset in its results partition that was acknowledged to us in order.
    mutating func ledgerStart(acknowledgedEnd: Int64) -> Int64? {
        guard let end = restored.end else { return nil }
        restored.prune(below: lowWatermark)
        var start = min(max(acknowledgedEnd, end), commit.firstResult, restored.firstResult)
        for entry in entries where entry.firstResult < start { start = entry.firstResult }
        return start
    }

    // MARK: Commits

    /// - Returns: the watermark to commit, with the progress; `nil` if neither has moved.
    mutating func takeWatermark() -> PartitionOffset? {
        guard mayCommitWatermark, let watermark = lowWatermark, partlySent.hasMoved || watermark != commit.watermark
        else { return nil }
        commit.begin(watermark)
        return PartitionOffset(id, watermark, progress: partlySent.take(above: watermark))
    }

    /// - Parameter offsets: those that the broker accepted.
    mutating func finishCommit(accepted offsets: [PartitionOffset]) {
        commit.finish(isTaken: offsets.contains { $0.partition == id })
    }

    /// Makes the watermark due again.
    mutating func repeatCommit() { commit.repeatWatermark() }
}
