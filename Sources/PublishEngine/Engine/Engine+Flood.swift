import DequeModule
import KafkaModel
import NewsModel

/// A lane most of whose events fail for their own fault stops: one event at a time finds out whether they are well again,
/// or an operator releases the lane.
extension Engine {
    /// A failed event that an operator has let through says nothing new.
    mutating func guardAgainstFlood(_ place: Place, endingAs outcome: Outcome, _ turn: Turn) {
        guard outcome.isDeadLettered || outcome == .accepted, partitions[recordOf: place].release == nil else { return }
        let lane = place.lane
        lanes[lane].floodGuard.note(failed: outcome.isDeadLettered)
        if !lanes[lane].isFlooded, lanes[lane].floodGuard.trips {
            lanes[lane].flood = Halt(
                reason: .flood, detail: "lane \(lanes[lane].settings.name): most recent events ended as dead letters",
                lane: lanes[lane].settings.name, at: turn.now, probeAfter: settings.probeFirst)
        }
    }

    /// One event of the lane, if it is time.
    mutating func sendFloodProbe(_ lane: LaneID, _ turn: inout Turn) {
        guard let flood = lanes[lane].flood, lanes[lane].mayProbe, flood.isProbeDue(at: turn.now) else { return }
        if let later = probeMustWait(turn) {
            lanes[lane].flood?.postponeProbe(to: later)
            return
        }
        if lanes[lane].ready.isEmpty {
            guard let next = nextUnexamined(of: lane) else {
                readLedgerOn(lane, &turn)
                lanes[lane].flood?.postponeProbe(to: turn.now + .seconds(1))
                return
            }
            examine(next, of: lane, &turn)
        }
        if let (place, content) = firstReady(lane, &turn) {
            let probe = send(place, content, &turn)
            lanes[lane].flood?.beginProbe(probe)
        } else {
            lanes[lane].flood?.probeFailed(at: turn.now, longest: settings.probeLongest)
        }
    }

    mutating func judgeFloodProbe(_ verdict: Verdict, _ id: RequestID, _ turn: Turn) {
        guard let lane = lanes.ids.first(where: { lanes[$0].isFlooded && lanes[$0].flood?.probe == id }) else { return }
        if case .accepted = verdict {
            lanes[lane].endFlood()
        } else {
            lanes[lane].flood?.probeFailed(at: turn.now, longest: settings.probeLongest)
        }
    }

    /// An operator decides about a lane that a flood has stopped, and about what waits on its partitions below these ends,
    /// read or not. Later records are news again.
    mutating func release(_ lane: LaneID, _ release: FloodRelease, upTo ends: [TopicPartition: Int64]) {
        guard lanes[lane].isFlooded else { return }
        lanes[lane].endFlood()
        for slot in lanes[lane].slots {
            if let end = ends[partitions[slot].id] { partitions[slot].release(release, upTo: end) }
        }
    }
}
