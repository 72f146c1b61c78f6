import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

/// Probes a halted hub with one request at a time.
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
        // A flooded lane must not keep the hub halted too.
        for lane in lanes.ids where lanes[lane].isFlooded && lanes[lane].mayProbe {
            lanes[lane].postponeProbe(to: turn.now)
            sendFloodProbe(lane, &turn)
            guard let probe = lanes[lane].flood?.probe else { continue }
            self.halt?.beginProbe(probe)
            return
        }
        // No delivery waits, so the next check follows in a second, or at once when a delivery arrives after that.
        self.halt?.postponeProbe(to: turn.now + .seconds(1))
    }

    mutating func firstReady(_ lane: LaneID, _ turn: inout Turn) -> (Place, ExaminedRecord)? {
        while !lanes[lane].ready.isEmpty { if let ready = nextReady(lane, &turn) { return ready } }
        return nil
    }

    /// The time of the next check if no probe can leave now; `nil` if one can.
    func probeMustWait(_ turn: Turn) -> Instant? {
        // Requests to the hub that stopped answering may still occupy every connection.
        guard inFlight.count < concurrency.maximum else { return turn.now + settings.probeFirst }
        return notBefore(turn).map { min($0, turn.now + settings.probeFirst) }
    }

    /// Ends a halt on an acceptance or a rejection of the one event.
    mutating func judgeProbe(_ result: SendResult, _ meaning: SendMeaning, _ turn: Turn) {
        guard !meaning.concernsOnlyEvent else {
            halt = nil
            return outage.accepted()
        }
        halt?.probeFailed(at: turn.now, longest: settings.probeLongest)
        if let reason = meaning.haltReason { halt?.reason = reason }
        // An outage may change its cause: the hub's host is back, and the hub is not.
        if meaning.haltReason != nil || halt?.reason == .outage { halt?.detail = result.failure.detail }
    }

    /// The next requests carry a token of another key. If the hub has refused the former key, a probe leaves at once.
    mutating func useNewKey(_ turn: inout Turn) {
        renewToken(&turn)
        if halt?.reason == .keyRefused { halt?.probeSoon(at: turn.now, pause: settings.probeFirst) }
    }

    mutating func renewToken(_ turn: inout Turn) {
        token.renew()
        turn.actions.append(.renewToken)
    }
}
