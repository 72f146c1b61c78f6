import NewsModel

/// Partitions come, are restored from the ledger, and go.
extension Engine {
    mutating func assign(
        _ added: [TopicPartition], lane: Int, generation: Int, at now: Instant, into actions: inout [Action]
    ) {
        // Whatever is still here was taken from us meanwhile; its commits must not go out in the new generation.
        for slot in lanes[lane].slots { forget(slot) }
        lanes[lane].slots = []
        lanes[lane].draining = nil
        lanes[lane].isDirty = false
        lanes[lane].commitIsDue = false
        moveLinesOn(at: now, into: &actions)
        lanes[lane].generation = generation
        var restoring: [Int32] = []
        for id in added.sorted() {
            guard let slot = freeSlot() else { continue }
            partitions[slot] = Partition(
                id: id, lane: lane, generation: generation, incarnation: (partitions[slot].incarnation &+ 1) & 0x7f,
                platformCount: settings.platforms.count, duplicateWindow: settings.duplicateWindow)
            lanes[lane].slots.append(slot)
            if !restoring.contains(id.partition) { restoring.append(id.partition) }
        }
        for partition in restoring {
            let results = TopicPartition(topic: settings.resultsTopic, partition: partition)
            actions.append(.restore(lane: lane, generation: generation, results: results))
        }
        updateShare(at: now)
    }

    private mutating func freeSlot() -> Int? {
        if let slot = partitions.firstIndex(where: { $0.phase == .free }) { return slot }
        guard partitions.count < DeliveryID.slotsMax else { return nil }
        partitions.append(.free(after: 0))
        return partitions.count - 1
    }

    /// Our part of the rate is our part of all partitions. The new bucket starts empty, so that a handover cannot
    /// let two bursts through.
    mutating func updateShare(at now: Instant) {
        let owned = lanes.reduce(0) { $0 + $1.slots.count }
        let total = lanes.reduce(0) { $0 + max($1.partitionTotal, $1.slots.count) }
        let share = TokenBucket.Share(part: owned, total: max(total, 1))
        guard share != self.share else { return }
        self.share = share
        resetBucket(at: now)
    }

    mutating func resetBucket(at now: Instant) {
        bucket = rate.map { TokenBucket(rate: $0.perSecond, burst: $0.burst, share: share, emptyAt: now) }
    }

    mutating func restore(
        _ entries: [RestoredResult], end: Int64?, of results: TopicPartition, lane: Int, generation: Int,
        into actions: inout [Action]
    ) {
        let slots = lanes[lane].slots.filter { slot in
            partitions[slot].generation == generation && partitions[slot].id.partition == results.partition
                && partitions[slot].phase == .restoring
        }
        for entry in entries {
            guard let platform = settings.platforms.firstIndex(of: entry.platform),
                let slot = slots.first(where: { partitions[$0].id == entry.source.partition })
            else { continue }
            partitions[slot].learn(entry, platform: platform)
        }
        guard let end else { return }
        for slot in slots {
            partitions[slot].resultsEnd = end
            partitions[slot].phase = .active
            partitions[slot].isHeld = false
            actions.append(.resume(partitions[slot].id, lane: lane, generation: generation))
        }
    }

    mutating func revoke(
        _ gone: [TopicPartition], lane: Int, generation: Int, lost: Bool, at now: Instant, into actions: inout [Action]
    ) {
        for slot in lanes[lane].slots
        where partitions[slot].generation == generation && gone.contains(partitions[slot].id) {
            partitions[slot].phase = .draining
        }
        lanes[lane].draining = Lane.Draining(
            generation: generation, until: lost ? now : now + settings.revokeDeadline, committed: lost)
        lanes[lane].isDirty = !lost
        lanes[lane].commitIsDue = false
        lanes[lane].commitAt = now
    }

    /// Gives partitions up once everything under way is settled, stored and committed, or the deadline has passed.
    mutating func release(at now: Instant, into actions: inout [Action]) {
        for lane in lanes.indices {
            guard let draining = lanes[lane].draining else { continue }
            let going = lanes[lane].slots.filter {
                partitions[$0].phase == .draining && partitions[$0].generation == draining.generation
            }
            let isQuiet = going.allSatisfy { partitions[$0].isQuiet }
            guard (isQuiet && draining.committed && !lanes[lane].commitUnderWay) || now >= draining.until else {
                continue
            }
            for slot in going { forget(slot) }
            lanes[lane].slots.removeAll { going.contains($0) }
            lanes[lane].draining = nil
            moveLinesOn(at: now, into: &actions)
            updateShare(at: now)
            actions.append(.release(lane: lane, generation: draining.generation))
        }
        finishDrain(at: now, into: &actions)
    }

    private mutating func forget(_ slot: Int) {
        let lane = partitions[slot].lane
        lanes[lane].unexamined.removeAll { Int($0.id.slot) == slot }
        for index in 0..<partitions[slot].entries.count {
            if partitions[slot][entry: index].open > 0 {
                lanes[lane].finished(bytes: partitions[slot][entry: index].byteCount)
            }
            for platform in settings.platforms.indices {
                switch partitions[slot][delivery: index, platform].phase {
                case .waiting, .ready, .parked, .flying:
                    linesToAdvance.append(partitions[slot][delivery: index, platform].line)
                case .unread, .settled, .stored:
                    break
                }
            }
        }
        partitions[slot] = .free(after: partitions[slot].incarnation)
    }

    mutating func drain(at now: Instant) {
        guard draining == nil else { return }
        draining = now + settings.drainDeadline
        for lane in lanes.indices { lanes[lane].commitAt = now }
    }

    private mutating func finishDrain(at now: Instant, into actions: inout [Action]) {
        guard let draining, !isFinished else { return }
        let isQuiet =
            flights.count == 0
            && partitions.allSatisfy { $0.unstored == 0 }
            && lanes.allSatisfy { !$0.isDirty && !$0.commitUnderWay }
        guard isQuiet || now >= draining else { return }
        isFinished = true
        actions.append(.finish)
    }
}

extension Partition {
    /// Notes a settled delivery from the ledger.
    fileprivate mutating func learn(_ entry: RestoredResult, platform: Int) {
        restored[entry.source.offset, default: Restored(platforms: 0, firstResult: .max)].platforms |= 1 << platform
        if let known = restored[entry.source.offset], entry.offset < known.firstResult {
            restored[entry.source.offset]?.firstResult = entry.offset
        }
        guard entry.outcome == .accepted || entry.outcome == .unknown else { return }
        _ = recent.insert(
            RecentDeliveries.delivery(id: entry.eventID, version: entry.version, platform: UInt8(platform)))
    }
}
