public import NewsModel

/// A recall or a stop, or the end of one, before it takes effect.
public struct Instruction: Sendable, Hashable {
    /// Identifies the instruction on both topics; unique.
    public var id: String
    public var scope: ControlScope
    /// True if it ends an order; false if it gives one.
    public var lifts: Bool
    public var at: Instant
    /// Self-reported name of the person who gives it.
    public var by: String
    public var reason: String?
    /// The text that replaces a recalled story on phones.
    public var replacement: String?
    /// For the end of a category's stop: all names that the configuration has for the category.
    var names: [String] = []
    /// The latest time on a beat of a living process. A recall lasts from this time on if the clock of its sender is behind.
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

    /// Returns the order that this one replaces or ends. A stop may have been given under another spelling of the category, or
    /// under another of its names.
    package func target(among orders: StandingOrders) -> Order? {
        if let order = orders[scope] { return order }
        return lifts ? orders.all.first(where: { closesSameGate($0.scope) }) : nil
    }

    /// Returns true if an order of the other scope stops the same category or interest.
    private func closesSameGate(_ other: ControlScope) -> Bool {
        switch (scope, other) {
        case (.stop(.category(let name)), .stop(.category(let other))):
            ([name] + names).contains { $0.lowercased() == other.lowercased() }
        case (.stop(.interest(let name)), .stop(.interest(let other))): name.lowercased() == other.lowercased()
        default: false
        }
    }

    /// The ends of other stops of the same category or interest, which were given under other names or in another case.
    ///
    /// - Parameter orders: the orders in force.
    package func others(among orders: StandingOrders) -> [Instruction] {
        guard lifts else { return [] }
        let scopes = orders.all.map(\.scope).filter { $0 != scope && closesSameGate($0) }
        return scopes.enumerated().map { number, scope in
            var other = self
            (other.id, other.scope) = ("\(id)-\(number + 2)", scope)
            return other
        }
    }

    public var action: AuditEntry.Action { lifts ? scope.ended : scope.given }

    /// The order that it puts in force; `nil` if it ends an order.
    public var order: Order? {
        if lifts { return nil }
        let until: Instant? = if case .recall = scope { max(at, processTime ?? at) + Order.recallLasts } else { nil }
        return Order(id: id, scope: scope, at: at, by: by, reason: reason, until: until, replacement: replacement)
    }

    /// Makes its line for the audit topic, which is written before the order.
    ///
    /// - Parameter former: the order of the same scope that is in force.
    public func auditEntry(inPlaceOf former: Order? = nil) -> AuditEntry {
        var entry = AuditEntry(
            at: at, scope: scope.key, action: action, order: id, by: by, reason: reason,
            former: former.map { FormerOrder($0) })
        entry.text = replacement
        return entry
    }

    /// True if a required reason is missing. Later readers must understand why the hub was stopped or a story recalled.
    public var needsReason: Bool { !lifts && Self.needsReason(scope) && reason?.isEmpty ?? true }

    public static func needsReason(_ scope: ControlScope) -> Bool {
        switch scope {
        case .recall, .stop(.hub): true
        case .stop: false
        }
    }

    /// Returns true if a name has characters that nobody sees, so that it can look like another person's name. Joiners within words of
    /// the scripts that are written with them, e.g. Persian and Hindi, are no such characters.
    public static func hasInvisible(_ name: String) -> Bool {
        let scalars = Array(name.unicodeScalars)
        return scalars.indices.contains { index in
            let properties = scalars[index].properties
            guard properties.isDefaultIgnorableCodePoint || properties.generalCategory == .control else { return false }
            guard ["\u{200C}", "\u{200D}"].contains(scalars[index]), index > 0, index + 1 < scalars.count else {
                return true
            }
            return !needsJoiners(scalars[index - 1]) || !needsJoiners(scalars[index + 1])
        }
    }

    /// Returns true for letters and marks of the Arabic and Indic blocks.
    private static func needsJoiners(_ scalar: Unicode.Scalar) -> Bool {
        let isOfWord = scalar.properties.isAlphabetic || scalar.properties.canonicalCombiningClass == .virama
        return isOfWord && (0x0600...0x0DFF).contains(scalar.value)
    }

    /// Limits in bytes of UTF-8. The names of gates have the same limit as stories.
    public static let storyMax = EventLimits.story
    public static let byMax = TextLimit.name
    public static let reasonMax = TextLimit.reason
    public static let replacementMax = TextLimit.replacement
}
