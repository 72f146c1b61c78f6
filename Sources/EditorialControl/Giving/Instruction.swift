public import NewsModel

/// What somebody orders, before it stands: a recall or a stop, or the end of one.
public struct Instruction: Sendable, Hashable {
    /// Names it on both topics; unique.
    public var id: String
    public var scope: ControlScope
    /// It ends what stands, rather than giving an order that stands.
    public var lifts: Bool
    public var at: Instant
    /// Who says to give it: a claim.
    public var by: String
    public var reason: String?
    /// The text that takes the place of a recalled story on the phones.
    public var replacement: String?
    /// The latest time on a beat of a live process; a recall lasts from then on if the clock of whoever gives it is behind.
    public var processTime: Instant?

    public init(
        id: String, scope: ControlScope, lifts: Bool = false, at: Instant, by: String, reason: String? = nil,
        replacement: String? = nil
    ) {
        self.id = id
        self.scope = scope
        self.lifts = lifts
        self.at = at
        self.by = by
        self.reason = reason
        self.replacement = replacement
    }

    public var action: AuditEntry.Action { lifts ? scope.ended : scope.given }

    /// What then stands; `nil` for the end of an order.
    public var order: Order? {
        if lifts { return nil }
        let until: Instant? = if case .recall = scope { max(at, processTime ?? at) + Order.recallLasts } else { nil }
        return Order(id: id, scope: scope, at: at, by: by, reason: reason, until: until, replacement: replacement)
    }

    /// Its line on the audit topic, which is written before the order itself.
    ///
    /// - Parameter former: what stands about the same.
    public func auditEntry(inPlaceOf former: Order? = nil) -> AuditEntry {
        var entry = AuditEntry(
            at: at, scope: scope.key, action: action, order: id, by: by, reason: reason,
            former: former.map { FormerOrder($0) })
        entry.text = replacement
        return entry
    }

    /// Ending the sending of everything, and recalling what readers may have seen, are explained to those who come after.
    public var needsReason: Bool { !lifts && Self.needsReason(scope) && reason?.isEmpty ?? true }

    public static func needsReason(_ scope: ControlScope) -> Bool {
        switch scope {
        case .recall, .stop(.hub): true
        case .stop: false
        }
    }

    /// Limits in bytes of UTF-8. A name of a gate has that of a story.
    public static let storyMax = EventLimits.story
    public static let byMax = TextLimit.name
    public static let reasonMax = TextLimit.reason
    public static let replacementMax = TextLimit.replacement
}
