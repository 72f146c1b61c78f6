import KafkaModel
import NewsModel

/// Raises the low watermark as results are acknowledged, and commits it.
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
            // Idle lanes also advance their L. Otherwise another lane's long ledger would delay them after a restart.
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
                repeatCommits(lane)
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

    /// Makes all offsets due again: a ledger offset must never be committed without the watermark behind it.
    mutating func repeatCommits(_ lane: LaneID) {
        for slot in lanes[lane].slots { partitions[slot].commit.repeatWatermark() }
        lanes[lane].commit.ledger = [:]
        lanes[lane].commit.note()
    }

    /// Replies and acknowledgements are worth waiting for before a last commit. The release has its own deadline.
    private func hasWorkToAwait(_ lane: LaneID) -> Bool {
        guard !isRunning || lanes[lane].handover != nil else { return false }
        return lanes[lane].slots.contains { slot in
            (!isRunning || partitions[slot].isDraining) && !partitions[slot].isQuiet
        }
    }

    /// W of every source partition that moved, and L of its results partition: the minimum of its topics.
    private mutating func commitOffsets(_ lane: LaneID) -> [PartitionOffset] {
        var offsets: [PartitionOffset] = []
        var ledger: [Int32: Int64] = [:]
        var moved: Set<Int32> = []
        for slot in lanes[lane].slots {
            let partition = partitions[slot].id.partition
            // Before the ledger is read, the first result's offset is unknown. At first L stays. Beside a new
            // incarnation's watermark L becomes 0, because its results may be anywhere.
            let unknown = partitions[slot].lowWatermark == nil ? Int64.min : 0
            let start = partitions.ledgerStart(of: slot) ?? unknown
            ledger[partition] = min(ledger[partition] ?? .max, start)
            guard let watermark = takeWatermark(of: slot) else { continue }
            offsets.append(watermark)
            if start != .min { moved.insert(partition) }
        }
        for (partition, start) in ledger.sorted(by: { $0.key < $1.key }) where start >= 0 && ownsAll(partition, lane) {
            let committed = lanes[lane].commit.ledger[partition]
            // L falls when a new incarnation is read from its beginning.
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

    /// If the lane's topics differed in length at assignment, different members may own partition p of each topic. Then
    /// no member knows how far back L must reach, so L stays.
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
        if isCurrent { repeatCommits(lane) }
        let isLastTry = !isRunning && lanes[lane].commit.failing?.count ?? 0 >= 3
        if lanes[lane].handover != nil || isLastTry {
            // A failed last commit only makes the next owner read more of the ledger. A broker may refuse one while it
            // rebalances.
            lanes[lane].commit.forget()
            lanes[lane].handover?.committed()
        }
    }
}
