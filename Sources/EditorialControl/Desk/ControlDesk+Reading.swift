import KafkaModel
import NewsModel

/// What comes from the topic. While it is read from its beginning, orders that were known before hold: only its end tells what
/// stands, since a log that is not compacted yet repeats orders that were lifted long ago.
extension ControlDesk {
    mutating func begin(_ reading: UInt64, _ now: Moment) {
        phase = .reading(FreshReading(number: reading, isAwaited: beats.isWritten))
        silence.asked(now)
        beats.canBeHeard(now)
        if beats.isDue(now) { beat(now) }
    }

    mutating func interrupt(_ obstacle: Obstacle, _ now: Moment) {
        if case .waiting(let known) = phase, known == obstacle {} else { note(.obstacle(obstacle)) }
        phase = .waiting(obstacle)
        beats.cannotBeHeard()
        heldUpSince = nil
        // Without a topic a recall lasts as long as the process; should there be one later, it is written then.
        if obstacle == .missing { settledRecalls += owed.keys.compactMap(\.recalledStory).sorted() }
        // Without a topic, the orders known are all there are.
        if obstacle == .missing { answerConfirmations(upTo: .max) }
        // Nothing can be told by a topic that never was there.
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
        case .stands(let order): read(order, now)
        case .lifted(let scope): readLift(of: scope, at: record.timestamp ?? now.wall, now)
        case .beat(let beat):
            beats.heard(beat, now)
            if beat.replica == settings.replica, beats.saw(beat, now) { see() }
        case .ended(let replica): beats.ended(replica)
        case .environment(let found): read(found)
        case .noEnvironment: read(nil)
        }
    }

    /// A record that is no order has taken the place of one on the topic. The order is in force still, and is written again.
    private mutating func restore(_ scope: ControlScope, _ now: Moment) {
        if case .reading(var fresh) = phase {
            phase = .waiting(nil)
            fresh.hidden.insert(scope)
            phase = .reading(fresh)
        } else if let order = standing[scope], settings.replica != nil, owed[scope] == nil {
            owed[scope] = OwedOrder(order)
            note(.writtenAgain(scope))
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
            // One line for each doubling: garbage may come in any amount.
            if counts.unreadable & (counts.unreadable - 1) == 0 { note(.garbage(fault, offset: record.offset)) }
        }
    }

    /// What a reading has shown holds from its end on.
    private mutating func see() {
        guard case .reading(var fresh) = phase else {
            beats.isSeen = true
            return
        }
        phase = .waiting(nil)
        fresh.hasSeenBeat = true
        phase = .reading(fresh)
    }

    private mutating func read(_ found: HubEnvironment?) {
        guard case .reading(var fresh) = phase else {
            environment = found
            return
        }
        fresh.environment = found
        phase = .reading(fresh)
    }

    private mutating func read(_ order: Order, _ now: Moment) {
        if order.hasLapsed(at: lapseClock(now)) {
            lapsed.add(order)
            withdraw(order.scope, now, audited: nil)
            return
        }
        lapsed.remove(order.scope)
        guard case .reading(var fresh) = phase else {
            stand(order, now)
            return
        }
        // Not copied while it is changed.
        phase = .waiting(nil)
        fresh.take(order, isLate: beats.isOnTopic)
        phase = .reading(fresh)
    }

    private mutating func readLift(of scope: ControlScope, at time: Instant, _ now: Moment) {
        lifts.note(scope, standing[scope], at: time)
        if let order = owed[scope]?.order {
            if lifts.hasLifted(order) {
                noLongerOwed(scope)
            } else if case .following = phase {
                // Ours came later, and will stand on the topic behind it.
                return
            }
        }
        let isCleaning = lapsed.remove(scope)
        withdraw(scope, now, audited: isCleaning ? nil : time)
    }

    /// - Parameter time: when it was lifted; `nil` if nobody lifted it.
    private mutating func withdraw(_ scope: ControlScope, _ now: Moment, audited time: Instant?) {
        guard case .reading(var fresh) = phase else {
            lift(scope, now, audited: time)
            return
        }
        phase = .waiting(nil)
        fresh.lift(scope, wasKnown: standing[scope] != nil)
        phase = .reading(fresh)
        // Whoever lifted it waits for our answer, although it never stood here.
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
        if fresh.hasSeenBeat { beats.isSeen = true }
        waiting = fresh.waiting
        unreadable = fresh.unreadable
        counts.unreadable = max(counts.unreadable, fresh.unreadableCount)
        environment = fresh.environment
        if isFirst, fresh.unreadableCount > 0 { note(.garbageFound(fresh.unreadableCount)) }
        settle(with: fresh, now)
        answerConfirmations(upTo: fresh.number)
        for scope in fresh.hidden.sorted(by: { $0.key < $1.key }) { restore(scope, now) }
        if waiting.count > 0 { note(.refused(waiting.count)) }
        counts.unordered = max(counts.unordered, waiting.countOfEvents)
        if waiting.countOfEvents > 0 { note(.unordered(waiting.countOfEvents)) }
        if environment == nil, let ours = settings.environment { write(.environment(ours), for: .environment) }
        payOwed(now)
    }

    /// The difference between the orders known and those on the topic, lifts first.
    private mutating func settle(with fresh: FreshReading, _ now: Moment) {
        var changes: [OrderChange] = []
        for order in standing.all where fresh.orders[order.scope] == nil {
            let scope = order.scope
            let isOwed = owed[scope] != nil && !lifts.hasLifted(order)
            if fresh.lifted.contains(scope), !isOwed {
                changes.append(.lifted(scope))
            } else if settings.replica != nil, owed[scope] == nil {
                // The topic was deleted, and orders went with it: nobody has lifted them.
                owed[scope] = OwedOrder(order)
                note(.writtenAgain(scope))
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
        if !told.isEmpty { actions.append(.tell(told)) }
        for case .lifted(let scope) in told { uncover(scope, now) }
    }
}

/// What the topic has shown since reading began. Bounded, as the orders are.
struct FreshReading: Sendable {
    /// The last reading asked for when it began.
    let number: UInt64
    /// A beat of ours was written before: whoever has given an order since then waits for us, whatever is left of that beat.
    let isAwaited: Bool
    /// A beat of ours that counts stands on the topic.
    var hasSeenBeat = false
    /// The offset of the last record; that before the first one of an empty topic.
    var readTo: Int64 = -1
    var orders = StandingOrders()
    /// Orders known before that were lifted, or have lapsed.
    var lifted: Set<ControlScope> = []
    /// Recalls behind whose records there is one that is no order.
    var hidden: Set<ControlScope> = []
    /// Given after our own first beat: whoever gave them waits for us.
    var late: Set<ControlScope> = []
    var waiting = WaitingOrders()
    var unreadable = UnreadableRecords()
    var unreadableCount: UInt64 = 0
    var environment: HubEnvironment?

    init(number: UInt64, isAwaited: Bool) { (self.number, self.isAwaited) = (number, isAwaited) }

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

    /// What ended later has left room.
    mutating func fill() {
        while let order = waiting.next(for: orders) { orders.apply(.stands(order)) }
    }
}
