import DequeModule
import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub

/// Chooses the next delivery to send: lanes by urgency, stories in order, all within pace and concurrency.
extension Engine {
    mutating func dispatch(_ turn: inout Turn) {
        paceAt = nil
        guard isRunning else { return }
        continuePartlySent()
        for lane in lanes.ids { wakeDelayed(lane, &turn) }
        guard !mayNotSend else { return orders.noteWait(at: turn.now) }
        if halt != nil {
            sendProbe(&turn)
            return
        }
        for lane in lanes.ids where lanes[lane].isFlooded { sendFloodProbe(lane, &turn) }
        while paceAt == nil, inFlight.count < concurrency.limit, let lane = nextLane() {
            guard let (place, content) = nextReady(lane, &turn) else { continue }
            if let earliest = notBefore(turn, reserve: reserve(for: lane)) {
                paceAt = earliest
                return
            }
            send(place, content, &turn)
        }
    }

    /// The reason why a ready delivery does not leave.
    private enum Obstacle {
        case stale
        case ended(Outcome, ResultRecord.Failure)
        case notDue(Due)
        /// Editors have stopped its content.
        case gate
        /// It replaces a recalled story, and the orders in force are asked for first.
        case unconfirmed
    }

    /// The lane's first ready delivery if it may still leave; otherwise removes that delivery from the queue.
    mutating func nextReady(_ lane: LaneID, _ turn: inout Turn) -> (Place, ExaminedRecord)? {
        guard let id = lanes[lane].ready.first else { return nil }
        guard let place = partitions.place(of: id), partitions[place.slot].isSending, partitions[place].phase == .ready,
            let content = partitions.content(of: place)
        else {
            lanes[lane].removeFirstReady()
            return nil
        }
        guard let obstacle = obstacle(to: place, content, turn) else { return (place, content) }
        lanes[lane].removeFirstReady()
        switch obstacle {
        case .stale: expire(place, content, notBefore: turn.now, &turn)
        case .ended(let outcome, let failure):
            settleUnsent(place, as: outcome, failure, &turn)
            advanceStories(&turn)
        case .notDue(let due): delay(place, until: due.at, &turn)
        case .gate: setAside(place, content, turn)
        case .unconfirmed:
            replacements.wait(id)
            setAside(place, content, turn)
        }
        return nil
    }

    @inline(__always)
    private func obstacle(to place: Place, _ content: ExaminedRecord, _ turn: borrowing Turn) -> Obstacle? {
        if content.isStale(turn) { return .stale }
        // Recalls compare names by their characters, and the queues of stories by their bytes: "é" has two spellings in Unicode. A
        // recall in the other spelling has not found this delivery.
        if let key = content.routed?.event.orderKey, orders.isRecalled(key), !content.isReplacement {
            return .ended(.canceled, recalled(key))
        }
        // A delivery that the hub may have accepted is repeated unchanged: quiet hours that began later do not stop it.
        let isCertain = partitions[place].isCertain
        if partitions[recordOf: place].release == .deadLetter { return .ended(.exhausted, .released) }
        if isCertain, let failure = content.prohibition(turn) { return .ended(.withheld, failure) }
        // A newer event of the story may have been in flight when this copy was read.
        if content.heldFrom != nil, let routed = content.routed,
            isOvertaken(content, routed, at: place, in: partitions[place].story)
        {
            return .ended(.superseded, .outdated)
        }
        // The wall clock may have been set back since the embargo ended, or quiet hours have begun.
        if let due = content.due(turn), due.because == .embargo || isCertain { return .notDue(due) }
        if !orders.content.isEmpty, orders.content.gate(for: content) != nil { return .gate }
        if content.isReplacement {
            if settings.awaitsOrders, !replacements.isConfirmed(place.id) { return .unconfirmed }
            if let failure = replacementFailure(content) { return .ended(.canceled, failure) }
        }
        return nil
    }

    /// Sends the first delivery of its lane's queue.
    ///
    /// - Returns: `nil` if the event has no category; routing has settled such events earlier.
    @discardableResult
    mutating func send(_ place: Place, _ content: ExaminedRecord, _ turn: inout Turn) -> RequestID? {
        lanes[place.lane].removeFirstReady()
        let isQuiet = content.routed?.treatment(at: turn.wall) == .sendSilently
        let readAt = partitions[recordOf: place].readAt
        let payload = content.routed?.payload(
            on: settings.platforms[place.platform], send: partitions[place].nextSend, lane: place.lane,
            since: max(readAt, content.release ?? .distantPast), sentAt: turn.wall, isQuiet: isQuiet)
        guard let payload else { return nil }
        charge(place.lane, turn)
        let request = inFlight.begin(place.id, at: turn.now, tokenEpoch: token.number)
        partitions[place.slot].depart(place, cuts: payload.cuts, isQuiet: isQuiet, at: turn.wall)
        turn.actions.append(.send(request, payload.request))
        return request
    }

    /// Puts a delivery at the front of its lane's queue, because it is older than the deliveries there.
    mutating func makeReady(_ place: Place) {
        let isReturned = partitions.content(of: place)?.returned != nil
        lanes[place.lane].prepend(place.id, &partitions[place], isReturned: isReturned)
    }

    // MARK: Retries and embargoes

    /// Makes delayed deliveries ready when their time has come.
    private mutating func wakeDelayed(_ lane: LaneID, _ turn: inout Turn) {
        if clock.awaitsHub, lanes[lane].delayed.firstEmbargo ?? .distantFuture <= turn.embargoClock {
            mustAskForTime(&turn)
        }
        while let next = lanes[lane].takeDue(turn) {
            guard let place = partitions.place(of: next.id), partitions[place].phase == .delayed else { continue }
            guard next.notBefore > turn.now, let content = partitions.content(of: place) else {
                makeReady(place)
                continue
            }
            if content.isStale(turn) {
                expire(place, content, notBefore: next.notBefore, &turn)
            } else {
                // The deadline seemed to have passed, but the clock was set back meanwhile.
                delay(place, notBefore: next.notBefore, turn)
            }
        }
    }

    /// Ends a delivery whose deadline has passed, unless quiet hours delay it. If the hub is asked for the time first, the delivery
    /// waits for the answer.
    private mutating func expire(_ place: Place, _ content: ExaminedRecord, notBefore: Instant, _ turn: inout Turn) {
        if !hasExpired(content, turn), mustAskForTime(&turn) {
            let until = min(nextTimeInquiry, content.staleAt)
            return lanes[place.lane].retry(place.id, &partitions[place], notBefore: notBefore, until: until)
        }
        if delayStale(place, content, &turn) { return }
        settleUnsent(place, as: .expired, content.expiry, &turn)
        advanceStories(&turn)
    }

    /// Delays the head of a story until another attempt. It wakes earlier if it becomes too old before then.
    mutating func delay(_ place: Place, notBefore: Instant, _ turn: Turn) {
        let until = partitions.content(of: place).map { min(notBefore, wakeUp($0, turn)) } ?? notBefore
        lanes[place.lane].retry(
            place.id, &partitions[place], notBefore: notBefore, until: max(until, turn.now + .milliseconds(1)))
    }

    /// Sets aside a delivery that a gate or a question about orders stops at the front. Other stories pass; its own story waits behind it.
    private mutating func setAside(_ place: Place, _ content: ExaminedRecord, _ turn: borrowing Turn) {
        lanes[place.lane].setAside(
            place.id, &partitions[place], until: max(wakeUp(content, turn), turn.now + .milliseconds(1)))
    }

    /// The monotonic time at which the record becomes too old.
    private func wakeUp(_ content: ExaminedRecord, _ turn: borrowing Turn) -> Instant {
        min(content.staleAt, steady(of: content.deadline, turn))
    }
}
