import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

/// One lane: the records it has read, the deliveries that are ready to leave, and those that wait for a time.
struct Lane: Sendable {
    let id: LaneID
    let settings: LaneSettings
    var owned = OwnedPartitions()
    /// Partitions of the lane's topics, of all owners.
    var counts = PartitionCounts()
    /// Records that were read and not examined yet.
    private(set) var unexamined: Deque<Unexamined> = []
    private(set) var ready = ReadyQueue()
    private(set) var delayed = DelayedDeliveries()
    var isPaused = false
    /// Editors have stopped the lane. Unlike a paused lane it keeps reading, because a record may recall a story.
    private(set) var isStopped = false
    /// The schema without which the next record cannot be examined. The records behind it wait too, so that order is kept.
    private(set) var awaitedSchema: (id: UInt32, since: Instant)?
    /// The flood that has stopped the lane: most of its recent events failed for their own fault.
    private(set) var flood: Halt?
    private var floodGuard: FloodGuard
    var arrivals = ArrivalAge()
    /// Floor credit earned, in percent of one request; at most 100.
    private var floorCredit = 0

    // The window: records not stored yet, and credit to read more.
    private(set) var bufferedRecords = 0
    private(set) var bufferedBytes = 0
    private var grantedRecords = 0
    private var grantedBytes = 0

    struct Unexamined: Sendable {
        var id: DeliveryID
        var record: SourceRecord
    }

    init(_ id: LaneID, _ settings: LaneSettings, floodGuard: FloodGuard.Settings) {
        self.id = id
        self.settings = settings
        self.floodGuard = FloodGuard(floodGuard)
    }

    var slots: [Int] { owned.slots }
    /// Maximum records of one partition above its low watermark, because one stuck delivery must not let finished
    /// records accumulate without bound.
    var spanMax: Int { settings.window.records * 2 }
    var awaitsSchema: Bool { awaitedSchema != nil }
    /// True if `flood` is set; does not copy its texts.
    var isFlooded: Bool { if case .some = flood { true } else { false } }
    /// Neither paused nor stopped by a flood or an editor.
    var maySend: Bool { !isPaused && !isStopped && !isFlooded }
    var mayProbe: Bool { !isPaused && !isStopped }
    var isWindowFull: Bool { bufferedRecords >= settings.window.records || bufferedBytes >= settings.window.bytes }

    // MARK: Records

    /// Reads records into one of the lane's partitions, and counts them in the window.
    mutating func read(_ records: [SourceRecord], into partition: inout Partition, in slot: Int, at wall: Instant) {
        var taken = 0
        var takenBytes = 0
        var bytes = 0
        for record in records {
            bytes += record.byteCount
            guard let sequence = partition.append(record, at: wall) else { continue }
            taken += 1
            takenBytes += record.byteCount
            let first = DeliveryID(slot: slot, occupancy: partition.occupancy, sequence: sequence, platform: 0)
            unexamined.append(Unexamined(id: first, record: record))
        }
        spendGrant(records: records.count, bytes: bytes)
        bufferedRecords += taken
        bufferedBytes += takenBytes
    }

    /// Counts records that no partition takes, because they belong to an earlier assignment or incarnation.
    mutating func dropStale(_ records: [SourceRecord]) {
        spendGrant(records: records.count, bytes: records.reduce(0) { $0 + $1.byteCount })
    }

    /// The last record of a grant may exceed its bytes. The reader subtracts the excess from the next grant, so the
    /// granted bytes may fall below zero here too.
    private mutating func spendGrant(records: Int, bytes: Int) {
        grantedRecords -= records
        grantedBytes -= bytes
    }

    /// Removes the next record to examine; `nil` while its ledger results are not known yet.
    mutating func takeUnexamined(in partitions: borrowing PartitionTable) -> Unexamined? {
        while let next = unexamined.first {
            let slot = partitions.place(of: next.id)?.slot
            // A partition that is being revoked needs no more results. Reading more would drop the known results of records
            // that the next owner reads.
            if let slot, partitions[slot].isSending, next.record.offset >= partitions[slot].restored.horizon {
                return nil
            }
            unexamined.removeFirst()
            if slot != nil { return next }
        }
        return nil
    }

    mutating func awaitSchema(_ id: UInt32, at now: Instant) { awaitedSchema = (id, now) }

    mutating func receiveSchema(_ id: UInt32) { if awaitedSchema?.id == id { awaitedSchema = nil } }

    /// Puts records back that must be examined later.
    mutating func putBack(_ records: [Unexamined]) { unexamined.prepend(contentsOf: records) }

    /// Removes a finished record from the window, so that offsets may be committed.
    ///
    /// - Parameter bytes: the size of a record whose last delivery is done; `nil` while others are open.
    mutating func finishRecord(bytes: Int?) {
        guard let bytes else { return }
        leaveWindow(records: 1, bytes: bytes)
        owned.noteMove()
    }

    private mutating func leaveWindow(records: Int, bytes: Int) {
        bufferedRecords -= records
        bufferedBytes -= bytes
    }

    /// The additional records and bytes that may be read now; `nil` while too few for a message to the reader.
    mutating func grant() -> (records: Int, bytes: Int)? {
        let records = settings.window.records - bufferedRecords - grantedRecords
        let bytes = settings.window.bytes - bufferedBytes - grantedBytes
        let worthIt = records >= settings.window.records / 8 || grantedRecords <= 0 || grantedBytes <= 0
        guard records > 0, bytes > 0, worthIt else { return nil }
        grantedRecords += records
        grantedBytes += bytes
        return (records, bytes)
    }

    /// Forgets a partition that is no longer ours.
    mutating func forget(_ former: Partition, in slot: Int) {
        unexamined.removeAll { $0.id.slot == slot }
        // The record that awaits the schema may be gone.
        awaitedSchema = nil
        ready = ready.filter { $0.slot != slot }
        leaveWindow(records: former.entries.count { $0.open > 0 }, bytes: former.openBytes)
    }

    // MARK: Deliveries

    /// Queues a new head of its story.
    mutating func append(_ id: DeliveryID, _ delivery: inout Delivery, isReturned: Bool) {
        delivery.becomeReady()
        ready.append(id, isReturned: isReturned)
    }

    /// Queues a delivery at the front, because it is older than the deliveries there.
    mutating func prepend(_ id: DeliveryID, _ delivery: inout Delivery, isReturned: Bool) {
        delivery.becomeReady()
        ready.prepend(id, isReturned: isReturned)
    }

    mutating func removeFirstReady() { ready.removeFirst() }

    /// - Parameter until: the end by the wall clock.
    mutating func embargo(_ id: DeliveryID, _ delivery: inout Delivery, until: Instant) {
        delivery.delay()
        delayed.embargo(id, until: until)
    }

    /// - Parameter until: the time of the next check, at most `notBefore`; both by the monotonic clock.
    mutating func retry(_ id: DeliveryID, _ delivery: inout Delivery, notBefore: Instant, until: Instant) {
        delivery.delay()
        delayed.retry(id, notBefore: notBefore, until: until)
    }

    /// Sets a delivery aside before a gate.
    ///
    /// - Parameter until: the time when it becomes too old, by the monotonic clock.
    mutating func setAside(_ id: DeliveryID, _ delivery: inout Delivery, until: Instant) {
        delivery.delay()
        delayed.stop(id, until: until)
    }

    /// Removes the next delayed delivery whose time has come.
    mutating func takeDue(_ turn: borrowing Turn) -> DelayedDeliveries.Entry? {
        delayed.takeDue(at: turn.now, releaseClock: turn.releaseClock)
    }

    /// Applies the stops in force.
    mutating func obey(_ orders: OrdersInForce) { isStopped = orders.isStopped(lane: settings.name) }

    /// Removes all deliveries that were set aside before a gate, last to first.
    mutating func takeStopped() -> [DeliveryID] { delayed.takeStopped() }

    /// Removes superseded and recalled deliveries from the queues. Normally dispatch drops them at the front. While
    /// nothing is sent they would accumulate without bound.
    mutating func tidy(platforms: Int, in partitions: PartitionTable) {
        let most = 2 * bufferedRecords * platforms + 32
        if ready.count > most { ready = ready.filter { partitions.phase(of: $0) == .ready } }
        if delayed.count > most { delayed.tidy(in: partitions) }
    }

    // MARK: Floor

    /// The lane has earned a request although a more urgent lane has work.
    var hasFloorDue: Bool { floorCredit >= 100 }

    mutating func earnFloor() { floorCredit = min(floorCredit + settings.floorPercent, 100) }
    mutating func spendFloor() { floorCredit = max(floorCredit - 100, 0) }

    // MARK: Flood

    /// Counts an outcome. If most recent ones failed, the lane is flooded.
    mutating func count(isFailure: Bool, at now: Instant, probeAfter: Duration) {
        floodGuard.note(failed: isFailure)
        guard !isFlooded, floodGuard.trips else { return }
        flood = Halt(
            reason: .flood, detail: "lane \(settings.name): most recent events ended as dead letters",
            lane: settings.name, at: now, probeAfter: probeAfter)
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

    func isProbeDue(at now: Instant) -> Bool { mayProbe && flood?.isProbeDue(at: now) ?? false }
    mutating func beginProbe(_ request: RequestID?) { flood?.beginProbe(request) }
    mutating func postponeProbe(to instant: Instant) { flood?.postponeProbe(to: instant) }
    mutating func probeFailed(at now: Instant, longest: Duration) { flood?.probeFailed(at: now, longest: longest) }

    // MARK: Time

    /// The time at which the lane has something to do.
    ///
    /// - Parameters:
    ///   - clock: the embargoes' clock.
    ///   - release: the monotonic time before which no embargo ends.
    ///   - mayProbe: the hub takes requests.
    func nextAlarm(isRunning: Bool, _ clock: WallClock, release: Instant, mayProbe: Bool) -> Instant {
        var earliest = owned.nextAlarm(isRunning: isRunning)
        guard isRunning else { return earliest }
        earliest = min(earliest, delayed.next(clock, release: release))
        if isFlooded, mayProbe, self.mayProbe, let flood, flood.probe == nil {
            earliest = min(earliest, flood.probeAt)
        }
        return earliest
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
