import DequeModule
import KafkaModel
import NewsModel

/// Releases partitions: one lane's after a revoke, all at a shutdown. Requests and results in flight are finished
/// first, up to a deadline.
extension Engine {
    mutating func revoke(
        _ gone: [TopicPartition], _ lane: LaneID, _ generation: Generation, lost: Bool, _ turn: Turn
    ) {
        for slot in lanes[lane].slots
        where partitions[slot].generation == generation && gone.contains(partitions[slot].id) {
            partitions[slot].drain()
        }
        lanes[lane].handover = Lane.Handover(
            of: generation, by: lost ? turn.now : turn.now + settings.revokeDeadline, isLost: lost)
        if lost { lanes[lane].commit.forget() } else { lanes[lane].commit.note() }
        lanes[lane].commit.hurry(at: turn.now)
    }

    /// Releases partitions once all their work in flight is settled, stored and committed, or at the deadline.
    mutating func release(_ turn: inout Turn) {
        for lane in lanes.ids {
            guard let handover = lanes[lane].handover else { continue }
            let going = lanes[lane].slots.filter {
                partitions[$0].isDraining && partitions[$0].generation == handover.generation
            }
            let isDone =
                handover.isCommitted && !lanes[lane].commit.isUnderWay && going.allSatisfy { partitions[$0].isQuiet }
            guard isDone || turn.now >= handover.deadline else { continue }
            for slot in going { forget(slot) }
            lanes[lane].slots.removeAll { going.contains($0) }
            lanes[lane].handover = nil
            advanceStories(&turn)
            updateShare(turn)
            turn.actions.append(.kafka(.release(lane, handover.generation)))
        }
    }

    /// Forgets a partition. Its next owner repeats unfinished work.
    mutating func forget(_ slot: Int) {
        let lane = partitions[slot].lane
        lanes[lane].unexamined.removeAll { $0.id.slot == slot }
        lanes[lane].ready = lanes[lane].ready.filter { $0.slot != slot }
        pendingResults.forget(slot: slot)
        let former = partitions.vacate(slot)
        for index in former.entries.indices {
            if former.entries[index].open > 0 { lanes[lane].finished(bytes: former.entries[index].byteCount) }
            for platform in settings.platforms.indices where former[index, platform].isOpen {
                stories.noteEnd(of: former[index, platform].story)
            }
        }
    }

    mutating func drain(_ turn: Turn) {
        guard isRunning else { return }
        shutdown = .draining(until: turn.now + settings.drainDeadline)
        for lane in lanes.ids { lanes[lane].commit.hurry(at: turn.now) }
    }

    mutating func finishDrain(_ turn: inout Turn) {
        guard case .draining(let deadline) = shutdown else { return }
        let unstored = partitions.unstored
        let isQuiet = inFlight.count == 0 && unstored == 0 && lanes.allSatisfy(\.commit.isIdle)
        guard isQuiet || turn.now >= deadline else { return }
        shutdown = .finished
        turn.actions.append(.finish(Leftovers(unanswered: inFlight.count, unstored: unstored)))
    }
}
