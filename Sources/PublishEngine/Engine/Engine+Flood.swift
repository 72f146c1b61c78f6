import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

/// Stops a lane when most of its events fail for their own fault. One event at a time then probes whether events
/// succeed again, or an operator releases the lane.
extension Engine {
    /// Counts an outcome for the lane's guard. Events that an operator has released do not count.
    mutating func count(_ outcome: Outcome, of place: Place, _ turn: Turn) {
        guard outcome.isDeadLettered || outcome == .accepted, partitions[recordOf: place].release == nil else { return }
        lanes[place.lane].count(isFailure: outcome.isDeadLettered, at: turn.now, probeAfter: settings.probeFirst)
    }

    /// Sends one event of the lane as a probe, if a probe is due.
    mutating func sendFloodProbe(_ lane: LaneID, _ turn: inout Turn) {
        guard lanes[lane].isProbeDue(at: turn.now) else { return }
        if let later = probeMustWait(turn) { return lanes[lane].postponeProbe(to: later) }
        if lanes[lane].ready.isEmpty {
            guard let next = lanes[lane].takeUnexamined(in: partitions) else {
                readLedgerOn(lane, &turn)
                return lanes[lane].postponeProbe(to: turn.now + .seconds(1))
            }
            examine(next, of: lane, &turn)
        }
        if let (place, content) = firstReady(lane, &turn) {
            let probe = send(place, content, &turn)
            lanes[lane].beginProbe(probe)
        } else {
            lanes[lane].probeFailed(at: turn.now, longest: settings.probeLongest)
        }
    }

    mutating func judgeFloodProbe(_ meaning: SendMeaning, _ id: RequestID, _ turn: Turn) {
        guard let lane = lanes.ids.first(where: { lanes[$0].isFlooded && lanes[$0].flood?.probe == id }) else { return }
        if case .accepted = meaning {
            lanes[lane].endFlood()
        } else {
            lanes[lane].probeFailed(at: turn.now, longest: settings.probeLongest)
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
