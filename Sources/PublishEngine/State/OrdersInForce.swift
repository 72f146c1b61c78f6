import EditorialControl
import NewsModel

/// Editors' orders as an engine applies them. Without orders a check costs one or two comparisons.
struct OrdersInForce: Sendable {
    private(set) var standing = StandingOrders()
    /// Recalls by events whose orders are not on the control topic, or not yet.
    private(set) var given = RecalledStories()
    /// The effect of such a recall here, by story, under the id of its future order. Kept until that order comes.
    private var met: [String: AppliedOrder] = [:]
    /// True once a recall may be in force; otherwise no lookup is needed.
    private var hasRecalls = false
    /// The start of the present time without known orders, by the monotonic clock; `nil` if they are known.
    private(set) var unknownSince: Instant?
    /// True if a control topic keeps recalls beyond the life of the process.
    var areRecallsKept: Bool
    private(set) var isHubStopped = false
    private(set) var content = ContentGates()
    /// The ids of recalls that were lifted or replaced. What was written to replace their stories must not be sent any more.
    private var endedRecalls = RecalledStories()

    /// - Parameter isAwaited: the orders are not known yet.
    init(isAwaited: Bool) {
        unknownSince = isAwaited ? .distantPast : nil
        areRecallsKept = isAwaited
    }

    /// Nothing at all may leave.
    var stopsAll: Bool { isHubStopped || unknownSince != nil }

    mutating func know(_ isKnown: Bool, at now: Instant) {
        if isKnown { unknownSince = nil } else if unknownSince == nil { unknownSince = now }
    }

    /// Starts the wait for orders when dispatch first meets it.
    mutating func noteWait(at now: Instant) { if unknownSince == .distantPast { unknownSince = now } }

    // MARK: Recalls

    /// - Parameter story: the order key.
    func isRecalled(_ story: String) -> Bool {
        hasRecalls && (standing.isRecalled(story) || given.contains(story))
    }

    /// The order that recalls a story; `nil` without one, even if an event gave the recall.
    func recall(of story: String) -> Order? { standing[.recall(story: story)] }

    /// The id of that order, or the future id of the order of an event's recall.
    func recallID(of story: String) -> String? { recall(of: story)?.id ?? met[story]?.order }

    /// Records a recall by an event. If an order is in force, it is not stored: it ends with the order.
    ///
    /// - Returns: `false` if an event has recalled it before, so no one needs to be notified.
    mutating func recall(_ story: String) -> Bool {
        hasRecalls = true
        return standing.isRecalled(story) || given.insert(story)
    }

    /// Records the effect of a recall by an event, until its order is in force and requests it.
    mutating func note(_ applied: AppliedOrder, of story: String) {
        guard standing[.recall(story: story)] == nil, met[story] != nil || met.count < Self.metMax else { return }
        met[story] = applied
    }

    mutating func takeMet(_ story: String) -> AppliedOrder? { met.isEmpty ? nil : met.removeValue(forKey: story) }

    /// Beyond this number, orders by events report only their own effects.
    private static let metMax = 1_000

    // MARK: Changes

    /// Applies the standing stops to categories that have other names now.
    mutating func follow(_ table: CategoryTable) { content = ContentGates(standing.stopped, table) }

    /// Returns true if the record was written for a recall that was lifted or replaced.
    func hasEndedRecall(of record: SourceRecord) -> Bool {
        !endedRecalls.isEmpty && record.text(of: HeaderName.replacement).map(endedRecalls.contains) ?? false
    }

    /// - Parameter table: the categories with their present names.
    mutating func apply(_ change: OrderChange, _ table: CategoryTable) {
        let former = standing[change.scope]?.id
        standing.apply(change)
        switch change.scope {
        case .recall(let story):
            hasRecalls = true
            if let former, standing[change.scope]?.id != former { _ = endedRecalls.insert(former) }
            // From now on the order decides how long the recall lasts.
            if standing.isRecalled(story) || change == .lifted(.recall(story: story)) { given.remove(story) }
        case .stop:
            let gates = standing.stopped
            isHubStopped = gates.contains(.hub)
            content = ContentGates(gates, table)
        }
    }

    func isStopped(lane: String) -> Bool { standing[.stop(.lane(lane))] != nil }
}

/// The gates that stop news by its content: its categories, interests, feed or run.
///
/// An event of several categories or interests is stopped if any of them is. It is a single notification, so sending it to the
/// others would show an alert that an editor has stopped.
struct ContentGates: Sendable {
    private var categories: Set<String> = []
    private var interests: Set<String> = []
    private var feeds: Set<String> = []
    private var runs: Set<String> = []
    private(set) var isEmpty = true

    init() {}

    /// - Parameter table: the categories. A stop also holds for the category that has its name as an alias or as its tag, because the
    ///   category may have been renamed since.
    init(_ gates: [Gate], _ table: CategoryTable) {
        for gate in gates {
            switch gate {
            case .hub, .lane: break
            case .category(let name):
                let folded = CategoryTable.fold(name)
                categories.insert(folded)
                if let index = table.index(named: name) { stop(table.categories[index]) }
                for category in table.categories where CategoryTable.fold(category.tag) == folded { stop(category) }
            case .interest(let name): interests.insert(CategoryTable.fold(name))
            case .feed(let name): feeds.insert(name)
            case .run(let id): runs.insert(id)
            }
        }
        isEmpty = categories.isEmpty && interests.isEmpty && feeds.isEmpty && runs.isEmpty
    }

    /// Stops a category under all its names, because records that were read before it was renamed keep the former one.
    private mutating func stop(_ category: CategoryTable.Category) {
        for name in category.allNames { categories.insert(CategoryTable.fold(name)) }
    }

    /// The gate that stops a record; `nil` if it may pass.
    func gate(for content: ExaminedRecord) -> Gate? {
        guard !isEmpty else { return nil }
        if !feeds.isEmpty, let feed = content.record.text(of: HeaderName.feed), feeds.contains(feed) {
            return .feed(feed)
        }
        if !runs.isEmpty, let run = content.record.text(of: HeaderName.run), runs.contains(run) { return .run(run) }
        guard !categories.isEmpty || !interests.isEmpty, let routing = content.routed?.routing else { return nil }
        if !interests.isEmpty,
            let stopped = routing.interests.first(where: { interests.contains(CategoryTable.fold($0)) })
        {
            return .interest(stopped)
        }
        return routing.categories.first { categories.contains(CategoryTable.fold($0)) }.map(Gate.category)
    }
}

extension SourceRecord {
    /// The text of the last header of a name; `nil` without one.
    func text(of name: String) -> String? {
        headers.isEmpty ? nil : headers.last { $0.name == name }?.text
    }
}
