import KafkaModel
import NewsModel

/// Orders that take effect or end while the topic is followed, and the shards' answers to them.
extension ControlState {
    mutating func stand(_ order: Order, _ now: Moment) {
        if standing[order.scope] == order {
            // Another process has written the order again.
            if owed[order.scope]?.write == nil { settle(order.scope) }
            return
        }
        guard standing.apply(.stands(order)) else {
            waiting.add(order)
            guard !order.isOfEvent else { return noteUnordered(now) }
            if waiting.count & (waiting.count - 1) == 0 { note(.refused(waiting.count)) }
            return
        }
        waiting.remove(order.scope)
        // Another process's order of the same scope counts as ours, unless it ends before our event's recall.
        if let ours = owed[order.scope], ours.write == nil, !ours.order.isOfEvent || !ours.order.outlasts(order) {
            settle(order.scope)
        }
        tell(.stands(order), isAnswered: true, now)
    }

    /// - Parameter time: the time of the lift; `nil` if the order has lapsed.
    mutating func lift(_ scope: ControlScope, _ now: Moment, audited time: Instant?) {
        waiting.remove(scope)
        if standing.apply(.lifted(scope)) {
            tell(.lifted(scope), isAnswered: time != nil, now)
            uncover(scope, now)
            while let order = waiting.next(for: standing) { stand(order, now) }
        } else if time != nil {
            confirm(scope, now)
        }
    }

    /// Our own order follows on the topic after the end of an older one, and is in force all along.
    mutating func keep(_ ours: Order, _ now: Moment, isAnswered: Bool) {
        if standing[ours.scope] != ours, standing.apply(.stands(ours)) {
            tell(.stands(ours), isAnswered: false, now)
        }
        if isAnswered { confirm(ours.scope, now) }
    }

    private mutating func tell(_ change: OrderChange, isAnswered: Bool, _ now: Moment) {
        expectAnswers(to: change, if: isAnswered, now)
        tell([change])
    }

    /// The end of an order and another order that takes its place are one action, so that no shard sends in between.
    mutating func tell(_ changes: [OrderChange]) {
        guard let first = changes.first else { return }
        if case .tell(let earlier)? = actions.last, case .lifted(let scope)? = earlier.last,
            case .stands(let order) = first, order.scope == scope
        {
            actions[actions.count - 1] = .tell(earlier + changes)
        } else {
            actions.append(.tell(changes))
        }
    }

    // MARK: Events that recall

    /// Applies an event's recall unless it was lifted after it was written, because events may be read repeatedly.
    mutating func take(_ recall: EventRecall, _ now: Moment) {
        guard hasKnown else {
            if early.count < (recall.isOfFirstLane ? OwedOrder.eventsMax : OwedOrder.eventsMax / 2) {
                early.append(recall)
            } else {
                noteUnordered(now)
                settledRecalls.append(recall.story)
            }
            return
        }
        let scope = ControlScope.recall(story: recall.story)
        defer { if owed[scope] == nil || isMissing { settledRecalls.append(recall.story) } }
        // A time in our future is the error of a clock: the writer's, or ours if the last lift is in our future too.
        let latest = max(now.wall, lifts.time(of: scope) ?? now.wall)
        let order = Order(recall, at: min(recall.at ?? latest, latest), now: now.wall)
        if let known = standing[scope] {
            // An older event may be read after a newer one.
            let isNewest = covered[scope].map { $0.at < order.at } ?? (covered.count < OwedOrder.eventsMax)
            if known.id != order.id, isNewest { covered[scope] = order }
            if known.id != order.id, order.outlasts(known), !lifts.hasLifted(order) { extend(known, by: order, now) }
            return
        }
        if lifts.hasLifted(order) {
            // The shard that read the event already obeys it, so this revokes its recall.
            tell([.lifted(scope)])
            return
        }
        guard recall.isOfFirstLane || standing.hasRoomForOtherLanes else { return noteUnordered(now) }
        give(order, now)
    }

    /// Puts another order in force after the order of its scope has ended, unless that end also lifted it. This is our own order if
    /// it was not read back yet, because its record follows on the topic. Otherwise it is a covered recall.
    mutating func uncover(_ scope: ControlScope, _ now: Moment) {
        let ours = owed[scope].flatMap { $0.isRead ? nil : $0.order } ?? unread[scope]
        if let ours, !lifts.hasLifted(ours), !hasLapsed(ours, now) { return keep(ours, now, isAnswered: false) }
        guard !covered.isEmpty, let order = covered.removeValue(forKey: scope), !lifts.hasLifted(order),
            !hasLapsed(order, now)
        else { return }
        give(order, now)
    }

    /// Puts off the end of the order in force, so that a restart does not shorten the recall by the event.
    private mutating func extend(_ known: Order, by recall: Order, _ now: Moment) {
        var order = known
        order.until = recall.until
        give(order, as: recall, now)
    }

    /// Puts an event's order in force in this process, and writes it to the topic.
    ///
    /// - Parameter recall: the event's order if another one is extended by it.
    private mutating func give(_ order: Order, as recall: Order? = nil, _ now: Moment) {
        let scope = order.scope
        guard settings.replica == nil || owed[scope] != nil || owed.count < OwedOrder.eventsMax,
            standing.apply(.stands(order))
        else { return noteUnordered(now) }
        owed[scope] = OwedOrder(order)
        // A lift in the same input may have settled the recall that is written once more.
        settledRecalls.removeAll { $0 == scope.recalledStory }
        tell(.stands(order), isAnswered: true, now)
        let author = recall ?? order
        audit(
            AuditEntry(
                at: now.wall, scope: scope.key, action: .recall, order: order.id, by: author.by, reason: author.reason))
        if mayWrite { pay(scope, now) }
    }

    /// Counts a recall by an event that only the shard that read the event obeys.
    private mutating func noteUnordered(_ now: Moment) {
        counts.unordered += 1
        unorderedAt = now.steady
        if counts.unordered & (counts.unordered - 1) == 0 { note(.unordered(counts.unordered)) }
    }

    /// Forgets an order that the topic has by now, or no longer needs.
    mutating func settle(_ scope: ControlScope) {
        guard owed.removeValue(forKey: scope) != nil, case .recall(let story) = scope else { return }
        settledRecalls.append(story)
    }

    /// Writes owed orders to the topic if their writes are due.
    mutating func payOwed(_ now: Moment) {
        guard mayWrite else { return }
        let due = owed.filter { $0.value.isDue(at: now.steady) }.keys
        for scope in due.sorted(by: { $0.key < $1.key }) { pay(scope, now) }
    }

    private mutating func pay(_ scope: ControlScope, _ now: Moment) {
        guard let order = owed[scope]?.order else { return }
        if owed[scope]?.isLost == true {
            owed[scope]?.isLost = false
            note(.writtenAgain(scope))
            audit(.writtenAgain(order, at: now.wall, replica: settings.replica))
        }
        let id = write(.stands(order), for: .owed(scope))
        owed[scope]?.write = id
    }

    // MARK: Answers

    func isRecent(_ change: OrderChange, _ now: Moment) -> Bool {
        guard case .stands(let order) = change else { return false }
        return abs((now.wall - order.at).nanoseconds) <= Self.recent.nanoseconds
    }

    /// Age up to which an order's sender may still be waiting for our answer.
    private static let recent = Duration.seconds(60)

    /// - Parameter isAwaited: true if the sender of the order waits for our answer.
    mutating func expectAnswers(to change: OrderChange, if isAwaited: Bool, _ now: Moment) {
        guard settings.replica != nil else { return }
        answers.expect(
            AuditEntry(change, at: now.wall, replica: settings.replica), isAwaited: isAwaited && hasAudit,
            from: settings.shards, readTo: readTo)
    }

    mutating func answered(_ applied: AppliedOrder, _ shard: ShardID, _ now: Moment) {
        if let entry = answers.take(applied, from: shard, at: now.wall) { audit(entry) }
    }

    /// Confirms a lift only if it is recent: a lift that is read again is assumed to be old.
    mutating func confirmIfRecent(_ scope: ControlScope, at time: Instant, _ now: Moment) {
        if abs((now.wall - time).nanoseconds) <= Self.recent.nanoseconds { confirm(scope, now) }
    }

    /// Confirms the lift of an order that is not in force here. No shard has to apply it.
    private mutating func confirm(_ scope: ControlScope, _ now: Moment) {
        guard settings.replica != nil else { return }
        var entry = AuditEntry(.lifted(scope), at: now.wall, replica: settings.replica)
        entry.applied = AppliedOrder(order: scope.key)
        audit(entry)
    }
}

extension AuditEntry {
    /// Makes the answer to a change, without its counts.
    fileprivate init(_ change: OrderChange, at time: Instant, replica: String?) {
        switch change {
        case .stands(let order):
            self.init(
                at: time, scope: order.scope.key, action: order.scope.given, order: order.id, by: order.by,
                replica: replica)
        case .lifted(let scope):
            self.init(at: time, scope: scope.key, action: scope.ended, order: scope.key, replica: replica)
        }
    }
}

extension ControlScope {
    /// The audit action that gives an order of this scope.
    package var given: AuditEntry.Action {
        switch self {
        case .recall: .recall
        case .stop: .stop
        }
    }

    package var ended: AuditEntry.Action {
        switch self {
        case .recall: .lift
        case .stop: .resume
        }
    }
}

extension Order {
    func hasLapsed(at wall: Instant) -> Bool { until.map { $0 <= wall } ?? false }

    fileprivate init(_ recall: EventRecall, at: Instant, now: Instant) {
        self.init(
            id: recall.orderID, scope: .recall(story: recall.story), at: at,
            by: "event \(recall.eventID)", reason: "status canceled", until: now + Self.recallLasts)
    }
}
