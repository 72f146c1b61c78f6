import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

/// Judges replies: settles the delivery, schedules a retry, or halts sending.
extension Engine {
    mutating func receive(_ arrival: Arrival, _ turn: inout Turn) {
        guard let request = inFlight.end(arrival.request) else { return }
        let place = partitions.place(of: request.delivery)
        let reply = discreet(arrival.reply, to: place)
        let verdict = Judge.verdict(on: reply)
        let roundTrip = turn.now - request.sentAt
        if let place {
            let hasLeft = if case .notSent = reply { false } else { true }
            partitions[place.slot].arrive(place, after: hasLeft ? roundTrip : nil)
        }
        judgeFloodProbe(verdict, arrival.request, turn)
        let wasProbe = halt?.probe == arrival.request
        updateHubState(verdict, request, roundTrip: roundTrip, &turn)
        if wasProbe { judgeProbe(verdict, turn) }
        guard let place else { return }
        let answer: HubReply? = if case .replied(let answer) = reply { answer } else { nil }
        applyToDelivery(verdict, answer, place, &turn)
        advanceStories(&turn)
    }

    /// Removes the hub's words if they may repeat tags that name readers, because they reach results, logs and pages.
    private func discreet(_ reply: Reply, to place: Place?) -> Reply {
        guard case .replied(var answer) = reply, answer.detail != nil else { return reply }
        if let place, let content = partitions.content(of: place), content.routed?.routing?.users.isEmpty ?? true {
            return reply
        }
        answer.detail = nil
        return .replied(answer)
    }

    // MARK: The hub

    /// Applies a verdict to the state of the hub: concurrency, pace, token, outage.
    private mutating func updateHubState(
        _ verdict: Verdict, _ request: InFlightRequests.Request, roundTrip: Duration, _ turn: inout Turn
    ) {
        noteHubFailure(verdict, turn)
        switch verdict {
        case .accepted, .rejected:
            token.letIn(request.tokenEpoch)
            outage.accepted()
            concurrency.accepted(roundTrip: roundTrip, inFlight: inFlight.count + 1, at: turn.now)
        case .notAccepted(let failure, let after, let isBusy, _):
            if isBusy { concurrency.refused(at: turn.now) }
            if let after { pause(for: after, turn) }
            if outage.failed(request.delivery) { stop(.outage, failure.detail, turn) }
        case .unknown(let failure, let hubIsAway):
            concurrency.refused(at: turn.now)
            if hubIsAway, outage.failed(request.delivery) { stop(.outage, failure.detail, turn) }
        case .unreachable(let failure):
            stop(.outage, failure.detail, turn)
        case .tokenRefused(let failure):
            guard request.tokenEpoch == token.number else { return }
            if halt == nil, token.deservesRenewal {
                renewToken(&turn)
            } else {
                stop(.keyRefused, failure.detail, turn)
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

    private mutating func stop(_ reason: Halt.Reason, _ detail: String, _ turn: Turn) {
        guard halt == nil else { return }
        halt = Halt(reason: reason, detail: detail, at: turn.now, probeAfter: settings.probeFirst)
    }

    // MARK: The delivery

    private mutating func applyToDelivery(
        _ verdict: Verdict, _ answer: HubReply?, _ place: Place, _ turn: inout Turn
    ) {
        switch verdict {
        case .accepted:
            if sendRest(place, &turn) { return }
            return settle(place, as: .accepted, nil, reply: answer, &turn)
        case .rejected(let failure):
            // The hub may have accepted an earlier request that it did not answer.
            let outcome: Outcome = partitions[place].isCertain ? .rejected : .unknown
            return settle(place, as: outcome, failure, reply: answer, &turn)
        case .unknown: partitions[place].chargeUnknown()
        case .notAccepted, .unreachable, .tokenRefused, .halt: break
        }
        if let withdrawal = partitions[place].withdrawal {
            return endWithdrawn(place, for: withdrawal, reply: answer, &turn)
        }
        switch verdict {
        case .accepted, .rejected: break
        case .tokenRefused, .halt, .unreachable:
            // The delivery is not at fault: it keeps its place, and the attempt is not charged.
            retry(place, notBefore: turn.now, turn)
        case .notAccepted(let failure, let after, _, let isCharged):
            if isCharged { partitions[place].charge() }
            retryRefused(place, failure, answer, after: after, &turn)
        case .unknown(let failure, _):
            partitions[place].charge()
            retryUnknown(place, failure, answer, &turn)
        }
    }

    private mutating func retryRefused(
        _ place: Place, _ failure: ResultRecord.Failure, _ answer: HubReply?, after: Duration?, _ turn: inout Turn
    ) {
        let charged = Int(partitions[place].charged)
        guard charged < attemptsMax(place) else {
            let outcome: Outcome = partitions[place].isCertain ? .exhausted : .unknown
            return settle(place, as: outcome, failure, reply: answer, &turn)
        }
        let delay = settings.retry.delay(afterAttempt: max(charged, 1), using: &random)
        let asked = min(after ?? .zero, settings.longestPause)
        retry(place, notBefore: turn.now + max(asked, delay), turn)
    }

    private mutating func retryUnknown(
        _ place: Place, _ failure: ResultRecord.Failure, _ answer: HubReply?, _ turn: inout Turn
    ) {
        let unknowns = Int(partitions[place].unknowns)
        guard lanes[place.lane].settings.onUnknown == .retry, unknowns < settings.unknownAttempts,
            Int(partitions[place].charged) < attemptsMax(place)
        else { return settle(place, as: .unknown, failure, reply: answer, &turn) }
        let gap = settings.retry.gap(afterUnknown: unknowns, of: settings.unknownAttempts, using: &random)
        retry(place, notBefore: turn.now + gap, turn)
    }

    private func attemptsMax(_ place: Place) -> Int {
        let hasDeadline = partitions.content(of: place)?.hasDeadline ?? false
        return settings.retry.attempts ?? (hasDeadline ? .max : RetrySchedule.attemptsWithoutDeadline)
    }

    /// Keeps the delivery as the head of its story until it may leave again; past its deadline it ends.
    private mutating func retry(_ place: Place, notBefore: Instant, _ turn: Turn) {
        guard partitions[place.slot].isSending else { return }
        if notBefore <= turn.now { makeReady(place) } else { delay(place, notBefore: notBefore, turn) }
    }
}
