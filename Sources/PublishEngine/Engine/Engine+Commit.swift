import KafkaModel
import NewsModel

/// Acknowledged results let the low watermark rise; commits follow it.
extension Engine {
    mutating func acknowledge(_ record: StoredRecord, _ turn: inout Turn) {
        let id = record.delivery
        guard let (slot, index) = locate(id) else { return }
        partitions[slot].storedAt = turn.now
        switch (record.kind, partitions[slot][delivery: index, id.platform].phase) {
        case (.deadLetter, .deadLettered):
            guard let request = pendingResults.removeValue(forKey: id) else { return }
            partitions[slot][delivery: index, id.platform].phase = .settled
            turn.actions.append(.store(request))
            let line = partitions[slot][delivery: index, id.platform].line
            if line != 0 { linesToAdvance.append(line) }
            advanceStories(&turn)
        case (.result, .settled):
            noteResult(at: record.offset, slot: slot, index: index)
            partitions[slot][delivery: index, id.platform].phase = .stored
            partitions[slot].unstored -= 1
            close(slot: slot, index: index)
        default: break
        }
    }

    private mutating func noteResult(at offset: Int64, slot: Int, index: Int) {
        if offset < partitions[slot][entry: index].firstResult { partitions[slot][entry: index].firstResult = offset }
        let partition = partitions[slot].id.partition
        if offset + 1 < resultsEnds[partition] ?? 0 {
            // Acknowledgements come in the order of offsets: the results topic was made anew.
            for slot in partitions.indices where partitions[slot].id.partition == partition {
                partitions[slot].forgetResultOffsets()
            }
            partitions[slot][entry: index].firstResult = offset
        }
        resultsEnds[partition] = offset + 1
        // Lanes that are idle move their L along, or a long ledger of another lane would delay them after a restart.
        if offset % LaneCommit.ledgerStep == 0 {
            for lane in lanes.indices where !lanes[lane].slots.isEmpty { lanes[lane].commit.isDirty = true }
        }
    }

    /// One delivery less is open; the last one frees the record.
    mutating func close(slot: Int, index: Int) {
        guard let bytes = partitions[slot].close(entry: index) else { return }
        let lane = partitions[slot].lane
        lanes[lane].finished(bytes: bytes)
        partitions[slot].advance()
        lanes[lane].commit.isDirty = true
    }

    mutating func commit(_ turn: inout Turn) {
        for lane in lanes.indices {
            if turn.now >= lanes[lane].commit.renewAt { renew(lane, turn) }
            guard lanes[lane].commit.isDirty, !lanes[lane].commit.isUnderWay else { continue }
            lanes[lane].commit.isDue = !hasWorkToAwait(lane)
            guard turn.now >= lanes[lane].commit.notBefore, lanes[lane].commit.isDue else { continue }
            lanes[lane].commit.isDue = false
            lanes[lane].commit.isDirty = false
            let offsets = commitOffsets(lane)
            guard !offsets.isEmpty else {
                lanes[lane].draining?.committed = true
                continue
            }
            lanes[lane].commit.begin(at: turn.now, interval: settings.commitInterval)
            turn.actions.append(.kafka(.commit(LaneID(lane), lanes[lane].generation, offsets)))
        }
    }

    private mutating func renew(_ lane: Int, _ turn: Turn) {
        lanes[lane].commit.renewAt = turn.now + LaneCommit.renewInterval
        commitAnew(lane)
    }

    /// All offsets go out once more: a ledger offset must never go out without the watermark it was computed from.
    private mutating func commitAnew(_ lane: Int) {
        for slot in lanes[lane].slots { partitions[slot].committed = nil }
        lanes[lane].commit.ledger = [:]
        lanes[lane].commit.isDirty = true
    }

    /// Before a last commit, replies and acknowledgements are worth waiting for (the release has its own deadline).
    private func hasWorkToAwait(_ lane: Int) -> Bool {
        guard draining != nil || lanes[lane].draining != nil else { return false }
        return lanes[lane].slots.contains { slot in
            (draining != nil || partitions[slot].phase == .draining) && !partitions[slot].isQuiet
        }
    }

    /// W of every source partition that moved, and L of its results partition: the least of all topics that share it.
    private mutating func commitOffsets(_ lane: Int) -> [PartitionOffset] {
        var offsets: [PartitionOffset] = []
        var ledger: [Int32: Int64] = [:]
        var moved: Set<Int32> = []
        for slot in lanes[lane].slots {
            let id = partitions[slot].id
            guard partitions[slot].isLedgerKnown else {
                // Nobody knows yet where its results begin: L stays where it is.
                ledger[id.partition] = .min
                commitWatermark(of: slot, into: &offsets)
                continue
            }
            partitions[slot].pruneRestored()
            let start = partitions[slot].ledgerStart(acknowledgedEnd: resultsEnds[id.partition] ?? 0)
            ledger[id.partition] = min(ledger[id.partition] ?? .max, start)
            if commitWatermark(of: slot, into: &offsets) { moved.insert(id.partition) }
        }
        for (partition, start) in ledger.sorted(by: { $0.key < $1.key })
        where start >= 0 && ownsAll(partition, lane) {
            let committed = lanes[lane].commit.ledger[partition]
            guard moved.contains(partition) || start >= (committed ?? 0) + LaneCommit.ledgerStep || committed == nil
            else { continue }
            lanes[lane].commit.ledger[partition] = start
            offsets.append(PartitionOffset(TopicPartition(topic: settings.resultsTopic, partition: partition), start))
        }
        return offsets
    }

    /// - Returns: whether it moved.
    @discardableResult
    private mutating func commitWatermark(of slot: Int, into offsets: inout [PartitionOffset]) -> Bool {
        guard partitions[slot].mayCommitWatermark, let watermark = partitions[slot].lowWatermark,
            watermark != partitions[slot].committed
        else { return false }
        partitions[slot].beginCommit(of: watermark)
        offsets.append(PartitionOffset(partitions[slot].id, watermark))
        return true
    }

    /// Where the topics of a lane differed in length when partitions were shared out, partition p of one may belong to another
    /// member than p of the other: then nobody knows all that L must reach back to, and it stays.
    private func ownsAll(_ partition: Int32, _ lane: Int) -> Bool {
        let topics = lanes[lane].settings.topics
        return topics.count == 1
            || lanes[lane].slots.count { partitions[$0].id.partition == partition } == Set(topics).count
    }

    mutating func finishCommit(
        _ lane: LaneID, _ generation: Generation, offsets: [PartitionOffset], failure: KafkaFailure?, _ turn: Turn
    ) {
        if generation == lanes[lane].generation {
            for slot in lanes[lane].slots {
                let id = partitions[slot].id
                partitions[slot].finishCommit(isTaken: offsets.contains { $0.partition == id })
            }
        }
        guard let failure else {
            lanes[lane].commit.succeeded()
            if !lanes[lane].commit.isDirty { lanes[lane].draining?.committed = true }
            return
        }
        lanes[lane].commit.failed(failure, at: turn.now, interval: settings.commitInterval)
        if generation == lanes[lane].generation { commitAnew(lane.index) }
        if lanes[lane].draining != nil || (draining != nil && lanes[lane].commit.failures >= 3) {
            // A last commit that fails (a broker may refuse one while it rebalances) costs the next owner only a
            // longer look at the ledger.
            lanes[lane].commit.isDirty = false
            lanes[lane].draining?.committed = true
        }
    }

    func id(slot: Int, index: Int, platform: Int) -> DeliveryID {
        DeliveryID(
            slot: slot, occupancy: partitions[slot].occupancy, sequence: partitions[slot].sequence(at: index),
            platform: platform)
    }

    /// The delivery's place, unless its partition went or its record is done.
    func locate(_ id: DeliveryID) -> (slot: Int, index: Int)? {
        let slot = id.slot
        guard slot < partitions.count, partitions[slot].phase != .free,
            partitions[slot].occupancy == id.occupancy, id.platform < settings.platforms.count,
            let index = partitions[slot].index(of: id.sequence)
        else { return nil }
        return (slot, index)
    }
}

extension Partition {
    /// Closes one delivery of the record; the record's size when it was the last.
    fileprivate mutating func close(entry index: Int) -> Int? {
        self[entry: index].open -= 1
        guard self[entry: index].open == 0 else { return nil }
        return self[entry: index].byteCount
    }
}
