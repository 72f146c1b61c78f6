public import NewsModel

/// The audit topic, read to its end: who did what, applied where and when. Bounded: of more lines, the oldest are let go.
public struct AuditTrail: Sendable, Hashable {
    public struct Line: Sendable, Hashable {
        public var entry: AuditEntry
        /// The order was announced here, but no process has applied it and it does not stand: whoever gave it was cut off
        /// before it reached the control topic, or it was taken back before any process ran.
        public var cameToNothing: Bool
    }

    private let capacity: Int
    private var entries: [AuditEntry] = []
    /// Lines that were let go.
    public private(set) var dropped = 0

    /// - Parameter capacity: the most lines that are kept; in between, twice as many.
    public init(capacity: Int = 100_000) { self.capacity = max(capacity, 1) }

    public mutating func take(_ entry: AuditEntry) {
        entries.append(entry)
        guard entries.count >= 2 * capacity else { return }
        dropped += entries.count - capacity
        entries.removeFirst(entries.count - capacity)
    }

    /// The lines by their times, each with its number on the topic. What happened first is decided by these numbers: the times
    /// are those of several clocks.
    private var inOrder: [(offset: Int, element: AuditEntry)] {
        entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
    }

    /// The processes that have applied each order, by the order's id.
    public var confirmations: [String: Set<String>] {
        entries.reduce(into: [:]) { confirmations, entry in
            guard !entry.action.isEnd, let order = entry.order, let replica = entry.replica else { return }
            confirmations[order, default: []].insert(replica)
        }
    }

    /// All lines, the oldest first.
    ///
    /// - Parameter view: the control topic, read after the audit topic.
    public func lines(_ view: ControlView, at wall: Instant) -> [Line] {
        let applied = Set(entries.compactMap { $0.replica == nil ? nil : $0.order })
        // The last end that was applied, by scope: it says nothing about those after it.
        var ends: [String: Int] = [:]
        var announced: [String: Int] = [:]
        for (number, entry) in entries.enumerated() {
            if entry.replica != nil, entry.action.isEnd { ends[entry.scope] = number }
            if entry.replica == nil, let order = entry.order { announced[order] = number }
        }
        return inOrder.map { number, entry in
            guard entry.replica == nil, ControlScope(key: entry.scope) != nil, entry.action != .lapse,
                wall - entry.at > Self.settlingTime
            else {
                return Line(entry: entry, cameToNothing: false)
            }
            let standing = ControlScope(key: entry.scope).flatMap { view.orders[$0] }
            let isOver = standing.map { announced[$0.id].map { $0 > number } ?? ($0.at >= entry.at) } ?? true
            let hasEffect =
                entry.action.isEnd
                ? isOver || ends[entry.scope].map { $0 >= number } ?? false
                : entry.order.map { applied.contains($0) || standing?.id == $0 } ?? true
            return Line(entry: entry, cameToNothing: !hasEffect)
        }
    }

    /// The last orders, the newest first, each with what its processes have answered.
    public func recent(_ count: Int, _ view: ControlView, at wall: Instant) -> [Recent] {
        let numbers = inOrder.map(\.offset)
        let orders = zip(numbers, lines(view, at: wall)).filter { $1.entry.replica == nil }.suffix(count)
        return orders.reversed().map { number, line in
            let answers = entries[number...].filter { answer in
                answer.replica != nil && answer.scope == line.entry.scope && answer.action == line.entry.action
                    && (line.entry.action.isEnd || answer.order == line.entry.order)
            }
            var recent = Recent(line: line, processes: 0, met: AppliedOrder(order: line.entry.order ?? ""))
            var seen: Set<String> = []
            for answer in answers where seen.insert(answer.replica ?? "").inserted {
                recent.processes += 1
                if let applied = answer.applied { recent.met.add(applied) }
            }
            return recent
        }
    }

    public struct Recent: Sendable, Hashable {
        public var line: Line
        /// That have applied it.
        public var processes: Int
        public var met: AppliedOrder
    }

    /// From the announcement of an order to its place on the control topic.
    private static let settlingTime = Duration.seconds(15)
}

extension AuditEntry.Action {
    /// An order no longer stands because of it.
    public var isEnd: Bool {
        switch self {
        case .recall, .stop, .send: false
        case .lift, .resume, .lapse: true
        }
    }
}
