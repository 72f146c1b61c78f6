import DequeModule
import NewsModel
import NotificationHub

/// A reply is judged where it arrives: settled, tried again, or a reason to stop.
extension Engine {
    mutating func receive(_ reply: Reply, token: UInt64, at now: Instant, into actions: inout [Action]) {
        guard let flight = flights.land(token) else { return }
        let wasProbe = probe == token
        if wasProbe { probe = nil }
        let verdict = Judge.verdict(on: reply)
        let roundTrip = now - flight.sentAt
        let place = locate(flight.delivery)
        if let (slot, index) = place {
            partitions[slot].inFlight -= 1
            partitions[slot][delivery: index, Int(flight.delivery.platform)].hubTime = roundTrip
        }
        noteForEveryone(verdict, flight, roundTrip: roundTrip, at: now, into: &actions)
        if wasProbe { judgeProbe(verdict, at: now) }
        guard let (slot, index) = place else { return }
        follow(verdict, reply, flight, slot: slot, index: index, wasProbe: wasProbe, at: now, into: &actions)
        moveLinesOn(at: now, into: &actions)
    }

    /// What a verdict says about the hub: concurrency, pace, token, outage.
    private mutating func noteForEveryone(
        _ verdict: Verdict, _ flight: Flights.Flight, roundTrip: Duration, at now: Instant, into actions: inout [Action]
    ) {
        switch verdict {
        case .accepted, .rejected:
            if flight.tokenEpoch == tokenEpoch { tokenIsProven = true }
            outage.accepted()
            concurrency.accepted(roundTrip: roundTrip, inFlight: flights.count + 1, at: now)
        case .notAccepted(let failure, let after, let isBusy):
            if isBusy { concurrency.refused(at: now) }
            if let after {
                awayUntil = max(awayUntil, now + after)
                bucket?.hold(until: now + after)
            }
            if outage.failed(flight.delivery) { stop(.outage, failure.detail, at: now) }
        case .unknown(let failure, let hubIsAway):
            concurrency.refused(at: now)
            if hubIsAway, outage.failed(flight.delivery) { stop(.outage, failure.detail, at: now) }
        case .unreachable(let failure):
            stop(.outage, failure.detail, at: now)
        case .tokenRefused(let failure):
            if flight.tokenEpoch == tokenEpoch {
                if halt == nil, tokenIsProven || tokenEpoch == 0 {
                    renewToken(into: &actions)
                } else {
                    stop(.keyRefused, failure.detail, at: now)
                }
            }
        case .halt(let reason, let failure):
            stop(reason, failure.detail, at: now)
        }
    }

    private mutating func stop(_ reason: Halt.Reason, _ detail: String, at now: Instant) {
        guard halt == nil else { return }
        halt = Halt(reason: reason, detail: detail, at: now, probeAfter: settings.probeFirst)
    }

    /// Any answer that is about the one event, or an acceptance, ends a halt.
    private mutating func judgeProbe(_ verdict: Verdict, at now: Instant) {
        switch verdict {
        case .accepted:
            clearHalt()
        case .rejected:
            if halt?.reason == .flood {
                halt?.probeFailed(at: now, longest: settings.probeLongest)
            } else {
                clearHalt()
            }
        case .notAccepted, .unreachable, .unknown, .tokenRefused:
            halt?.probeFailed(at: now, longest: settings.probeLongest)
        case .halt(let reason, let failure):
            halt?.probeFailed(at: now, longest: settings.probeLongest)
            if halt?.reason != .flood {
                halt?.reason = reason
                halt?.detail = failure.detail
            }
        }
    }

    private mutating func clearHalt() {
        if halt?.reason == .flood { floodGuard.reset() }
        halt = nil
        outage.accepted()
    }

    /// What a verdict means for the delivery itself.
    private mutating func follow(
        _ verdict: Verdict, _ reply: Reply, _ flight: Flights.Flight, slot: Int, index: Int, wasProbe: Bool,
        at now: Instant, into actions: inout [Action]
    ) {
        let id = flight.delivery
        let platform = Int(id.platform)
        let answer: HubReply? = if case .replied(let answer) = reply { answer } else { nil }
        switch verdict {
        case .accepted:
            settle(id, as: .accepted, nil, reply: answer, at: now, into: &actions)
        case .rejected(let failure):
            settle(id, as: .rejected, failure, reply: answer, at: now, into: &actions)
        case .tokenRefused, .halt, .unreachable:
            // Not the delivery's fault: it keeps its place and is not charged.
            retry(id, slot: slot, index: index, at: now, not: now)
        case .notAccepted(let failure, let after, _):
            if !wasProbe { partitions[slot][delivery: index, platform].charged += 1 }
            let charged = Int(partitions[slot][delivery: index, platform].charged)
            if charged >= settings.retry.attempts {
                let unknown = partitions[slot][delivery: index, platform].unknowns > 0
                settle(id, as: unknown ? .unknown : .exhausted, failure, reply: answer, at: now, into: &actions)
            } else {
                let delay = settings.retry.delay(afterAttempt: charged, using: &random)
                retry(id, slot: slot, index: index, at: now, not: now + max(after ?? .zero, delay))
            }
        case .unknown(let failure, _):
            partitions[slot][delivery: index, platform].unknowns += 1
            if !wasProbe { partitions[slot][delivery: index, platform].charged += 1 }
            let state = partitions[slot][delivery: index, platform]
            let policy = lanes[partitions[slot].lane].settings.onUnknown
            let isOver =
                state.unknowns >= settings.unknownAttempts || Int(state.charged) >= settings.retry.attempts
            // A probe's failure is the hub's, so it uses nothing up.
            if policy == .giveUp || (isOver && !wasProbe) {
                settle(id, as: .unknown, failure, reply: answer, at: now, into: &actions)
            } else {
                let delay = settings.retry.delay(afterAttempt: Int(state.unknowns), using: &random)
                retry(id, slot: slot, index: index, at: now, not: now + delay)
            }
        }
    }

    /// The delivery holds its story's line until it may leave again; past its deadline it ends instead.
    private mutating func retry(_ id: DeliveryID, slot: Int, index: Int, at now: Instant, not before: Instant) {
        let lane = partitions[slot].lane
        guard partitions[slot].phase == .active else { return }
        if before <= now {
            partitions[slot][delivery: index, Int(id.platform)].phase = .ready
            lanes[lane].ready.prepend(id)
        } else {
            partitions[slot][delivery: index, Int(id.platform)].phase = .parked
            let deadline = partitions[slot][entry: index].content?.deadline ?? .distantFuture
            lanes[lane].park(id, until: min(before, deadline))
        }
    }
}
