public import NewsModel

/// A standing order of an editor, an operator or an event: it holds until it is lifted or lapses.
public struct Order: Sendable, Hashable {
    /// Names the order on the audit topic; unique.
    public var id: String
    public var scope: ControlScope
    public var at: Instant
    /// Who says to have given it: a claim. The topic's ACL is the authority.
    public var by: String
    public var reason: String?
    /// It lapses then, by the clock on the wall; `nil` for never.
    public var until: Instant?
    /// The text that took the place of a recalled story on the phones.
    public var replacement: String?

    public init(
        id: String, scope: ControlScope, at: Instant, by: String, reason: String? = nil, until: Instant? = nil,
        replacement: String? = nil
    ) {
        self.id = id
        self.scope = scope
        self.at = at
        self.by = by
        self.reason = reason
        self.until = until
        self.replacement = replacement
    }

    /// An event of the stream has given it.
    var isOfEvent: Bool { id.hasPrefix(EventRecall.orderPrefix) }

    /// A recall lapses after a week if nobody says otherwise.
    public static let recallLasts = Duration.seconds(7 * 86_400)
}

/// What has changed about the standing orders.
public enum OrderChange: Sendable, Hashable {
    case stands(Order)
    /// It was lifted, or has lapsed.
    case lifted(ControlScope)

    public var scope: ControlScope {
        switch self {
        case .stands(let order): order.scope
        case .lifted(let scope): scope
        }
    }
}

/// What an order has met in one process; added up over its shards.
public struct AppliedOrder: Sendable, Hashable {
    /// The order's id; of a lifted one the scope's key.
    public var order: String
    /// Deliveries that wait, which it ended (a recall) or holds back (a stop).
    public var waiting: Int
    /// Requests that were under way when it came: they cannot be stopped.
    public var inFlight: Int
    /// 1 if a recalled story has an event on the held topic: it ends too. Every shard and process knows all that is held.
    public var held: Int

    public init(order: String, waiting: Int = 0, inFlight: Int = 0, held: Int = 0) {
        self.order = order
        self.waiting = waiting
        self.inFlight = inFlight
        self.held = held
    }

    /// With what it has met elsewhere. Waiting deliveries belong to one shard, held events to all: those are no more than the
    /// one who knows most says.
    mutating func add(_ other: AppliedOrder) {
        waiting = waiting.addingReportingOverflow(other.waiting).partialValue
        inFlight = inFlight.addingReportingOverflow(other.inFlight).partialValue
        held = max(held, other.held)
    }
}
