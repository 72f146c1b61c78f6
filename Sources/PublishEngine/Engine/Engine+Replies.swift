import KafkaModel
import NewsModel
import NotificationHub

/// Receives the results of requests: settles the delivery, schedules a retry, or halts sending.
extension Engine {
    mutating func receive(_ settled: SettledRequest, _ turn: inout Turn) {
        guard let request = inFlight.end(settled.id) else { return }
        let place = partitions.place(of: request.delivery)
        let result = discreet(settled.result, to: place)
        let meaning = result.meaning
        let roundTrip = turn.now - request.sentAt
        if let place {
            let hasLeft = if case .notSent = result { false } else { true }
            partitions[place.slot].arrive(place, meaning, after: hasLeft ? roundTrip : nil)
        }
        judgeFloodProbe(meaning, settled.id, turn)
        let wasProbe = halt?.probe == settled.id
        updateHubState(result, meaning, request, roundTrip: roundTrip, &turn)
        if wasProbe { judgeProbe(result, meaning, turn) }
        guard let place else { return }
        if case .accepted = meaning {
            partitions[place].acceptSend()
            if !sendRest(place, &turn) { endSends(place, reply: result.reply, &turn) }
        } else {
            applyFailure(result, meaning, place, &turn)
        }
        advanceStories(&turn)
    }

    /// Removes the hub's words if they may repeat tags that name readers, because they reach results, logs and pages.
    private func discreet(_ result: SendResult, to place: Place?) -> SendResult {
        guard case .replied(var reply) = result, reply.detail != nil else { return result }
        if let place, let content = partitions.content(of: place), content.routed?.routing?.users.isEmpty ?? true {
            return result
        }
        reply.detail = nil
        return .replied(reply)
    }

    // MARK: The hub

    /// Applies a result to the state of the hub: concurrency, pace, token, outage.
    private mutating func updateHubState(
        _ result: SendResult, _ meaning: SendMeaning, _ request: InFlightRequests.Request, roundTrip: Duration,
        _ turn: inout Turn
    ) {
        guard !meaning.concernsOnlyEvent else {
            hubFailure = nil
            token.letIn(request.tokenEpoch)
            outage.accepted()
            return concurrency.accepted(roundTrip: roundTrip, inFlight: inFlight.count + 1, at: turn.now)
        }
        let detail = result.failure.detail
        hubFailure = (hubFailure?.since ?? turn.now, detail)
        switch meaning {
        case .accepted, .refusedEvent, .invalid: break
        case .busy(let after):
            concurrency.refused(at: turn.now)
            if let after { pause(for: after, turn) }
            if outage.failed(request.delivery) { stop(.outage, detail, turn) }
        case .connectionLost: if outage.failed(request.delivery) { stop(.outage, detail, turn) }
        case .unknownAcceptance(let isHubAway):
            concurrency.refused(at: turn.now)
            if isHubAway, outage.failed(request.delivery) { stop(.outage, detail, turn) }
        case .tokenRefused:
            guard request.tokenEpoch == token.number else { return }
            if halt == nil, token.deservesRenewal {
                renewToken(&turn)
            } else {
                stop(.keyRefused, detail, turn)
            }
        case .unreachable: stop(.outage, detail, turn)
        case .certificate, .forbidden, .missingHub:
            if let reason = meaning.haltReason { stop(reason, detail, turn) }
        }
    }

    private mutating func stop(_ reason: Halt.Reason, _ detail: String, _ turn: Turn) {
        guard halt == nil else { return }
        halt = Halt(reason: reason, detail: detail, at: turn.now, probeAfter: settings.probeFirst)
    }

    // MARK: The delivery

    /// Ends a delivery that was not accepted, or schedules another attempt.
    private mutating func applyFailure(
        _ result: SendResult, _ meaning: SendMeaning, _ place: Place, _ turn: inout Turn
    ) {
        switch (meaning, partitions[place].withdrawal) {
        case (.accepted, _): break
        case (.refusedEvent, _), (.invalid, _):
            if case .refusedEvent = meaning, failSend(place, reply: result.reply, &turn) { return }
            settleUnsent(place, as: .rejected, result.failure, reply: result.reply, &turn)
        case (_, let withdrawal?): endWithdrawn(place, for: withdrawal, reply: result.reply, &turn)
        case (.tokenRefused, _), (.forbidden, _), (.missingHub, _), (.certificate, _), (.unreachable, _):
            // The delivery is not at fault: it keeps its place, and the attempt is not charged.
            retry(place, notBefore: turn.now, turn)
        case (.connectionLost, _): retryRefused(place, result, after: nil, &turn)
        case (.busy(let after), _): retryRefused(place, result, after: after, &turn)
        case (.unknownAcceptance, _): retryUnknown(place, result, &turn)
        }
    }

    private mutating func retryRefused(_ place: Place, _ result: SendResult, after: Duration?, _ turn: inout Turn) {
        let charged = Int(partitions[place].charged)
        guard charged < attemptsMax(place) else {
            if failSend(place, reply: result.reply, &turn) { return }
            return settleUnsent(place, as: .exhausted, result.failure, reply: result.reply, &turn)
        }
        let delay = settings.retry.delay(afterAttempt: max(charged, 1), using: &random)
        let asked = min(after ?? .zero, settings.longestPause)
        retry(place, notBefore: turn.now + max(asked, delay), turn)
    }

    private mutating func retryUnknown(_ place: Place, _ result: SendResult, _ turn: inout Turn) {
        let unknowns = Int(partitions[place].unknowns)
        guard lanes[place.lane].settings.onUnknown == .retry, unknowns < settings.unknownAttempts,
            Int(partitions[place].charged) < attemptsMax(place)
        else {
            if failSend(place, reply: result.reply, &turn) { return }
            return settle(place, as: .unknown, result.failure, reply: result.reply, &turn)
        }
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
