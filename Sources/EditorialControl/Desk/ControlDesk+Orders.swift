import KafkaModel
import NewsModel

/// Orders that come into force or end while the topic is followed, and the shards' answers.
extension ControlDesk {
    mutating func stand(_ order: Order, _ now: Moment) {
        if standing[order.scope] == order {
            // Another process has written it again.
            if owed[order.scope]?.write == nil { noLongerOwed(order.scope) }
            return
        }
        guard standing.apply(.stands(order)) else {
            waiting.add(order)
            guard !order.isOfEvent else { return noteUnordered() }
            if waiting.count & (waiting.count - 1) == 0 { note(.refused(waiting.count)) }
            return
        }
        waiting.remove(order.scope)
        // Another's order of the same scope counts as ours.
        if owed[order.scope]?.write == nil { noLongerOwed(order.scope) }
        tell(.stands(order), isAnswered: true, now)
    }

    /// - Parameter time: when it was lifted; `nil` if it has lapsed.
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

    private mutating func tell(_ change: OrderChange, isAnswered: Bool, _ now: Moment) {
        expectAnswers(to: change, if: isAnswered, now)
        actions.append(.tell([change]))
    }

    // MARK: Events that recall

    /// An event may come again at any time, so it recalls nothing that was lifted since it was written.
    mutating func take(_ recall: EventRecall, _ now: Moment) {
        guard hasKnown else {
            if early.count < OwedOrder.eventsMax {
                early.append(recall)
            } else {
                noteUnordered()
                settledRecalls.append(recall.story)
            }
            return
        }
        let scope = ControlScope.recall(story: recall.story)
        defer { if owed[scope] == nil || isMissing { settledRecalls.append(recall.story) } }
        let order = Order(recall, now: now.wall)
        if let known = standing[scope] {
            if known.id != order.id, covered.count < OwedOrder.eventsMax { covered[scope] = order }
            return
        }
        if lifts.hasLifted(order) {
            // The shard that read it obeys it: take that back.
            actions.append(.tell([.lifted(scope)]))
            return
        }
        give(order, now)
    }

    /// The order about the same has ended. A recall by an event that its end did not know of takes its place.
    mutating func uncover(_ scope: ControlScope, _ now: Moment) {
        guard !covered.isEmpty, let order = covered.removeValue(forKey: scope), !lifts.hasLifted(order),
            !order.hasLapsed(at: lapseClock(now))
        else { return }
        give(order, now)
    }

    /// Puts an event's order in force, here and on the topic.
    private mutating func give(_ order: Order, _ now: Moment) {
        let scope = order.scope
        guard settings.replica == nil || owed.count < OwedOrder.eventsMax, standing.apply(.stands(order)) else {
            return noteUnordered()
        }
        owed[scope] = OwedOrder(order)
        audit(
            AuditEntry(
                at: now.wall, scope: scope.key, action: .recall, order: order.id, by: order.by, reason: order.reason))
        tell(.stands(order), isAnswered: true, now)
        if mayWrite { pay(scope) }
    }

    /// A recall by an event reaches the shard alone that has read it.
    private mutating func noteUnordered() {
        counts.unordered += 1
        if counts.unordered & (counts.unordered - 1) == 0 { note(.unordered(counts.unordered)) }
    }

    /// The topic has an order, or need not have it any more.
    mutating func noLongerOwed(_ scope: ControlScope) {
        guard owed.removeValue(forKey: scope) != nil, case .recall(let story) = scope else { return }
        settledRecalls.append(story)
    }

    /// Writes what the topic should have.
    mutating func payOwed(_ now: Moment) {
        guard mayWrite else { return }
        let due = owed.filter { $0.value.isDue(at: now.steady) }.keys
        for scope in due.sorted(by: { $0.key < $1.key }) { pay(scope) }
    }

    private mutating func pay(_ scope: ControlScope) {
        guard let order = owed[scope]?.order else { return }
        let id = write(.stands(order), for: .owed(scope))
        owed[scope]?.write = id
    }

    // MARK: Answers

    func isRecent(_ change: OrderChange, _ now: Moment) -> Bool {
        guard case .stands(let order) = change else { return false }
        return abs((now.wall - order.at).nanoseconds) <= Self.recent.nanoseconds
    }

    /// Whoever gave an order in so short a time may be waiting for us.
    private static let recent = Duration.seconds(60)

    /// - Parameter isAwaited: whoever gave the order waits for our answer.
    mutating func expectAnswers(to change: OrderChange, if isAwaited: Bool, _ now: Moment) {
        guard settings.replica != nil else { return }
        answers.expect(
            AuditEntry(change, at: now.wall, replica: settings.replica), isAwaited: isAwaited && hasAudit,
            from: settings.shards, readTo: readTo)
    }

    mutating func answered(_ applied: AppliedOrder, _ shard: ShardID, _ now: Moment) {
        if let entry = answers.take(applied, from: shard, at: now.wall) { audit(entry) }
    }

    /// A lift that is read again is old, as far as can be known.
    mutating func confirmIfRecent(_ scope: ControlScope, at time: Instant, _ now: Moment) {
        if abs((now.wall - time).nanoseconds) <= Self.recent.nanoseconds { confirm(scope, now) }
    }

    /// A lift of what does not stand here is applied at once.
    private mutating func confirm(_ scope: ControlScope, _ now: Moment) {
        guard settings.replica != nil else { return }
        var entry = AuditEntry(.lifted(scope), at: now.wall, replica: settings.replica)
        entry.applied = AppliedOrder(order: scope.key)
        audit(entry)
    }
}

extension AuditEntry {
    /// The answer to a change, without its counts.
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
    /// The giving and the end of such an order, in the audit.
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

    fileprivate init(_ recall: EventRecall, now: Instant) {
        self.init(
            id: recall.orderID, scope: .recall(story: recall.story), at: recall.at,
            by: "event \(recall.eventID)", reason: "status canceled", until: now + Self.recallLasts)
    }
}
