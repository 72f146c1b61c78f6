import KafkaModel
import NewsModel

/// Acknowledged results let the low watermark rise; commits follow it.
extension Engine {
    mutating func acknowledge(_ record: StoredRecord, _ turn: inout Turn) {
        guard let place = partitions.place(of: record.delivery) else { return }
        switch (record.kind, partitions[place].phase) {
        case (.deadLetter, .pending):
            guard let request = pendingResults.take(place.id) else { return }
            write(request, place, &turn)
            advanceStories(&turn)
        case (.held, .pending): finishHold(place, &turn)
        case (.result, .settled):
            partitions.noteResult(at: record.offset, of: place)
            // Lanes that are idle move their L along, or a long ledger of another lane would delay them after a restart.
            if record.offset % LaneCommit.ledgerStep == 0 {
                for lane in lanes.ids where !lanes[lane].slots.isEmpty { lanes[lane].commit.note() }
            }
            leaveWindow(place.lane, bytes: partitions[place.slot].resultStored(place, at: turn.now))
        default: break
        }
    }

    mutating func commit(_ turn: inout Turn) {
        for lane in lanes.ids {
            if turn.now >= lanes[lane].commit.renewAt {
                lanes[lane].commit.renew(at: turn.now)
                commitAnew(lane)
            }
            if mustAskForAssignment(lane) { lanes[lane].commit.note() }
            guard lanes[lane].commit.isOpen,
                lanes[lane].commit.takeDue(at: turn.now, mustWait: hasWorkToAwait(lane))
            else { continue }
            let offsets = commitOffsets(lane)
            noteCommit(lane, isEmpty: offsets.isEmpty)
            guard !offsets.isEmpty else {
                lanes[lane].handover?.committed()
                continue
            }
            lanes[lane].commit.begin(at: turn.now, interval: settings.commitInterval)
            turn.actions.append(.kafka(.commit(lane, lanes[lane].generation, offsets)))
        }
    }

    /// All offsets go out once more: a ledger offset must never go out without the watermark it was computed from.
    mutating func commitAnew(_ lane: LaneID) {
        for slot in lanes[lane].slots { partitions[slot].commit.repeatWatermark() }
        lanes[lane].commit.ledger = [:]
        lanes[lane].commit.note()
    }

    /// Before a last commit, replies and acknowledgements are worth waiting for (the release has its own deadline).
    private func hasWorkToAwait(_ lane: LaneID) -> Bool {
        guard !isRunning || lanes[lane].handover != nil else { return false }
        return lanes[lane].slots.contains { slot in
            (!isRunning || partitions[slot].isDraining) && !partitions[slot].isQuiet
        }
    }

    /// W of every source partition that moved, and L of its results partition: the least of all topics that share it.
    private mutating func commitOffsets(_ lane: LaneID) -> [PartitionOffset] {
        var offsets: [PartitionOffset] = []
        var ledger: [Int32: Int64] = [:]
        var moved: Set<Int32> = []
        for slot in lanes[lane].slots {
            let partition = partitions[slot].id.partition
            // Until the ledger is read, the place where its results begin is unknown. At first L stays; beside the watermark of a new
            // incarnation it goes to the beginning, since results of its records may stand anywhere.
            let unknown = partitions[slot].lowWatermark == nil ? Int64.min : 0
            let start = partitions.ledgerStart(of: slot) ?? unknown
            ledger[partition] = min(ledger[partition] ?? .max, start)
            guard let watermark = takeWatermark(of: slot) else { continue }
            offsets.append(watermark)
            if start != .min { moved.insert(partition) }
        }
        for (partition, start) in ledger.sorted(by: { $0.key < $1.key }) where start >= 0 && ownsAll(partition, lane) {
            let committed = lanes[lane].commit.ledger[partition]
            // It falls when a new incarnation is read from its beginning.
            let mustGo = committed.map { start < $0 || start >= $0 + LaneCommit.ledgerStep } ?? true
            guard mustGo || moved.contains(partition) else { continue }
            lanes[lane].commit.ledger[partition] = start
            offsets.append(PartitionOffset(TopicPartition(topic: settings.resultsTopic, partition: partition), start))
        }
        return offsets
    }

    /// - Returns: the partition's watermark if it moved.
    private mutating func takeWatermark(of slot: Int) -> PartitionOffset? {
        guard partitions[slot].mayCommitWatermark, let watermark = partitions[slot].lowWatermark,
            watermark != partitions[slot].commit.watermark
        else { return nil }
        partitions[slot].commit.begin(watermark)
        return PartitionOffset(partitions[slot].id, watermark)
    }

    /// If the topics of a lane differed in length when partitions were shared out, partition p of one may belong to another
    /// member than p of the other: then no member knows all that L must reach back to, and it stays.
    private func ownsAll(_ partition: Int32, _ lane: LaneID) -> Bool {
        let topics = lanes[lane].settings.topics
        return topics.count == 1
            || lanes[lane].slots.count { partitions[$0].id.partition == partition } == Set(topics).count
    }

    mutating func finishCommit(
        _ lane: LaneID, _ generation: Generation, offsets: [PartitionOffset], failure: KafkaFailure?, _ turn: Turn
    ) {
        let isCurrent = generation == lanes[lane].generation
        for slot in lanes[lane].slots where isCurrent {
            let id = partitions[slot].id
            partitions[slot].commit.finish(isTaken: offsets.contains { $0.partition == id })
        }
        guard let failure else {
            lanes[lane].commit.succeeded()
            noteCommitAnswer(lane, isCurrent: isCurrent, isTaken: true, turn)
            if !lanes[lane].commit.isOpen { lanes[lane].handover?.committed() }
            return
        }
        lanes[lane].commit.failed(failure, at: turn.now, interval: settings.commitInterval)
        noteCommitAnswer(lane, isCurrent: isCurrent, isTaken: !offsets.isEmpty, turn)
        if isCurrent { commitAnew(lane) }
        let isLastTry = !isRunning && lanes[lane].commit.failing?.count ?? 0 >= 3
        if lanes[lane].handover != nil || isLastTry {
            // A last commit that fails (a broker may refuse one while it rebalances) costs the next owner only a
            // longer look at the ledger.
            lanes[lane].commit.forget()
            lanes[lane].handover?.committed()
        }
    }
}
