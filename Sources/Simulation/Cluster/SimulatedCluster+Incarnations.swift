import KafkaModel
import NewsModel

/// The thread that checks whether partitions were recreated, as `ConsumerState` requests.
extension SimulatedCluster {
    mutating func lookAtIncarnations(_ address: Address) {
        agenda.add(.lookAtIncarnations(address), at: now + .seconds(2))
        lookAtRemovals(address)
        let includesIdle = (now - Scenario.start).nanoseconds / 2_000_000_000 % 5 == 0
        for lane in processes[address.process].lanes.laneIDs {
            checkIncarnations(address, lane: lane, includingIdle: includesIdle)
        }
    }

    mutating func checkIncarnations(_ address: Address, lane: LaneID, includingIdle: Bool) {
        let checks = processes[address.process].lanes[lane].consumer.incarnationChecks(includingIdle: includingIdle)
        if !checks.isEmpty { agenda.add(.examine(address, lane: lane, checks), at: now + random.milliseconds(5...800)) }
    }

    /// Asks for the first offsets of the partitions in which the consumers have skipped offsets, at most every two seconds.
    mutating func lookAtRemovals(_ address: Address) {
        guard now >= processes[address.process].looksAtRemovalsFrom else { return }
        for lane in processes[address.process].lanes.laneIDs {
            let checks = processes[address.process].lanes[lane].consumer.removalChecks()
            guard !checks.isEmpty else { continue }
            processes[address.process].looksAtRemovalsFrom = now + .seconds(2)
            agenda.add(.examineRemovals(address, lane: lane, checks), at: now + random.milliseconds(5...800))
        }
    }

    mutating func examine(_ checks: [ConsumerState.RemovalCheck], _ address: Address, lane: LaneID) {
        for check in checks {
            guard let log = truth.sources[check.partition], now >= log.servedFrom,
                unavailability(of: check.partition) == nil
            else { continue }
            var removed = processes[address.process].lanes[lane].consumer.checked(check, firstOffset: log.start)
            interference?.alter(removed: &removed)
            if !removed.isEmpty { record(.reportedRemoved(removed)) }
        }
    }

    mutating func examine(_ checks: [ConsumerState.IncarnationCheck], _ address: Address, lane: LaneID) {
        let index = address.process
        var events = ShardEvents(shards: 1)
        for check in checks {
            let finding = finding(at: check.anchor, of: check.partition)
            hideBehindGap(check, finding, address, lane: lane)
            processes[index].lanes[lane].consumer.checked(check, finding, &events)
        }
        if events.lists.contains(where: { !$0.isEmpty }) { strike(.foundIncarnation) }
        post(events, to: address)
        wakePoll(index)
    }

    /// Hides records if the anchor's offset is a gap in the present incarnation, as if compaction had removed the anchor.
    private func hideBehindGap(
        _ check: ConsumerState.IncarnationCheck, _ finding: IncarnationAnchor.Finding, _ address: Address, lane: LaneID
    ) {
        let isGap =
            switch finding {
            case .record(let found): found.offset > check.anchor.offset
            // The present incarnation ends with a transaction's marker.
            case .nothing(let end):
                end > check.anchor.offset
                    && truth.sources[check.partition].map { $0.start <= check.anchor.offset } ?? false
            case .unknown: false
            }
        guard isGap, !check.anchor.isBeginning,
            let position = processes[address.process].lanes[lane].positions[check.partition]
        else { return }
        truth.hide(check.partition, below: position.offset, publishedAfter: .distantPast, from: address)
    }

    private func finding(at anchor: IncarnationAnchor, of partition: TopicPartition) -> IncarnationAnchor.Finding {
        guard let log = truth.sources[partition], now >= log.servedFrom, unavailability(of: partition) == nil else {
            return .unknown
        }
        // An offset past the end is out of range, so reading starts at the first record.
        let index = log.index(from: anchor.offset > log.end ? 0 : anchor.offset)
        guard index < log.items.count else { return .nothing(end: log.end) }
        let (offset, item) = log.items[index]
        var record = truth.news[item].record
        record.offset = offset
        return .record(IncarnationAnchor(record))
    }
}
