import KafkaModel
import NewsModel

/// Assigns partitions, restores them from the ledger, and restarts them when their offsets start again.
extension Engine {
    mutating func assign(
        _ added: [TopicPartition], _ lane: LaneID, _ generation: Generation, _ turn: inout Turn
    ) {
        // Partitions that are still here were revoked meanwhile. Their commits must not go out in the new generation.
        for slot in lanes[lane].slots { forget(slot) }
        advanceStories(&turn)
        let added = added.sorted()
        let slots = added.compactMap { partitions.occupy($0, lane, generation, settings, at: turn.now) }
        lanes[lane].owned.assign(slots, generation, at: turn.now)
        lanes[lane].counts.assigned(at: turn.now)
        var restoring: Set<Int32> = []
        for slot in slots {
            let partition = partitions[slot].id.partition
            held.assign(partitions[slot].id)
            guard restoring.insert(partition).inserted else { continue }
            let sources = added.filter { $0.partition == partition }
            askForLedger(of: partition, lane, sources: sources, window: Int64(settings.duplicateWindow), &turn)
        }
        updateShare(turn)
    }

    /// - Parameter offset: the first offset to read; `nil` for the group's committed offset.
    private func askForLedger(
        of partition: Int32, _ lane: LaneID, sources: [TopicPartition], window: Int64, from offset: Int64? = nil,
        _ turn: inout Turn
    ) {
        let results = TopicPartition(topic: settings.resultsTopic, partition: partition)
        let start = RestoreStart(window: window, since: turn.wall - settings.ledgerAge, offset: offset)
        turn.actions.append(
            .kafka(.restore(lane, lanes[lane].owned.generation, results: results, sources: sources, start)))
    }

    // MARK: The ledger

    mutating func restore(
        _ entries: [LedgerEntry], end: RestoreEnd?, of results: TopicPartition, _ lane: LaneID,
        _ generation: Generation, _ turn: inout Turn
    ) {
        let slots = restoring(results, lane, generation)
        for slot in slots { partitions[slot].restore() }
        let capacity = max(settings.restoredMax / max(partitionCount, 1), 2)
        for entry in entries {
            guard let platform = settings.platforms.firstIndex(of: entry.platform),
                let slot = slots.first(where: { partitions[$0].id == entry.source.partition })
            else { continue }
            partitions[slot].restore(entry, platform: platform, capacity: capacity)
            restoreVersion(of: entry, platform, slot, lane, &turn)
            restoreEnd(of: entry, platform, slot)
        }
        advanceStories(&turn)
        guard let end else { return }
        for slot in slots {
            guard partitions[slot].finishRestore(end) else { continue }
            held.begin(end.incarnations[partitions[slot].id] ?? 0, of: partitions[slot].id)
            turn.actions.append(.kafka(.resume(partitions[slot].id, lane, generation)))
            // A new incarnation's watermark went out before it was known where its results begin.
            if partitions[slot].lowWatermark != nil { lanes[lane].owned.noteMove() }
        }
    }

    /// Reads more of the ledger, because the ledger may already have a result for the lane's next record. Does nothing
    /// without a next record.
    mutating func readLedgerOn(_ lane: LaneID, _ turn: inout Turn) {
        guard let next = lanes[lane].unexamined.first, let slot = partitions.place(of: next.id)?.slot else { return }
        let id = partitions[slot].id
        let results = TopicPartition(topic: settings.resultsTopic, partition: id.partition)
        // A second request for the same results partition would take the first one's place.
        guard restoring(results, lane, partitions[slot].generation).isEmpty else { return }
        let offset = partitions[slot].readLedgerOn(at: turn.now)
        askForLedger(of: id.partition, lane, sources: [id], window: 0, from: offset, &turn)
    }

    mutating func restoreFailed(
        _ failure: KafkaFailure, of results: TopicPartition, _ lane: LaneID, _ generation: Generation
    ) {
        for slot in restoring(results, lane, generation) { partitions[slot].restore(failure: failure) }
    }

    /// The lane's partitions whose ledger is being read, for the first time or further on.
    private func restoring(_ results: TopicPartition, _ lane: LaneID, _ generation: Generation) -> [Int] {
        lanes[lane].slots.filter { slot in
            partitions[slot].generation == generation && partitions[slot].id.partition == results.partition
                && partitions[slot].ledgerReading != nil
        }
    }

    // MARK: Another incarnation

    /// The partition's offsets start again. The engine finishes the records read of the former incarnation. It no
    /// longer commits that incarnation's offsets, because they would name other records now.
    mutating func finishIncarnation(
        of id: TopicPartition, _ lane: LaneID, _ generation: Generation, next: Int, _ now: Instant
    ) {
        guard let slot = slot(of: id, lane, generation), partitions[slot].finishIncarnation(next: next, at: now)
        else { return }
        lanes[lane].owned.finishIncarnation()
    }

    /// Replaces finished incarnations with the new ones, which are read from their beginning. The ledger is read again,
    /// because some new records may have been sent already as records of the old incarnation.
    mutating func restartFinished(_ turn: inout Turn) {
        for lane in lanes.ids {
            for slot in lanes[lane].owned.takeFinished(in: partitions) { restart(slot, lane, &turn) }
        }
    }

    private mutating func restart(_ slot: Int, _ lane: LaneID, _ turn: inout Turn) {
        let id = partitions[slot].id
        held.begin(partitions[slot].nextIncarnation, of: id)
        partitions.restart(slot, settings, at: turn.now)
        // The group's committed offset belongs to the former incarnation: after a crash it would hide records.
        lanes[lane].owned.noteMove()
        turn.actions.append(.kafka(.rewind(id, lane, partitions[slot].generation)))
        // No watermark tells which records of the new incarnation are done, so no source partitions are named.
        askForLedger(of: id.partition, lane, sources: [], window: Int64(settings.duplicateWindow) * 4, &turn)
    }
}
