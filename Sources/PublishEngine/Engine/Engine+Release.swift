import DequeModule
import KafkaModel
import NewsModel

/// Releases partitions: one lane's after a revoke, all at a shutdown. Requests and results in flight are finished
/// first, up to a deadline.
extension Engine {
    mutating func revoke(
        _ gone: [TopicPartition], _ lane: LaneID, _ generation: Generation, lost: Bool, _ turn: Turn
    ) {
        lanes[lane].owned.revoke(
            gone, of: generation, isLost: lost, by: turn.now + settings.revokeDeadline, in: &partitions, at: turn.now)
    }

    /// Releases partitions once all their work in flight is settled, stored and committed, or at the deadline.
    mutating func release(_ turn: inout Turn) {
        for lane in lanes.ids {
            guard let handover = lanes[lane].owned.handover,
                let going = lanes[lane].owned.release(in: partitions, at: turn.now)
            else { continue }
            for slot in going { forget(slot) }
            advanceStories(&turn)
            updateShare(turn)
            turn.actions.append(.kafka(.release(lane, handover.generation)))
        }
    }

    /// Forgets a partition. Its next owner repeats unfinished work.
    mutating func forget(_ slot: Int) {
        pendingResults.forget(slot: slot)
        let former = partitions.vacate(slot)
        lanes[former.lane].forget(former, in: slot)
        for story in former.openStories { stories.noteEnd(of: story) }
    }

    mutating func drain(_ turn: Turn) {
        guard isRunning else { return }
        shutdown = .draining(until: turn.now + settings.drainDeadline)
        for lane in lanes.ids { lanes[lane].owned.hurry(at: turn.now) }
    }

    mutating func finishDrain(_ turn: inout Turn) {
        guard case .draining(let deadline) = shutdown else { return }
        let unstored = partitions.unstored
        let isQuiet =
            inFlight.count == 0 && unstored == 0 && lanes.allSatisfy(\.owned.commit.isIdle)
        guard isQuiet || turn.now >= deadline else { return }
        shutdown = .finished
        turn.actions.append(.finish(Leftovers(unanswered: inFlight.count, unstored: unstored)))
    }
}
