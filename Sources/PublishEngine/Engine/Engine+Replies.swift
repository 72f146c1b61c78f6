import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

/// A reply is judged where it arrives: settled, tried again, or a reason to stop.
extension Engine {
    mutating func receive(_ reply: Reply, to id: RequestID, _ turn: inout Turn) {
        guard let request = inFlight.end(id) else { return }
        let wasProbe = probe == id
        if wasProbe { probe = nil }
        let verdict = Judge.verdict(on: reply)
        let roundTrip = turn.now - request.sentAt
        let place = locate(request.delivery)
        if let (slot, index) = place {
            let platform = request.delivery.platform
            partitions[slot].inFlight -= 1
            if case .notSent = reply {
                partitions[slot][delivery: index, platform].attempts -= 1
            } else {
                partitions[slot][delivery: index, platform].hubTime = roundTrip
            }
        }
        judgeFloodProbe(verdict, id, turn)
        updateHubState(verdict, request, roundTrip: roundTrip, &turn)
        if wasProbe { judgeProbe(verdict, turn) }
        guard let (slot, index) = place else { return }
        applyToDelivery(verdict, reply, request.delivery, slot: slot, index: index, &turn)
        advanceStories(&turn)
    }

    /// What a verdict says about the hub: concurrency, pace, token, outage.
    private mutating func updateHubState(
        _ verdict: Verdict, _ request: InFlightRequests.Request, roundTrip: Duration, _ turn: inout Turn
    ) {
        noteHubFailure(verdict, turn)
        switch verdict {
        case .accepted, .rejected:
            if request.tokenEpoch == tokenEpoch { tokenIsProven = true }
            outage.accepted()
            concurrency.accepted(roundTrip: roundTrip, inFlight: inFlight.count + 1, at: turn.now)
        case .notAccepted(let failure, let after, let isBusy, _):
            if isBusy { concurrency.refused(at: turn.now) }
            if let after { stayAway(after, turn) }
            if outage.failed(request.delivery) { stop(.outage, failure.detail, turn) }
        case .unknown(let failure, let hubIsAway):
            concurrency.refused(at: turn.now)
            if hubIsAway, outage.failed(request.delivery) { stop(.outage, failure.detail, turn) }
        case .unreachable(let failure):
            stop(.outage, failure.detail, turn)
        case .tokenRefused(let failure):
            if request.tokenEpoch == tokenEpoch {
                if halt == nil, tokenIsProven || tokenEpoch == 0 {
                    renewToken(&turn)
                } else {
                    stop(.keyRefused, failure.detail, turn)
                }
            }
        case .halt(let reason, let failure):
            stop(reason, failure.detail, turn)
        }
    }

    private mutating func noteHubFailure(_ verdict: Verdict, _ turn: Turn) {
        switch verdict {
        case .accepted, .rejected: hubFailure = nil
        case .notAccepted(let failure, _, _, _), .unknown(let failure, _), .unreachable(let failure),
            .tokenRefused(let failure), .halt(_, let failure):
            hubFailure = (hubFailure?.since ?? turn.now, failure.detail)
        }
    }

    /// The hub asked everyone to wait; nobody waits for ever because of one reply.
    private mutating func stayAway(_ asked: Duration, _ turn: Turn) {
        let until = turn.now + min(asked, settings.longestPause)
        if turn.now >= awayUntil { awaySince = turn.now }
        awayUntil = max(awayUntil, until)
        bucket?.hold(until: until)
    }

    private mutating func stop(_ reason: Halt.Reason, _ detail: String, _ turn: Turn) {
        guard halt == nil else { return }
        halt = Halt(reason: reason, detail: detail, at: turn.now, probeAfter: settings.probeFirst)
    }

    /// Any answer that is about the one event, or an acceptance, ends a halt.
    private mutating func judgeProbe(_ verdict: Verdict, _ turn: Turn) {
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

    private mutating func judgeFloodProbe(_ verdict: Verdict, _ id: RequestID, _ turn: Turn) {
        guard let lane = lanes.firstIndex(where: { $0.floodProbe == id }) else { return }
        lanes[lane].floodProbe = nil
        if case .accepted = verdict {
            lanes[lane].flood = nil
            lanes[lane].floodGuard.reset()
        } else {
            lanes[lane].flood?.probeFailed(at: turn.now, longest: settings.probeLongest)
        }
    }

    /// What a verdict means for the delivery itself.
    private mutating func applyToDelivery(
        _ verdict: Verdict, _ reply: Reply, _ id: DeliveryID, slot: Int, index: Int, _ turn: inout Turn
    ) {
        let answer: HubReply? = if case .replied(let answer) = reply { answer } else { nil }
        let platform = id.platform
        switch verdict {
        case .accepted:
            settle(id, as: .accepted, nil, reply: answer, &turn)
            return
        case .rejected(let failure):
            // An earlier request that was not answered may have been accepted all the same.
            let isCertain = partitions[slot][delivery: index, platform].unknowns == 0
            settle(id, as: isCertain ? .rejected : .unknown, failure, reply: answer, &turn)
            return
        case .unknown: partitions[slot][delivery: index, platform].unknowns += 1
        case .notAccepted, .unreachable, .tokenRefused, .halt: break
        }
        let state = partitions[slot][delivery: index, platform]
        if let withdrawal = state.withdrawal {
            endWithdrawn(id, for: withdrawal, reply: answer, &turn)
            return
        }
        switch verdict {
        case .accepted, .rejected: break
        case .tokenRefused, .halt, .unreachable:
            // Not the delivery's fault: it keeps its place and is not charged.
            retry(id, slot: slot, index: index, notBefore: turn.now, turn)
        case .notAccepted(let failure, let after, _, let isCharged):
            if isCharged { partitions[slot][delivery: index, platform].charged += 1 }
            let charged = Int(partitions[slot][delivery: index, platform].charged)
            if charged >= attemptsMax(slot: slot, index: index) {
                settle(id, as: state.unknowns > 0 ? .unknown : .exhausted, failure, reply: answer, &turn)
            } else {
                let delay = settings.retry.delay(afterAttempt: max(charged, 1), using: &random)
                let asked = min(after ?? .zero, settings.longestPause)
                retry(id, slot: slot, index: index, notBefore: turn.now + max(asked, delay), turn)
            }
        case .unknown(let failure, _):
            partitions[slot][delivery: index, platform].charged += 1
            let isOver =
                Int(state.unknowns) >= settings.unknownAttempts
                || Int(state.charged) + 1 >= attemptsMax(slot: slot, index: index)
            if lanes[partitions[slot].lane].settings.onUnknown == .giveUp || isOver {
                settle(id, as: .unknown, failure, reply: answer, &turn)
            } else {
                let gap = settings.retry.gap(
                    afterUnknown: Int(state.unknowns), of: settings.unknownAttempts, using: &random)
                retry(id, slot: slot, index: index, notBefore: turn.now + gap, turn)
            }
        }
    }

    private func attemptsMax(slot: Int, index: Int) -> Int {
        let hasDeadline = partitions[slot][entry: index].content?.hasDeadline ?? false
        return settings.retry.attempts ?? (hasDeadline ? .max : RetrySchedule.attemptsWithoutDeadline)
    }

    /// The delivery holds its story's line until it may leave again; past its deadline it ends instead.
    private mutating func retry(_ id: DeliveryID, slot: Int, index: Int, notBefore: Instant, _ turn: Turn) {
        let lane = partitions[slot].lane
        guard partitions[slot].isSending else { return }
        if notBefore <= turn.now {
            partitions[slot][delivery: index, id.platform].phase = .ready
            lanes[lane].ready.prepend(id)
        } else {
            partitions[slot][delivery: index, id.platform].phase = .delayed
            let until = max(
                delayEnd(partitions[slot][entry: index].content, notBefore: notBefore),
                turn.now + .milliseconds(1))
            lanes[lane].retry(id, notBefore: notBefore, until: until)
        }
    }
}
