import KafkaModel
import NewsModel

/// Records of the topic. While it is read from its beginning, earlier orders stay in force. Only the end of the topic shows
/// which orders are in force, because an uncompacted log repeats orders that were lifted long ago.
extension ControlState {
    mutating func begin(_ reading: UInt64, _ now: Moment) {
        phase = .reading(
            FreshReading(number: reading, isAwaited: beats.isWritten, mayLackEnds: silence.isLong(now)))
        silence.asked(now)
        heldTotals.beginReading()
        beats.canBeHeard(now)
        if beats.isDue(now) { beat(now) }
    }

    mutating func interrupt(_ obstacle: Obstacle, _ now: Moment) {
        if case .waiting(let known) = phase, known == obstacle {} else { note(.obstacle(obstacle)) }
        phase = .waiting(obstacle)
        beats.cannotBeHeard()
        heldUpSince = nil
        // Without a topic, a recall lasts as long as the process. If the topic appears later, the recall is written then.
        if obstacle == .missing { settledRecalls += owed.keys.compactMap(\.recalledStory).sorted() }
        if obstacle == .missing { tellFormerlyHeld() }
        // Without a topic, there are no orders besides the known ones.
        if obstacle == .missing { answerConfirmations(upTo: .max) }
        // A topic that never existed cannot be silent.
        if obstacle == .missing, !hasRead { hear(now) }
    }

    private mutating func hear(_ now: Moment) {
        silence.heard(now)
        guard silence.isStale else { return }
        silence.isStale = false
        note(.heardAgain)
    }

    mutating func take(_ record: SourceRecord, _ now: Moment) {
        hear(now)
        let reading = ControlRecord.read(record)
        count(record, reading.fault)
        switch reading.record {
        case nil: if let scope = reading.hidden { restore(scope, now) }
        case .stands(let order):
            missing.changed(at: record.offset)
            if !silence.isLong(now) { missing.forgetPeers() }
            read(order, now)
        case .lifted(let scope):
            missing.changed(at: record.offset)
            readLift(of: scope, at: record.timestamp ?? now.wall, now)
        case .lapsed(let scope, let id, let until):
            missing.changed(at: record.offset)
            readLapse(of: scope, id, until, now)
        case .beat(let beat):
            beats.heard(beat, now)
            missing.heard(beat, at: record.offset, known: ordersRead, isOurs: beat.replica == settings.replica)
            if beat.replica == settings.replica {
                if beats.saw(beat, now) { see() }
            } else if case .following = phase {
                beats.metCompany(now)
                if !silence.isLong(now) { missing.met(beat, obeying: standing.count) }
            }
        case .ended(let replica): beats.ended(replica)
        case .environment(let found, let isFirst): readEnvironments { $0.apply(found, isFirst: isFirst) }
        case .noEnvironment(let group): readEnvironments { $0.remove(group: group) }
        case .heldTotals(let totals, let topic): heldTotals.read(totals, of: topic, ours: settings.heldTopic)
        // Only the command that approves a proposal carries it out.
        case .proposed, .proposalEnded: break
        }
    }

    /// Writes an order again after an invalid record, an earlier state of it, or the tombstone of an earlier order, has replaced it on
    /// the topic. The order stays in force.
    private mutating func restore(_ scope: ControlScope, _ now: Moment) {
        if case .reading(var fresh) = phase {
            phase = .waiting(nil)
            fresh.hidden.insert(scope)
            phase = .reading(fresh)
        } else if let order = standing[scope], settings.replica != nil, owed[scope]?.isRead ?? true {
            // The record of an owed order that was not read back yet will follow on the topic.
            owed[scope] = OwedOrder(order, isLost: true)
            payOwed(now)
        }
    }

    private mutating func count(_ record: SourceRecord, _ fault: ControlRecord.Fault?) {
        if case .reading(var fresh) = phase {
            phase = .waiting(nil)
            fresh.readTo = record.offset
            fresh.unreadable.take(record, fault)
            if fault != nil { fresh.unreadableCount += 1 }
            phase = .reading(fresh)
        } else {
            readTo = record.offset
            unreadable.take(record, fault)
            guard let fault else { return }
            counts.unreadable += 1
            // Logs one line per doubling, because any number of invalid records may arrive.
            if counts.unreadable & (counts.unreadable - 1) == 0 { note(.garbage(fault, offset: record.offset)) }
        }
    }

    /// The number of orders in force on the topic before the present record.
    private var ordersRead: Int { if case .reading(let fresh) = phase { fresh.orders.count } else { standing.count } }

    /// Records that our beat was read. During a reading, this takes effect at the end of the reading.
    private mutating func see() {
        guard case .reading(var fresh) = phase else {
            beats.isSeen = true
            return
        }
        phase = .waiting(nil)
        fresh.hasSeenBeat = true
        phase = .reading(fresh)
    }

    private mutating func readEnvironments(_ change: (inout HubEnvironments) -> Void) {
        guard case .reading(var fresh) = phase else { return change(&environments) }
        change(&fresh.environments)
        phase = .reading(fresh)
    }

    private mutating func read(_ order: Order, _ now: Moment) {
        if unread[order.scope] == order { unread[order.scope] = nil }
        if owed[order.scope]?.order == order { owed[order.scope]?.isRead = true }
        // Another process may write an order again before it knows that an event has put off the end.
        if present(order.scope)?.extends(order) == true { return restore(order.scope, now) }
        if standing[order.scope]?.extends(order) == true, case .reading(var fresh) = phase {
            phase = .waiting(nil)
            fresh.skip(order.scope)
            phase = .reading(fresh)
            return
        }
        if hasLapsed(order, now) {
            lapsed.add(order)
            withdraw(order.scope, as: order.at, now, audited: nil)
            return
        }
        lapsed.remove(order.scope)
        guard case .reading(var fresh) = phase else {
            stand(order, now)
            return
        }
        // `phase` is cleared first so that changing `fresh` does not copy it.
        phase = .waiting(nil)
        fresh.take(order, isLate: beats.isOnTopic)
        phase = .reading(fresh)
    }

    /// The order of the scope that the records read so far leave in force.
    private func present(_ scope: ControlScope) -> Order? {
        if case .reading(let fresh) = phase { fresh.orders[scope] } else { standing[scope] }
    }

    private mutating func readLift(of scope: ControlScope, at time: Instant, _ now: Moment) {
        lifts.note(scope, order(before: time, of: scope), at: time)
        if let order = owed[scope]?.order {
            if lifts.hasLifted(order) {
                settle(scope)
            } else if case .following = phase {
                // Our order is newer, and its record will follow the lift on the topic.
                return
            }
        }
        let isCleaning = lapsed.remove(scope)
        withdraw(scope, as: time, now, audited: isCleaning ? nil : time)
    }

    /// Handles the tombstone of a lapsed order. It ends no other order of the scope, nor the same one with a later end.
    private mutating func readLapse(of scope: ControlScope, _ id: String, _ until: Instant?, _ now: Moment) {
        lapsed.remove(scope)
        if case .reading(var fresh) = phase {
            phase = .waiting(nil)
            fresh.lapse(scope, known: standing[scope]) { $0.ends(withLapseOf: id, until: until) }
            phase = .reading(fresh)
            return
        }
        waiting.remove(scope) { $0.ends(withLapseOf: id, until: until) }
        guard let order = standing[scope] else { return }
        guard order.ends(withLapseOf: id, until: until) else { return restore(scope, now) }
        // A lapse is final for all processes, even if this one's clock is behind.
        if owed[scope]?.order.ends(withLapseOf: id, until: until) == true { settle(scope) }
        if unread[scope]?.ends(withLapseOf: id, until: until) == true { unread[scope] = nil }
        lift(scope, now, audited: nil)
    }

    /// The order that a lift on the topic ends: the one before it there. Our own order that was not read back yet follows the lift,
    /// unless compaction has removed it because the lift is newer.
    private func order(before lift: Instant, of scope: ControlScope) -> Order? {
        if case .reading(let fresh) = phase, let order = fresh.orders[scope] { return order }
        guard let order = standing[scope], owed[scope] != nil || unread[scope] == order else { return standing[scope] }
        return order.at <= lift ? order : nil
    }

    /// - Parameters:
    ///   - writtenAt: the time of the lift, or of the lapsed order.
    ///   - time: the time of the lift; `nil` if nobody lifted the order.
    private mutating func withdraw(
        _ scope: ControlScope, as writtenAt: Instant, _ now: Moment, audited time: Instant?
    ) {
        guard case .reading(var fresh) = phase else {
            if let ours = unread[scope], ours.at > writtenAt {
                keep(ours, now, isAnswered: time != nil)
            } else {
                lift(scope, now, audited: time)
            }
            return
        }
        phase = .waiting(nil)
        fresh.lift(scope, wasKnown: standing[scope] != nil)
        phase = .reading(fresh)
        // The sender of the lift waits for our answer, although the order was never in force here.
        if standing[scope] == nil, let time, beats.isOnTopic { confirmIfRecent(scope, at: time, now) }
    }

    mutating func reachEnd(_ now: Moment) {
        guard case .reading(var fresh) = phase else { return }
        fresh.fill()
        phase = .following
        hear(now)
        let isFirst = !hasRead
        hasRead = true
        readTo = fresh.readTo
        beats.reachedEnd(now)
        missing.reachedEnd(now, beats.others(than: settings.replica))
        if fresh.hasSeenBeat { beats.isSeen = true }
        waiting = fresh.waiting
        unreadable = fresh.unreadable
        counts.unreadable = max(counts.unreadable, fresh.unreadableCount)
        let former = environments
        environments = fresh.environments
        tellFormerlyHeld()
        if isFirst, fresh.unreadableCount > 0 { note(.garbageFound(fresh.unreadableCount)) }
        settle(with: fresh, now)
        answerConfirmations(upTo: fresh.number)
        for scope in fresh.hidden.sorted(by: { $0.key < $1.key }) { restore(scope, now) }
        if waiting.count > 0 { note(.refused(waiting.count)) }
        if waiting.countOfEvents > counts.unordered {
            (counts.unordered, unorderedAt) = (waiting.countOfEvents, now.steady)
        }
        if waiting.countOfEvents > 0 { note(.unordered(waiting.countOfEvents)) }
        if let record = environments.missing(settings.environment, former: former) { write(record, for: .environment) }
        payOwed(now)
    }

    private mutating func tellFormerlyHeld() {
        guard !heldTotals.isTold else { return }
        heldTotals.isTold = true
        actions.append(.formerlyHeld(heldTotals.recorded))
    }

    /// Applies the difference between the known orders and those on the topic, lifts first.
    private mutating func settle(with fresh: FreshReading, _ now: Moment) {
        var changes: [OrderChange] = []
        for order in standing.all where fresh.orders[order.scope] == nil {
            let scope = order.scope
            let isOurs = (owed[scope] != nil || unread[scope] == order) && !lifts.hasLifted(order)
            let hasEnded = fresh.mayLackEnds && missing.haveEnded && !fresh.hidden.contains(scope)
            if fresh.lifted.contains(scope) || hasEnded, !isOurs {
                changes.append(.lifted(scope))
            } else if settings.replica != nil, owed[scope] == nil {
                // The topic was deleted together with its orders, so nobody has lifted this one.
                owed[scope] = OwedOrder(order, isLost: true)
            }
        }
        for order in fresh.orders.all where standing[order.scope] != order { changes.append(.stands(order)) }
        var told: [OrderChange] = []
        for change in changes {
            guard standing.apply(change) else {
                if case .stands(let order) = change { waiting.add(order) }
                continue
            }
            told.append(change)
            let isAwaited = fresh.isAwaited || fresh.late.contains(change.scope) || isRecent(change, now)
            expectAnswers(to: change, if: isAwaited, now)
        }
        tell(told)
        for case .lifted(let scope) in told { uncover(scope, now) }
    }
}

/// The state of the topic since reading began. Bounded, as the orders are.
struct FreshReading: Sendable {
    /// Number of the last reading requested before this one began.
    let number: UInt64
    /// True if one of our beats was written earlier. Senders of later orders wait for us, even if that beat is gone.
    let isAwaited: Bool
    /// True if orders may have ended and gone from the topic while this process stood still or could not read.
    let mayLackEnds: Bool
    /// True if one of our beats was read and is recent enough to count.
    var hasSeenBeat = false
    /// Offset of the last record. For an empty topic, the offset before the first record.
    var readTo: Int64 = -1
    var orders = StandingOrders()
    /// Orders known from before that were lifted or have lapsed.
    var lifted: Set<ControlScope> = []
    /// Scopes of orders whose records were followed by an invalid record with the same key, by the tombstone of an earlier order, or by
    /// an earlier state of the order.
    var hidden: Set<ControlScope> = []
    /// Scopes of orders given after our first beat. Their senders wait for us.
    var late: Set<ControlScope> = []
    var waiting = WaitingOrders()
    var unreadable = UnreadableRecords()
    var unreadableCount: UInt64 = 0
    var environments = HubEnvironments()

    init(number: UInt64, isAwaited: Bool, mayLackEnds: Bool) {
        (self.number, self.isAwaited, self.mayLackEnds) = (number, isAwaited, mayLackEnds)
    }

    mutating func take(_ order: Order, isLate: Bool) {
        hidden.remove(order.scope)
        guard orders[order.scope] != order else { return }
        guard orders.apply(.stands(order)) else {
            waiting.add(order)
            return
        }
        if isLate { late.insert(order.scope) }
    }

    mutating func lift(_ scope: ControlScope, wasKnown: Bool) {
        hidden.remove(scope)
        orders.apply(.lifted(scope))
        waiting.remove(scope)
        if wasKnown { lifted.insert(scope) }
    }

    /// Handles an earlier state of an order whose end was put off. The later state follows on the topic, or is missing there.
    mutating func skip(_ scope: ControlScope) {
        lift(scope, wasKnown: false)
        lifted.remove(scope)
        hidden.insert(scope)
    }

    /// - Parameters:
    ///   - known: the order of the scope that was in force when the reading began.
    ///   - isEnded: returns true for the order that has lapsed.
    mutating func lapse(_ scope: ControlScope, known: Order?, _ isEnded: (Order) -> Bool) {
        waiting.remove(scope, where: isEnded)
        if let order = orders[scope], !isEnded(order) {
            hidden.insert(scope)
            return
        }
        hidden.remove(scope)
        orders.apply(.lifted(scope))
        if let known, isEnded(known) { lifted.insert(scope) }
    }

    /// Moves waiting orders into the room left by orders that ended later on the topic.
    mutating func fill() {
        while let order = waiting.next(for: orders) { orders.apply(.stands(order)) }
    }
}
