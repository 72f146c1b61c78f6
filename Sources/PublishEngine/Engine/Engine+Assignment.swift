import KafkaModel
import NewsModel

/// Partitions come, are restored from the ledger, begin anew, and go.
extension Engine {
    mutating func assign(
        _ added: [TopicPartition], _ lane: LaneID, _ generation: Generation, _ turn: inout Turn
    ) {
        // Whatever is still here was taken from us meanwhile; its commits must not go out in the new generation.
        for slot in lanes[lane].slots { forget(slot) }
        lanes[lane].slots = []
        lanes[lane].draining = nil
        lanes[lane].commit.isDirty = false
        lanes[lane].commit.isDue = false
        lanes[lane].commit.ledger = [:]
        lanes[lane].commit.renewAt = turn.now + LaneCommit.renewInterval
        advanceStories(&turn)
        lanes[lane].generation = generation
        lanes[lane].counts.assigned(at: turn.now)
        var restoring: [Int32] = []
        for id in added.sorted() {
            guard let slot = freeSlot() else { continue }
            partitions[slot] = Partition(
                id: id, lane: lane, generation: generation, occupancy: (partitions[slot].occupancy &+ 1) & 0x7f,
                platformCount: settings.platforms.count, duplicateWindow: settings.duplicateWindow)
            partitions[slot].restoringSince = turn.now
            lanes[lane].slots.append(slot)
            if !restoring.contains(id.partition) { restoring.append(id.partition) }
        }
        for partition in restoring {
            let sources = added.sorted().filter { $0.partition == partition }
            askForLedger(of: partition, lane, sources: sources, window: Int64(settings.duplicateWindow), &turn)
        }
        updateShare(turn)
    }

    private mutating func freeSlot() -> Int? {
        if let slot = partitions.firstIndex(where: { $0.phase == .free }) { return slot }
        guard partitions.count < DeliveryID.slotsMax else { return nil }
        partitions.append(.free(after: 0))
        return partitions.count - 1
    }

    private func askForLedger(
        of partition: Int32, _ lane: LaneID, sources: [TopicPartition], window: Int64, _ turn: inout Turn
    ) {
        let results = TopicPartition(topic: settings.resultsTopic, partition: partition)
        let start = RestoreStart(window: window, since: turn.wall - settings.ledgerAge)
        turn.actions.append(
            .kafka(.restore(lane, lanes[lane].generation, results: results, sources: sources, start)))
    }

    // MARK: The ledger

    mutating func restore(
        _ entries: [LedgerEntry], end: RestoreEnd?, of results: TopicPartition, _ lane: LaneID,
        _ generation: Generation, _ turn: inout Turn
    ) {
        let slots = restoring(results, lane, generation)
        for slot in slots { partitions[slot].restoreFailure = nil }
        for entry in entries {
            guard let platform = settings.platforms.firstIndex(of: entry.platform),
                let slot = slots.first(where: { partitions[$0].id == entry.source.partition })
            else { continue }
            partitions[slot].learn(entry, platform: platform)
        }
        guard let end, !slots.isEmpty else { return }
        for slot in slots {
            partitions[slot].finishRestore(end: end.offset)
            turn.actions.append(.kafka(.resume(partitions[slot].id, lane, generation)))
        }
    }

    mutating func restoreFailed(
        _ failure: KafkaFailure, of results: TopicPartition, _ lane: LaneID, _ generation: Generation
    ) {
        for slot in restoring(results, lane, generation) { partitions[slot].restoreFailure = failure }
    }

    private func restoring(_ results: TopicPartition, _ lane: LaneID, _ generation: Generation) -> [Int] {
        lanes[lane].slots.filter { slot in
            partitions[slot].generation == generation && partitions[slot].id.partition == results.partition
                && partitions[slot].phase == .restoring
        }
    }

    // MARK: Another incarnation

    /// The partition's offsets start again. What was read of the former incarnation is news all the same: it is finished
    /// first, and its offsets are not committed any more, as they would name other records now.
    mutating func beginAnew(_ id: TopicPartition, _ lane: LaneID, _ generation: Generation) {
        guard let slot = slot(of: id, lane, generation) else { return }
        switch partitions[slot].phase {
        case .active, .restoring:
            partitions[slot].phase = .finishing
            lanes[lane].hasFinishingPartitions = true
        case .free, .finishing, .draining: break
        }
    }

    /// Former incarnations that are finished make way for the new ones, which are read from their beginning. The ledger is
    /// read once more: it knows what was already sent of the new one, should some of it have been taken for the old one's.
    mutating func restartFinished(_ turn: inout Turn) {
        for lane in lanes.indices where lanes[lane].hasFinishingPartitions {
            lanes[lane].hasFinishingPartitions = false
            for slot in lanes[lane].slots where partitions[slot].phase == .finishing {
                if partitions[slot].entries.isEmpty {
                    restart(slot, &turn)
                } else {
                    lanes[lane].hasFinishingPartitions = true
                }
            }
        }
    }

    private mutating func restart(_ slot: Int, _ turn: inout Turn) {
        let (id, lane) = (partitions[slot].id, partitions[slot].lane)
        let generation = partitions[slot].generation
        let recent = partitions[slot].recent
        partitions[slot] = Partition(
            id: id, lane: lane, generation: generation, occupancy: (partitions[slot].occupancy &+ 1) & 0x7f,
            platformCount: settings.platforms.count, duplicateWindow: settings.duplicateWindow)
        partitions[slot].recent = recent
        partitions[slot].restoringSince = turn.now
        // What the group has committed is an offset of the former incarnation: after a crash it would hide records.
        partitions[slot].startFromBeginning()
        lanes[lane].commit.isDirty = true
        turn.actions.append(.kafka(.rewind(id, lane, generation)))
        // No watermark says which records of the new incarnation are done, so no source partitions are named.
        askForLedger(of: id.partition, lane, sources: [], window: Int64(settings.duplicateWindow) * 4, &turn)
    }

    // MARK: The share of the rate

    mutating func learn(_ counts: [String: Int], readIn: [Generation], _ turn: Turn) {
        for lane in lanes.indices {
            let isFresh = readIn.indices.contains(lane) && readIn[lane] >= lanes[lane].generation
            lanes[lane].counts.learn(counts, of: lanes[lane].settings.topics, isFresh: isFresh, at: turn.now)
        }
        updateShare(turn)
    }

    /// Our part of the rate is our part of all partitions. The new bucket starts empty, so that a handover cannot
    /// let two bursts through. A lane whose counts were not read since its assignment counts for nothing yet, nor does a topic
    /// that nobody knows the length of: others may have its partitions and count them all.
    mutating func updateShare(_ turn: Turn) {
        let owned = lanes.reduce(0) { sum, lane in
            guard lane.counts.isFresh else { return sum }
            return sum + lane.slots.count { lane.counts.byTopic[partitions[$0].id.topic] != nil }
        }
        let total = lanes.reduce(0) { $0 + max($1.counts.total, $1.slots.count) }
        let share = owned > 0 ? TokenBucket.Share(part: owned, total: max(total, 1)) : nil
        guard share != self.share else { return }
        self.share = share
        resetBucket(turn)
    }

    mutating func resetBucket(_ turn: Turn) {
        bucket = share.flatMap { share in
            rate.map { TokenBucket(rate: $0.perSecond, burst: $0.burst, share: share, emptyAt: turn.now) }
        }
    }

    /// At a limited rate nothing leaves before our share is known.
    var knowsItsShare: Bool { rate == nil || share != nil }

    // MARK: Giving up

    mutating func revoke(
        _ gone: [TopicPartition], _ lane: LaneID, _ generation: Generation, lost: Bool, _ turn: Turn
    ) {
        for slot in lanes[lane].slots
        where partitions[slot].generation == generation && gone.contains(partitions[slot].id) {
            // A former incarnation's offsets are not committed, not even at the end.
            if partitions[slot].phase == .finishing { partitions[slot].isCommitting = false }
            partitions[slot].phase = .draining
        }
        lanes[lane].draining = Lane.Draining(
            generation: generation, until: lost ? turn.now : turn.now + settings.revokeDeadline, committed: lost)
        lanes[lane].commit.isDirty = !lost
        lanes[lane].commit.isDue = false
        lanes[lane].commit.notBefore = turn.now
    }

    /// Gives partitions up once everything under way is settled, stored and committed, or the deadline has passed.
    mutating func release(_ turn: inout Turn) {
        for lane in lanes.indices {
            guard let draining = lanes[lane].draining else { continue }
            let going = lanes[lane].slots.filter {
                partitions[$0].phase == .draining && partitions[$0].generation == draining.generation
            }
            let isQuiet = going.allSatisfy { partitions[$0].isQuiet }
            guard (isQuiet && draining.committed && !lanes[lane].commit.isUnderWay) || turn.now >= draining.until else {
                continue
            }
            for slot in going { forget(slot) }
            lanes[lane].slots.removeAll { going.contains($0) }
            lanes[lane].draining = nil
            advanceStories(&turn)
            updateShare(turn)
            turn.actions.append(.kafka(.release(LaneID(lane), draining.generation)))
        }
        finishDrain(&turn)
    }

    private mutating func forget(_ slot: Int) {
        let lane = partitions[slot].lane
        lanes[lane].unexamined.removeAll { $0.id.slot == slot }
        lanes[lane].ready.removeAll { $0.slot == slot }
        for index in 0..<partitions[slot].entries.count {
            if partitions[slot][entry: index].open > 0 {
                lanes[lane].finished(bytes: partitions[slot][entry: index].byteCount)
            }
            for platform in settings.platforms.indices {
                let state = partitions[slot][delivery: index, platform]
                if state.isOpen { linesToAdvance.append(state.line) }
                if state.phase == .deadLettered {
                    pendingResults[id(slot: slot, index: index, platform: platform)] = nil
                }
            }
        }
        partitions[slot] = .free(after: partitions[slot].occupancy)
    }

    mutating func drain(_ turn: Turn) {
        guard draining == nil else { return }
        draining = turn.now + settings.drainDeadline
        for lane in lanes.indices { lanes[lane].commit.notBefore = turn.now }
    }

    private mutating func finishDrain(_ turn: inout Turn) {
        guard let draining, !isFinished else { return }
        let unstored = partitions.reduce(0) { $0 + $1.unstored }
        let isQuiet =
            inFlight.count == 0 && unstored == 0 && lanes.allSatisfy { !$0.commit.isDirty && !$0.commit.isUnderWay }
        guard isQuiet || turn.now >= draining else { return }
        isFinished = true
        turn.actions.append(.finish(Leftovers(unanswered: inFlight.count, unstored: unstored)))
    }
}
