public import NewsModel

/// One line of the audit topic: an order was given, lifted or refused, or a process has applied it.
public struct AuditEntry: Sendable, Hashable {
    public var at: Instant
    /// The key of the scope.
    public var scope: String
    public var action: Action
    /// The order's id.
    public var order: String?
    public var by: String?
    public var reason: String?
    /// The order about the same that stood when this one was given, and whose place it takes.
    public var former: FormerOrder?
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
    }

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

/// An order that has lost its place to a newer one about the same.
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
