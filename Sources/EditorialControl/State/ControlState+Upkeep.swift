import KafkaModel
import NewsModel

/// Periodic work, and the outcomes of our own writes.
extension ControlState {
    mutating func keepUp(_ now: Moment) {
        listen(now)
        guard !isDraining else { return }
        lapse(now)
        probeAudit(now)
        guard mayWrite else { return }
        if beats.isDue(now) { beat(now) }
        // A beat behind an open transaction is read when the transaction ends. Orders given before the beat are read then too.
        if hasRead, !beats.isSeen, heldUpSince == nil, settings.onStale == .continue,
            beats.silence(now) >= settings.staleAfter
        {
            goOnUnheard()
        }
        payOwed(now)
        guard case .following = phase else { return }
        for replica in beats.forgotten() { write(.ended(replica: replica), for: .forgotten) }
        if let totals = heldTotals.due(now) { write(.heldTotals(totals, topic: settings.heldTopic), for: .heldTotals) }
        // The order may have been given again in what this process has not read yet, because it stood still or records are hidden.
        guard heldUpSince == nil, silence.duration(now) <= Silence.longest else { return }
        for order in lapsed.due(at: lapseClock(now), by: settings.replica ?? "") { remove(order, now) }
    }

    /// Continues although our beat was not read. Until it can be read, senders of orders do not wait for this process. It obeys
    /// such an order a moment after its acknowledgement.
    private mutating func goOnUnheard() {
        beats.isSeen = true
        note(.beatNotSeen)
    }

    /// Checks that records still arrive from the topic. Each process receives at least its own beat.
    private mutating func listen(_ now: Moment) {
        let silent = silence.duration(now)
        if hasKnown, !silence.isStale, silent >= settings.staleAfter {
            silence.isStale = true
            // Orders given meanwhile may not have waited for us. They precede our next beat on the topic.
            if settings.onStale == .stop, settings.replica != nil { beats.isSeen = false }
            note(.stale(silent))
        }
        guard !isDraining, silence.mayAsk(now) else { return }
        switch phase {
        case .waiting: return
        case .reading: if silent < pollsAfter { return }
        case .following: if silent < pollsAfter, !mayFindOrders(now) { return }
        }
        reread(now)
    }

    private mutating func reread(_ now: Moment) {
        silence.asked(now)
        readings += 1
        actions.append(.reread(reading: readings))
    }

    // MARK: Standstills

    /// Requests a new reading, because an earlier one may end before the newest orders.
    mutating func confirm(_ number: UInt64, _ shard: ShardID, _ now: Moment) {
        confirmations.removeAll { $0.shard == shard }
        guard !isMissing else {
            actions.append(.confirmed(number, shard: shard))
            return
        }
        reread(now)
        confirmations.append(Confirmation(number: number, shard: shard, reading: readings))
    }

    mutating func answerConfirmations(upTo reading: UInt64) {
        for one in confirmations where one.reading <= reading {
            actions.append(.confirmed(one.number, shard: one.shard))
        }
        confirmations.removeAll { $0.reading <= reading }
    }

    /// Allows a search for orders dropped for lack of room. Rare, because most records of an uncompacted topic have ended.
    private mutating func mayFindOrders(_ now: Moment) -> Bool {
        guard waiting.dropped > 0, waiting.isEmpty, standing.hasRoom,
            searchedAt.map({ now.steady - $0 >= .seconds(600) }) ?? true
        else { return false }
        searchedAt = now.steady
        return true
    }

    /// Shorter than the time until an alarm, because reading the topic again may end the silence.
    private var pollsAfter: Duration { min(.seconds(30), settings.staleAfter / 2) }

    // MARK: Lapses

    /// The time by which orders lapse. A lapse is final for all processes, so a clock that is ahead must not cause one: the earliest
    /// time counts of our clock, the hub's, and those of the processes that live.
    ///
    /// Without the hub and without another process, orders stay in force. Nothing can be sent without the hub in any case.
    func lapseClock(_ now: Moment) -> Instant {
        if settings.asksHubForTime, !clock.hasHeardHub, !beats.hasCompany(now, besides: settings.replica) {
            return .distantPast
        }
        return beats.lapseClock(clock.embargoClock(now), besides: settings.replica)
    }

    /// The other clocks are asked only about orders that have lapsed by ours, because most have not.
    func hasLapsed(_ order: Order, _ now: Moment) -> Bool {
        order.hasLapsed(at: clock.embargoClock(now)) && order.hasLapsed(at: lapseClock(now))
    }

    private mutating func lapse(_ now: Moment) {
        for order in standing.lapsed(at: lapseClock(now)) {
            // An owed order of another id is our own one, which the lapsed order has replaced for the moment.
            if owed[order.scope]?.order.id == order.id { settle(order.scope) }
            lapsed.add(order)
            lift(order.scope, now, audited: nil)
        }
    }

    /// Deletes a lapsed order's record. Every process would do so; the first one spares the others the work.
    private mutating func remove(_ order: Order, _ now: Moment) {
        write(.lapsed(order.scope, order: order.id, until: order.until), for: .lapse)
        audit(
            AuditEntry(at: now.wall, scope: order.scope.key, action: .lapse, order: order.id, replica: settings.replica)
        )
    }

    // MARK: Writing

    var mayWrite: Bool {
        guard settings.replica != nil, !isDraining else { return false }
        switch phase {
        case .reading, .following, .waiting(.unreadable): return true
        // A write to a missing topic would create it with the broker's default settings.
        case .waiting: return false
        }
    }

    mutating func beat(_ now: Moment) {
        guard let replica = settings.replica, mayWrite else { return }
        let beat = ControlRecord.Beat(
            replica: replica, at: now.wall, logTime: beats.clock.time(now), appliedTo: appliedTo,
            orders: standing.count, process: settings.process)
        beats.wrote(beat, now)
        write(.beat(beat), for: .beat)
    }

    /// Offset up to which every shard obeys all orders.
    private var appliedTo: Int64? {
        guard let readTo else { return nil }
        return answers.firstOffset.map { min($0.saturating(adding: -1), readTo) } ?? readTo
    }

    @discardableResult
    mutating func write(_ record: ControlRecord, for purpose: OpenWrites.Purpose) -> WriteID? {
        guard settings.replica != nil, let id = writes.begin(purpose) else { return nil }
        actions.append(.write(id, record))
        return id
    }

    mutating func audit(_ entry: AuditEntry) {
        guard settings.replica != nil, hasAudit else { return }
        guard let id = writes.begin(.audit) else {
            counts.unaudited += 1
            return
        }
        actions.append(.audit(id, entry))
    }

    /// Writes the line about our start, so that a topic that refuses our records is noticed before the first order. Repeated while
    /// records cannot be written.
    mutating func probeAudit(_ now: Moment) {
        guard let replica = settings.replica, !isDraining, auditTopic == .there else { return }
        if let auditProbedAt, writes.auditFailure == nil || now.steady - auditProbedAt < Self.auditProbePause { return }
        auditProbedAt = now.steady
        guard let id = writes.begin(.auditProbe) else { return }
        actions.append(.audit(id, .start(replica, at: now.wall)))
    }

    private static let auditProbePause = Duration.seconds(30)

    mutating func written(_ id: WriteID, _ failure: KafkaFailure?, _ now: Moment) {
        guard let purpose = writes.end(id) else { return }
        if let failure, writes.failed(purpose, failure) { note(.notWritten(isAudit: purpose.isAudit, failure)) }
        if failure == nil, writes.succeeded(purpose) { note(.writesAgain) }
        switch purpose {
        case .beat:
            beats.isInFlight = false
            guard let failure else { break }
            if !failure.isRefusal {
                beats.retry(now)
            } else if !beats.isSeen {
                // Without write permission, only the orders read at the start can be known.
                goOnUnheard()
            }
        case .owed(let scope):
            // Another order of the scope may be owed by now, or the same one again.
            guard let owed = owed[scope], owed.write == id else { break }
            if failure == nil {
                if !owed.isRead, unread.count < OwedOrder.eventsMax {
                    unread[scope] = owed.order
                }
                settle(scope)
            } else {
                self.owed[scope]?.retry(at: now.steady)
            }
        case .audit: if failure != nil { counts.unaudited += 1 }
        case .environment, .forgotten, .heldTotals, .lapse, .end, .auditProbe: break
        }
    }

    mutating func drain() {
        guard !isDraining else { return }
        if let replica = settings.replica, mayWrite { write(.ended(replica: replica), for: .end) }
        isDraining = true
    }
}
