public import NewsModel

/// The control topic as somebody sees it who only looks on: what stands, and which processes live.
public struct ControlView: Sendable, Hashable {
    public private(set) var orders = StandingOrders()
    /// Which environment the hub serves; `nil` while nobody has said so.
    public private(set) var environment: HubEnvironment?
    /// Records without a meaning.
    public private(set) var unreadable = 0
    /// Bounded by the processes of an hour, if each were a new one.
    public private(set) var signs = LifeSigns(capacity: 10_000)
    /// Where the record of each standing order is on the topic.
    private var offsets: [ControlScope: Int64] = [:]

    public init() {}

    /// - Returns: what the record says, if it says anything.
    @discardableResult
    public mutating func take(_ record: SourceRecord) -> ControlRecord? {
        let reading = ControlRecord.read(record)
        if reading.fault != nil { unreadable += 1 }
        switch reading.record {
        case .stands(let order):
            orders.apply(.stands(order))
            if orders[order.scope] == order { offsets[order.scope] = record.offset }
        case .lifted(let scope):
            orders.apply(.lifted(scope))
            offsets[scope] = nil
        case .beat(let beat): signs.heard(beat)
        case .ended(let replica): signs.ended(replica)
        case .environment(let found): environment = found
        case .noEnvironment: environment = nil
        case nil: break
        }
        return reading.record
    }

    /// The orders that stand, in the order of their scopes: an order that has lapsed stands no more, though its record does.
    public func standing(at wall: Instant) -> [Order] {
        orders.all.filter { !$0.hasLapsed(at: wall) }
    }

    /// The orders in force against a notification that is sent past every lane: a stop of the hub or of one of its categories, and
    /// a recall of its story.
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

    /// The order that stands; `nil` for none, or one that has lapsed.
    public func order(_ scope: ControlScope, at wall: Instant) -> Order? {
        orders[scope].flatMap { $0.hasLapsed(at: wall) ? nil : $0 }
    }

    /// The living processes that have not said that they obey the order, in the order of their names: neither by a line on the
    /// audit topic nor by a beat.
    ///
    /// - Parameter confirmations: from the audit topic, by the order's id.
    public func unconfirmed(_ order: Order, _ confirmations: [String: Set<String>]) -> [ControlRecord.Beat] {
        let confirmed = confirmations[order.id] ?? []
        return signs.living.filter { beat in
            guard !confirmed.contains(beat.replica) else { return false }
            guard let offset = offsets[order.scope], let appliedTo = beat.appliedTo else { return true }
            return appliedTo < offset
        }
    }

    public func isStanding(_ scope: ControlScope, at wall: Instant) -> Bool { order(scope, at: wall) != nil }
}
