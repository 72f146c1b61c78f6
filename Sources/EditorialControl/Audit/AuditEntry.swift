public import NewsModel

/// One line of the audit topic: an order was given or lifted, a process has applied it, or a person has sent a notification.
public struct AuditEntry: Sendable, Hashable {
    public var at: Instant
    /// The key of the order's scope; for a notification `send/` and its event's id.
    public var scope: String
    public var action: Action
    /// The order's id; for a notification its event's.
    public var order: String?
    public var by: String?
    public var reason: String?
    /// The order about the same that stood when this line was written: it loses its place, or ends.
    public var former: FormerOrder?
    /// What readers were to see: a notification, or what takes a recalled story's place on the phones.
    public var text: String?
    /// The keys of the orders that were in force against a notification, and that the person who sent it overrode.
    public var despite: [String] = []
    /// The process that applied it; `nil` for the giving of an order.
    public var replica: String?
    public var applied: AppliedOrder?

    /// What was done; the value of `do`.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        case recall, stop
        /// A recall was lifted, or a stop ended.
        case lift, resume
        /// An order lapsed by itself.
        case lapse
        /// A notification was sent past Kafka, by `newswire send`.
        case send
    }

    /// The line about a notification, which is written before it is sent.
    ///
    /// - Parameter despite: the orders against it.
    public static func send(
        _ event: NewsEvent, at time: Instant, by: String, reason: String?, despite: [Order]
    ) -> AuditEntry {
        var entry = AuditEntry(
            at: time, scope: sendPrefix + event.id, action: .send, order: event.id, by: by, reason: reason)
        entry.text = event.headline
        entry.despite = despite.map(\.scope.key)
        return entry
    }

    package static let sendPrefix = "send/"

    public init(
        at: Instant, scope: String, action: Action, order: String? = nil, by: String? = nil, reason: String? = nil,
        former: FormerOrder? = nil, replica: String? = nil, applied: AppliedOrder? = nil
    ) {
        self.at = at
        self.scope = scope
        self.action = action
        self.order = order
        self.by = by
        self.reason = reason
        self.former = former
        self.replica = replica
        self.applied = applied
    }
}

/// An order that has lost its place to a newer one about the same, or was ended.
public struct FormerOrder: Sendable, Hashable {
    public var id: String
    public var at: Instant
    public var by: String
    public var reason: String?

    public init(id: String, at: Instant, by: String, reason: String? = nil) {
        self.id = id
        self.at = at
        self.by = by
        self.reason = reason
    }

    public init(_ order: Order) {
        self.init(id: order.id, at: order.at, by: order.by, reason: order.reason)
    }
}
