public import NewsModel

/// An order of an editor, an operator or an event. It is in force until it is lifted or lapses.
public struct Order: Sendable, Hashable {
    /// Identifies the order on the audit topic; unique.
    public var id: String
    public var scope: ControlScope
    public var at: Instant
    /// Self-reported name of the sender. The topic's ACL decides who may give orders.
    public var by: String
    public var reason: String?
    /// Time at which it lapses, by the wall clock; `nil` for never.
    public var until: Instant?
    /// The text that replaces a recalled story on phones.
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

    /// True if an event gave the order.
    var isOfEvent: Bool { id.hasPrefix(EventRecall.orderPrefix) }

    /// Lifetime of a recall without an end time: a week.
    public static let recallLasts = Duration.seconds(7 * 86_400)

    /// Returns true if the tombstone of a lapsed order ends this one. An event may have put off the end since the order lapsed for
    /// the writer of the tombstone.
    ///
    /// - Parameter end: the end of the lapsed order; `nil` if the tombstone does not name it.
    public func ends(withLapseOf id: String, until end: Instant?) -> Bool {
        guard self.id == id else { return false }
        guard let until, let end else { return true }
        return until <= end
    }

    /// Returns true if it is the other order with an end that an event has put off.
    func extends(_ other: Order) -> Bool {
        guard outlasts(other) else { return false }
        var extended = other
        extended.until = until
        return self == extended
    }

    /// Returns true if it ends so much later that the difference must be on the topic. An event that is read again, or by another
    /// process, recalls for a little longer each time.
    func outlasts(_ other: Order) -> Bool {
        guard let until, let end = other.until else { return until == nil && other.until != nil }
        return until - end > .seconds(3_600)
    }
}

/// A change of the orders in force.
public enum OrderChange: Sendable, Hashable {
    case stands(Order)
    /// The order of this scope was lifted or has lapsed.
    case lifted(ControlScope)

    public var scope: ControlScope {
        switch self {
        case .stands(let order): order.scope
        case .lifted(let scope): scope
        }
    }
}

/// The effect of an order in one process, summed over its shards.
public struct AppliedOrder: Sendable, Hashable {
    /// The order's id, or the key of the scope of a lifted order.
    public var order: String
    /// Number of waiting deliveries. A recall ends them; a stop delays them.
    public var waiting: Int
    /// Number of requests that were in flight when the order arrived. They cannot be stopped. For a recall, this includes requests
    /// that the hub may have accepted and whose result is not on the results topic yet.
    public var inFlight: Int
    /// Number of events of a recalled story on the held topic, which end too: at most one for each language and
    /// group of single readers. Every shard and process knows all held events.
    public var held: Int

    public init(order: String, waiting: Int = 0, inFlight: Int = 0, held: Int = 0) {
        self.order = order
        self.waiting = waiting
        self.inFlight = inFlight
        self.held = held
    }

    /// Adds another shard's or process's effect. Waiting deliveries belong to one shard, so they are summed. Held events are
    /// known to all, so the highest number counts.
    mutating func add(_ other: AppliedOrder) {
        waiting = waiting.addingReportingOverflow(other.waiting).partialValue
        inFlight = inFlight.addingReportingOverflow(other.inFlight).partialValue
        held = max(held, other.held)
    }
}

public struct EventRecall: Sendable, Hashable {
    public var story: String
    public var eventID: String
    public var source: ResultRecord.Source
    /// The record's timestamp, by the clock of its writer; `nil` if absent.
    public var at: Instant?
    /// True if the most urgent lane read the event. Recalls of other lanes, such as a backfill, leave half of the room to it.
    public var isOfFirstLane = true
    /// Id of the resulting order. It is the same in every process that reads the event.
    public var orderID: String { Self.orderPrefix + "\(source)" }

    static let orderPrefix = "event "

    public init(story: String, eventID: String, source: ResultRecord.Source, at: Instant?) {
        self.story = story
        self.eventID = eventID
        self.source = source
        self.at = at
    }
}
