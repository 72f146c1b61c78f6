import ByteText
import EditorialControl
import KafkaModel
import NewsModel

/// Editors' orders as an engine obeys them. While there are none, asking costs a comparison or two.
struct OrdersInForce: Sendable {
    private(set) var standing = StandingOrders()
    /// Recalls that events have given and that do not stand on the control topic, or not yet.
    private(set) var given = RecalledStories()
    /// What such a recall has met here, under the id that its order will have, by the story; until that order comes.
    private var met: [String: AppliedOrder] = [:]
    /// Some recall may be in force: without one, nothing needs to be looked up.
    private var hasRecalls = false
    /// When the orders in force were last unknown, by the monotonic clock; `nil` if they are known.
    private(set) var unknownSince: Instant?
    /// A control topic keeps them beyond the life of the process.
    var areRecallsKept: Bool
    /// The hub is stopped.
    private(set) var isHubStopped = false
    private(set) var content = ContentGates()

    /// - Parameter isAwaited: nothing is known of them yet.
    init(isAwaited: Bool) {
        unknownSince = isAwaited ? .distantPast : nil
        areRecallsKept = isAwaited
    }

    /// Nothing at all may leave.
    var stopsAll: Bool { isHubStopped || unknownSince != nil }

    mutating func know(_ isKnown: Bool, at now: Instant) {
        if isKnown { unknownSince = nil } else if unknownSince == nil { unknownSince = now }
    }

    /// The wait for them begins when something first looks at it.
    mutating func noteWait(at now: Instant) { if unknownSince == .distantPast { unknownSince = now } }

    // MARK: Recalls

    /// - Parameter story: the order key.
    func isRecalled(_ story: String) -> Bool {
        hasRecalls && (standing.isRecalled(story) || given.contains(story))
    }

    /// The order that recalls a story; `nil` if none stands, or an event has given the recall.
    func recall(of story: String) -> Order? { standing[.recall(story: story)] }

    /// The id of that order, or the one that the order of an event's recall is going to have.
    func recallID(of story: String) -> String? { recall(of: story)?.id ?? met[story]?.order }

    /// An event has recalled the story. A recall that stands need not be remembered as well: it ends with its order.
    ///
    /// - Returns: `false` if nobody needs to hear of it, as an event has recalled it before.
    mutating func recall(_ story: String) -> Bool {
        hasRecalls = true
        return standing.isRecalled(story) || given.insert(story)
    }

    /// What a recall by an event has ended so far, until its order is in force and asks for it.
    mutating func note(_ applied: AppliedOrder, of story: String) {
        guard standing[.recall(story: story)] == nil, met[story] != nil || met.count < Self.metMax else { return }
        met[story] = applied
    }

    mutating func takeMet(_ story: String) -> AppliedOrder? { met.isEmpty ? nil : met.removeValue(forKey: story) }

    /// Beyond so many, orders by events count only what they find themselves.
    private static let metMax = 1_000

    // MARK: Changes

    mutating func apply(_ change: OrderChange) {
        standing.apply(change)
        switch change.scope {
        case .recall(let story):
            hasRecalls = true
            // From now on the order decides how long it lasts.
            if standing.isRecalled(story) || change == .lifted(.recall(story: story)) { given.remove(story) }
        case .stop:
            let gates = standing.stopped
            isHubStopped = gates.contains(.hub)
            content = ContentGates(gates)
        }
    }

    func isStopped(lane: String) -> Bool { standing[.stop(.lane(lane))] != nil }
}

/// The gates that stop news by what it is: its categories, its feed, its run.
///
/// An event of several categories is stopped if one of them is: it is a single notification, and to send it to the others would
/// show an alert that an editor wants nobody to see.
struct ContentGates: Sendable {
    private var categories: Set<String> = []
    private var feeds: Set<String> = []
    private var runs: Set<String> = []
    let isEmpty: Bool

    init(_ gates: [Gate] = []) {
        for gate in gates {
            switch gate {
            case .hub, .lane: break
            case .category(let name): categories.insert(CategoryTable.fold(name))
            case .feed(let name): feeds.insert(name)
            case .run(let id): runs.insert(id)
            }
        }
        isEmpty = categories.isEmpty && feeds.isEmpty && runs.isEmpty
    }

    /// The gate that a record stands before; `nil` for none.
    func gate(for content: ExaminedRecord) -> Gate? {
        guard !isEmpty else { return nil }
        if !feeds.isEmpty, let feed = content.record.text(of: HeaderName.feed), feeds.contains(feed) {
            return .feed(feed)
        }
        if !runs.isEmpty, let run = content.record.text(of: HeaderName.run), runs.contains(run) { return .run(run) }
        guard !categories.isEmpty, let routing = content.routed?.routing else { return nil }
        return routing.categories.first { categories.contains(CategoryTable.fold($0)) }.map(Gate.category)
    }
}

extension SourceRecord {
    /// The text of the last header of a name; `nil` without one.
    func text(of name: String) -> String? {
        headers.isEmpty ? nil : headers.last { $0.name == name }?.text
    }
}
