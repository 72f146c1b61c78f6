import DequeModule
import KafkaModel
import NewsModel

/// The partitions that are ours, by slot. A reused slot gets another occupancy.
struct PartitionTable: Sendable {
    private var slots: [Partition] = []
    /// The ends of the results partitions, shared by all lanes.
    private var resultsEnds: [ResultsEnd] = []
    /// The index in `resultsEnds` of each slot's results partition, needed for every acknowledgement.
    private var resultsOfSlot: [Int] = []

    private struct ResultsEnd: Sendable {
        let partition: Int32
        /// One past the last result offset acknowledged in order.
        var end: Int64 = 0
    }

    /// Mutates in place, because a copy would trigger copy-on-write of the whole window.
    subscript(slot: Int) -> Partition {
        _read { yield slots[slot] }
        _modify { yield &slots[slot] }
    }

    subscript(place: Place) -> Delivery {
        _read { yield slots[place.slot][place.index, place.platform] }
        _modify { yield &slots[place.slot][place.index, place.platform] }
    }

    subscript(recordOf place: Place) -> Partition.Entry {
        _read { yield slots[place.slot].entries[place.index] }
    }

    /// The position of the delivery's record on its source topic.
    func source(of place: Place) -> ResultRecord.Source {
        .init(partition: slots[place.slot].id, offset: slots[place.slot].entries[place.index].offset)
    }

    /// The content of the delivery's record; see `Partition.content`.
    func content(of place: Place) -> ExaminedRecord? { slots[place.slot].content(at: place.index) }

    /// The delivery's place; `nil` if its partition was revoked or its record is done.
    func place(of id: DeliveryID) -> Place? {
        let slot = id.slot
        guard slot < slots.count, !slots[slot].isFree, slots[slot].occupancy == id.occupancy,
            id.platform < slots[slot].platformCount, let index = slots[slot].index(of: id.sequence)
        else { return nil }
        return Place(id: id, lane: slots[slot].lane, index: index)
    }

    /// The event behind a delivery that has no outcome yet.
    func event(of id: DeliveryID) -> RoutedEvent? {
        place(of: id).flatMap { content(of: $0)?.routed }
    }

    /// True if the delivery keeps its place in its story.
    func isOpen(_ id: DeliveryID) -> Bool { place(of: id).map { self[$0].isOpen } ?? false }

    func phase(of id: DeliveryID) -> Delivery.Phase? { place(of: id).map { self[$0].phase } }

    // MARK: Slots

    /// Gives a partition the first free slot; `nil` if all slots are in use.
    mutating func occupy(
        _ id: TopicPartition, _ lane: LaneID, _ generation: Generation, _ settings: EngineSettings, at now: Instant
    ) -> Int? {
        let slot: Int
        if let free = slots.firstIndex(where: \.isFree) {
            slot = free
        } else {
            guard slots.count < DeliveryID.slotsMax else { return nil }
            slot = slots.count
            slots.append(.free(after: 0))
            resultsOfSlot.append(0)
        }
        resultsOfSlot[slot] = results(id.partition)
        slots[slot] = Partition(
            id: id, lane: lane, generation: generation, occupancy: nextOccupancy(of: slot),
            platformCount: settings.platforms.count, recent: RecentDeliveries(capacity: settings.duplicateWindow),
            ended: EndedStories(capacity: settings.duplicateWindow), at: now)
        return slot
    }

    private mutating func results(_ partition: Int32) -> Int {
        if let known = resultsEnds.firstIndex(where: { $0.partition == partition }) { return known }
        resultsEnds.append(ResultsEnd(partition: partition))
        return resultsEnds.count - 1
    }

    /// Replaces a partition with its next incarnation in the same slot, read from its beginning.
    mutating func restart(_ slot: Int, _ settings: EngineSettings, at now: Instant) {
        let former = slots[slot]
        slots[slot] = Partition(
            id: former.id, lane: former.lane, generation: former.generation, occupancy: nextOccupancy(of: slot),
            platformCount: former.platformCount, recent: former.recent,
            ended: EndedStories(capacity: settings.duplicateWindow), at: now)
        slots[slot].startFromBeginning()
    }

    /// Frees a slot.
    ///
    /// - Returns: the partition that had it.
    mutating func vacate(_ slot: Int) -> Partition {
        let former = slots[slot]
        slots[slot] = .free(after: former.occupancy)
        return former
    }

    private func nextOccupancy(of slot: Int) -> UInt8 { (slots[slot].occupancy &+ 1) & 0x7f }

    // MARK: Results

    /// Closes a delivery whose result is stored at this offset.
    ///
    /// - Parameter isAlone: true if the acknowledgement may come behind those of later offsets, or ahead of those of earlier ones.
    /// - Returns: the record's size if this was its last delivery.
    mutating func resultStored(at offset: Int64, isAlone: Bool, of place: Place, at now: Instant) -> Int? {
        if isAlone { return slots[place.slot].resultStored(at: offset, of: place, at: now) }
        let results = resultsOfSlot[place.slot]
        if offset + 1 < resultsEnds[results].end {
            // These acknowledgements come in the order of offsets, so the results topic was recreated.
            for slot in slots.indices where resultsOfSlot[slot] == results { slots[slot].forgetResultOffsets() }
        }
        resultsEnds[results].end = offset + 1
        return slots[place.slot].resultStored(at: offset, of: place, at: now)
    }

    /// L for a partition; `nil` while its ledger is not read.
    mutating func ledgerStart(of slot: Int) -> Int64? {
        slots[slot].ledgerStart(acknowledgedEnd: resultsEnds[resultsOfSlot[slot]].end)
    }

    // MARK: Counts

    /// Deliveries settled whose results are not acknowledged.
    var unstored: Int { slots.reduce(0) { $0 + $1.unstored } }
    var recordCount: Int { slots.reduce(0) { $0 + $1.entries.count } }
    var restoredCount: Int { slots.reduce(0) { $0 + $1.restored.count } }
}
