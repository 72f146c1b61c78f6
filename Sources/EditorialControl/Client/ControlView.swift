public import NewsModel

/// The control topic as seen by an observer: orders in force and living processes.
public struct ControlView: Sendable, Hashable {
    public private(set) var orders = StandingOrders()
    /// The environments that the groups' hubs serve.
    public private(set) var environments = HubEnvironments()
    /// Number of invalid records.
    public private(set) var unreadable = 0
    public private(set) var proposals = Proposals()
    private var present = UnreadableRecords()
    /// The sorted keys of orders of a kind that this version does not know. Processes of this version send nothing while there is one.
    public var unknownOrders: [String] { present.unknownOrders }
    /// Bounded: has room for the processes of an hour even if each were a new one.
    public private(set) var signs = LifeSigns(capacity: 10_000)
    /// Offset of the record of each order in force.
    private var offsets: [ControlScope: Int64] = [:]
    /// Offset of the last record that gave or lifted an order.
    private var changedAt: Int64 = -1
    /// The earliest time of a record; `nil` for an empty topic.
    private var beganAt: Instant?
    /// Number of partitions of the topic. Records in several partitions have no common order.
    public let partitions: Int
    /// True if records were removed from the topic's beginning, perhaps together with orders. Compaction does not do this.
    public let isCut: Bool

    /// - Parameter start: the first offset of the topic.
    public init(partitions: Int = 1, start: Int64 = 0) { (self.partitions, isCut) = (partitions, start > 0) }

    /// - Returns: the decoded record; `nil` if it has no meaning.
    @discardableResult
    public mutating func apply(_ record: SourceRecord) -> ControlRecord? {
        let reading = ControlRecord.read(record)
        beganAt = min(beganAt ?? .distantFuture, record.timestamp ?? .distantPast)
        if reading.fault != nil { unreadable += 1 }
        present.take(record, reading.fault)
        switch reading.record {
        case .stands(let order):
            changedAt = record.offset
            orders.apply(.stands(order))
            if orders[order.scope] == order { offsets[order.scope] = record.offset }
        case .lifted(let scope):
            changedAt = record.offset
            orders.apply(.lifted(scope))
            offsets[scope] = nil
        case .lapsed(let scope, let id, let until):
            changedAt = record.offset
            guard orders[scope]?.ends(withLapseOf: id, until: until) == true else { break }
            orders.apply(.lifted(scope))
            offsets[scope] = nil
        case .beat(let beat): signs.heard(beat)
        case .ended(let replica): signs.ended(replica)
        case .environment(let found, let isFirst): environments.apply(found, isFirst: isFirst)
        case .noEnvironment(let group): environments.remove(group: group)
        case .proposed(let proposal, let approval): proposals.apply(proposal, approval)
        case .proposalEnded(let id): proposals.end(id)
        case .heldTotals, nil: break
        }
        return reading.record
    }

    /// The time by which orders lapse: the given wall clock, or the earliest time on a living process's beat if the clock is ahead of
    /// that. `nil` without a living process, because a single clock may be wrong.
    public func lapseClock(_ wall: Instant) -> Instant? { signs.living.isEmpty ? nil : signs.lapseClock(wall) }

    /// The given wall clock, or the latest time on a living process's beat if that is later.
    public func latestTime(_ wall: Instant) -> Instant { signs.living.reduce(wall) { max($0, $1.at) } }

    /// Returns the orders in force, sorted by scope. A lapsed order is not in force, even if its record is still on the topic.
    ///
    /// Includes orders that may have lapsed: see `mayHaveLapsed`.
    public func standing(at wall: Instant) -> [Order] {
        let clock = lapseClock(wall)
        return orders.all.filter { order in clock.map { !order.hasLapsed(at: $0) } ?? true }
    }

    /// Returns true if the order has lapsed by the given wall clock, and no living process supports that.
    public func mayHaveLapsed(_ order: Order, at wall: Instant) -> Bool {
        order.hasLapsed(at: wall) && !(lapseClock(wall).map { order.hasLapsed(at: $0) } ?? false)
    }

    /// Returns the orders in force against a notification sent without a lane: stops of the hub or its categories, and a recall
    /// of its story.
    ///
    /// - Parameter categories: all names whose stops hold for its categories.
    public func orders(against story: String, categories: [String], at wall: Instant) -> [Order] {
        let names = Set(categories.map { $0.lowercased() })
        return standing(at: wall).filter { order in
            switch order.scope {
            case .stop(.hub): true
            case .stop(.category(let name)): names.contains(name.lowercased())
            case .recall(let recalled): recalled == story
            case .stop: false
            }
        }
    }

    /// Returns the order in force; `nil` if there is no such order or it has lapsed. Includes an order that may have lapsed.
    public func order(_ scope: ControlScope, at wall: Instant) -> Order? {
        guard let order = orders[scope] else { return nil }
        return lapseClock(wall).map { order.hasLapsed(at: $0) } ?? false ? nil : order
    }

    /// Returns the recall in force of the story; `nil` without one, or if it is among the orders that were known before.
    ///
    /// - Parameter known: the ids of these orders.
    public func recall(of story: String, besides known: Set<String>, at wall: Instant) -> Order? {
        order(.recall(story: story), at: wall).flatMap { known.contains($0.id) ? nil : $0 }
    }

    /// Returns the living processes that have not confirmed the order, sorted by name. A process confirms it with a line on the
    /// audit topic or with a beat.
    ///
    /// - Parameter confirmations: the processes that have applied each order, by the order's id, from the audit topic.
    public func unconfirmed(_ order: Order, _ confirmations: [String: Set<String>]) -> [ControlRecord.Beat] {
        let confirmed = confirmations[order.id] ?? []
        return signs.living.filter { beat in
            guard !confirmed.contains(beat.replica) else { return false }
            guard let offset = offsets[order.scope], let appliedTo = beat.appliedTo else { return true }
            return appliedTo < offset
        }
    }

    /// Returns the other consumer groups on the topic, sorted. Each may have a hub of its own, whose readers have a story also if its
    /// processes have ended. Leaves out a group without a beat in the last week by the time of the log, because it has sent nothing
    /// in the week whose results a recall reads. A group that the topic names with its environment only has no such time.
    public func groups(besides group: String) -> [String] {
        environments.groups.union(signs.groups).subtracting(signs.formerGroups).subtracting([group]).sorted()
    }

    /// True if a living process that has read all of this topic obeys more orders than the topic has. The topic was recreated,
    /// and the processes put their orders back as soon as they notice.
    public var lacksOrders: Bool {
        signs.living.contains { beat in
            guard let obeyed = beat.orders, let appliedTo = beat.appliedTo else { return false }
            return appliedTo >= changedAt && obeyed > orders.count
        }
    }

    /// True if a running process may not have written a beat since the topic began. Its beat would show if it obeys orders that the
    /// topic has lost.
    public func mayLackBeats(at wall: Instant) -> Bool {
        !lacksOrders && mayLackProcesses(at: wall)
    }

    /// True if the topic is so young that a running process may not have written a beat to it.
    public func mayLackProcesses(at wall: Instant) -> Bool {
        wall - (beganAt ?? wall) < ControlRecord.Beat.writtenWithin
    }

    /// True if the topic may have lost orders: records were removed from it, or it is younger than the audit topic.
    ///
    /// - Parameter line: the time of the first line on the audit topic; `nil` without a line.
    public func mayHaveLostOrders(since line: @autoclosure () -> Instant?, at wall: Instant) -> Bool {
        isCut || line().map { (beganAt ?? wall) - $0 > ControlRecord.Beat.writtenWithin } ?? false
    }

    public func isStanding(_ scope: ControlScope, at wall: Instant) -> Bool { order(scope, at: wall) != nil }
}
