import DequeModule
import KafkaModel
import NewsModel

/// Stops a lane when most of its events fail for their own fault. One event at a time then probes whether events
/// succeed again, or an operator releases the lane.
extension Engine {
    /// Counts an outcome. Events that an operator has released do not count.
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

    /// Sends one event of the lane as a probe, if a probe is due.
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

    /// Applies an operator's decision about a lane that a flood has stopped. It covers the records below these ends,
    /// whether read or not. Later records are treated normally.
    mutating func release(_ lane: LaneID, _ release: FloodRelease, upTo ends: [TopicPartition: Int64]) {
        guard lanes[lane].isFlooded else { return }
        lanes[lane].endFlood()
        for slot in lanes[lane].slots {
            if let end = ends[partitions[slot].id] { partitions[slot].release(release, upTo: end) }
        }
    }
}
