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
            let bytes = partitions.resultStored(
                at: record.offset, isAlone: record.isAlone, of: place, at: turn.now)
            lanes[place.lane].finishRecord(bytes: bytes)
            // The rest of the record may have waited for this delivery before it could be held.
            if lanes[place.lane].delayed.hasEmbargoes, settings.platforms.count > 1,
                let rest = partitions.place(of: place.id)
            {
                holdRest(of: rest.on(0), &turn)
            }
            if let copy = pendingResults.takeCopy(of: place.id) {
                takeBackHeld(
                    olderThan: copy.routed, from: copy.source, writtenAt: copy.writtenAt, isGone: copy.isGone, &turn)
            }
            // Idle lanes commit their ledger offsets too, so that after a restart they do not read all results of other lanes.
            if record.offset % LaneCommit.ledgerStep == 0 {
                for lane in lanes.ids where !lanes[lane].slots.isEmpty { lanes[lane].owned.noteMove() }
            }
        default: break
        }
    }

    mutating func commit(_ turn: inout Turn) {
        for lane in lanes.ids {
            // Reads the lane's settings only if a commit is due, because each read counts references.
            guard lanes[lane].owned.isCommitDue(in: &partitions, isRunning: isRunning, at: turn.now),
                let offsets = lanes[lane].owned.takeCommit(
                    of: &partitions, settings, lane: lanes[lane].settings, at: turn.now)
            else { continue }
            turn.actions.append(.kafka(.commit(lane, lanes[lane].owned.generation, offsets)))
        }
    }

    mutating func finishCommit(
        _ lane: LaneID, _ generation: Generation, offsets: [PartitionOffset], failure: KafkaFailure?, _ turn: Turn
    ) {
        lanes[lane].owned.receiveAnswer(
            to: generation, accepted: offsets, failure: failure, in: &partitions, isRunning: isRunning,
            interval: settings.commitInterval, at: turn.now)
    }
}
