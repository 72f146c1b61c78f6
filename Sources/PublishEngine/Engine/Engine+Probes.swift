import DequeModule
import KafkaModel
import NewsModel

/// While the hub is stopped, one request at a time finds out whether that is over.
extension Engine {
    mutating func sendProbe(_ turn: inout Turn) {
        guard let halt, halt.isProbeDue(at: turn.now) else { return }
        if let later = probeMustWait(turn) {
            self.halt?.postponeProbe(to: later)
            return
        }
        for lane in lanes.ids where lanes[lane].maySend {
            guard let (place, content) = firstReady(lane, &turn) else { continue }
            if halt.reason == .keyRefused { renewToken(&turn) }
            let probe = send(place, content, &turn)
            self.halt?.beginProbe(probe)
            return
        }
        // A lane that a flood has stopped must not keep the hub stopped too.
        for lane in lanes.ids where lanes[lane].isFlooded && lanes[lane].mayProbe {
            lanes[lane].flood?.postponeProbe(to: turn.now)
            sendFloodProbe(lane, &turn)
            guard let probe = lanes[lane].flood?.probe else { continue }
            self.halt?.beginProbe(probe)
            return
        }
        // Nothing waits: look again at the probe's own pace, or at once when something arrives behind this time.
        self.halt?.postponeProbe(to: turn.now + .seconds(1))
    }

    mutating func firstReady(_ lane: LaneID, _ turn: inout Turn) -> (Place, ExaminedRecord)? {
        while !lanes[lane].ready.isEmpty {
            if let ready = nextReady(lane, &turn) { return ready }
        }
        return nil
    }

    /// When to look again if no probe can leave now.
    func probeMustWait(_ turn: Turn) -> Instant? {
        // Every connection may still wait for the hub that stopped answering.
        guard inFlight.count < concurrency.maximum else { return turn.now + settings.probeFirst }
        return notBefore(turn).map { min($0, turn.now + settings.probeFirst) }
    }

    /// An answer about the one event, or an acceptance, ends a halt.
    mutating func judgeProbe(_ verdict: Verdict, _ turn: Turn) {
        switch verdict {
        case .accepted, .rejected:
            halt = nil
            outage.accepted()
        case .notAccepted, .unreachable, .unknown, .tokenRefused:
            halt?.probeFailed(at: turn.now, longest: settings.probeLongest)
        case .halt(let reason, let failure):
            halt?.probeFailed(at: turn.now, longest: settings.probeLongest)
            halt?.reason = reason
            halt?.detail = failure.detail
        }
    }

    mutating func renewToken(_ turn: inout Turn) {
        token.renew()
        turn.actions.append(.renewToken)
    }
}
