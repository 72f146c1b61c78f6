import NewsModel

/// Acknowledged results let the low watermark rise; commits follow it.
extension Engine {
    mutating func acknowledge(_ acknowledgement: Acknowledgement, at now: Instant) {
        let (token, offset) = (acknowledgement.token, acknowledgement.offset)
        let id = DeliveryID(token: token)
        guard let (slot, index) = locate(id),
            partitions[slot][delivery: index, Int(id.platform)].acknowledgements > 0
        else { return }
        if let offset, !DeliveryID.isDeadLetter(token: token) {
            partitions[slot].noteResult(at: offset, entry: index)
        }
        if partitions[slot].acknowledge(delivery: index, Int(id.platform)) { close(slot: slot, index: index) }
    }

    /// One delivery less is open; the last one frees the record.
    mutating func close(slot: Int, index: Int) {
        guard let bytes = partitions[slot].close(entry: index) else { return }
        let lane = partitions[slot].lane
        lanes[lane].finished(bytes: bytes)
        partitions[slot].advance()
        lanes[lane].isDirty = true
    }

    mutating func commit(at now: Instant, into actions: inout [Action]) {
        for lane in lanes.indices where lanes[lane].isDirty && !lanes[lane].commitUnderWay {
            lanes[lane].commitIsDue = !hasWorkToAwait(lane)
            guard now >= lanes[lane].commitAt, lanes[lane].commitIsDue else { continue }
            lanes[lane].commitIsDue = false
            lanes[lane].isDirty = false
            let offsets = commitOffsets(lane)
            guard !offsets.isEmpty else {
                lanes[lane].draining?.committed = true
                continue
            }
            lanes[lane].commitUnderWay = true
            lanes[lane].commitAt = now + settings.commitInterval
            actions.append(.commit(lane: lane, generation: lanes[lane].generation, offsets: offsets))
        }
    }

    /// Before a last commit, replies and acknowledgements are worth waiting for (the release has its own deadline).
    private func hasWorkToAwait(_ lane: Int) -> Bool {
        guard draining != nil || lanes[lane].draining != nil else { return false }
        return lanes[lane].slots.contains { slot in
            (draining != nil || partitions[slot].phase == .draining) && !partitions[slot].isQuiet
        }
    }

    /// W of every source partition that moved, and L of its results partition: the least of all topics that share it.
    private mutating func commitOffsets(_ lane: Int) -> [CommitOffset] {
        var offsets: [CommitOffset] = []
        var ledger: [Int32: Int64] = [:]
        var moved: [Int32] = []
        for slot in lanes[lane].slots {
            guard partitions[slot].phase != .restoring else { continue }
            partitions[slot].pruneRestored()
            let id = partitions[slot].id
            ledger[id.partition] = min(ledger[id.partition] ?? .max, partitions[slot].ledgerStart)
            guard let watermark = partitions[slot].lowWatermark, watermark != partitions[slot].committed else {
                continue
            }
            partitions[slot].committed = watermark
            offsets.append(CommitOffset(partition: id, offset: watermark))
            if !moved.contains(id.partition) { moved.append(id.partition) }
        }
        for partition in moved {
            guard let start = ledger[partition] else { continue }
            let results = TopicPartition(topic: settings.resultsTopic, partition: partition)
            offsets.append(CommitOffset(partition: results, offset: start))
        }
        return offsets
    }

    mutating func finishCommit(lane: Int, succeeded: Bool, at now: Instant) {
        lanes[lane].commitUnderWay = false
        if !succeeded {
            // Offsets are commanded anew from the current watermarks, all of them: a ledger offset must never go out
            // without the watermark it was computed from.
            for slot in lanes[lane].slots { partitions[slot].committed = nil }
        }
        if succeeded || lanes[lane].draining != nil {
            // A last commit that fails (a broker may refuse one while it rebalances) costs the next owner only a
            // longer look at the ledger.
            if !lanes[lane].isDirty { lanes[lane].draining?.committed = true }
        } else {
            lanes[lane].isDirty = true
            lanes[lane].commitAt = now + settings.commitInterval
        }
    }

    /// The delivery's place, unless its partition went or its record is done.
    func locate(_ id: DeliveryID) -> (slot: Int, index: Int)? {
        let slot = Int(id.slot)
        guard slot < partitions.count, partitions[slot].phase != .free,
            partitions[slot].incarnation == id.incarnation, Int(id.platform) < settings.platforms.count,
            let index = partitions[slot].index(of: id.sequence)
        else { return nil }
        return (slot, index)
    }
}

extension Partition {
    fileprivate mutating func noteResult(at offset: Int64, entry index: Int) {
        if offset < self[entry: index].firstResult { self[entry: index].firstResult = offset }
        resultsEnd = max(resultsEnd, offset + 1)
    }

    /// `true` when that was the last acknowledgement the delivery waited for.
    fileprivate mutating func acknowledge(delivery index: Int, _ platform: Int) -> Bool {
        self[delivery: index, platform].acknowledgements -= 1
        guard self[delivery: index, platform].acknowledgements == 0 else { return false }
        self[delivery: index, platform].phase = .stored
        unstored -= 1
        return true
    }

    /// Closes one delivery of the record; the record's size when it was the last.
    fileprivate mutating func close(entry index: Int) -> Int? {
        self[entry: index].open -= 1
        guard self[entry: index].open == 0 else { return nil }
        return self[entry: index].byteCount
    }

    /// Records below the low watermark will not come again. (Those between it and the position may yet be examined.)
    fileprivate mutating func pruneRestored() {
        guard !restored.isEmpty, let lowWatermark else { return }
        restored = restored.filter { $0.key >= lowWatermark }
    }
}
