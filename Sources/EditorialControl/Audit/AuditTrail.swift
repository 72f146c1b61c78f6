public import NewsModel

/// The audit topic, read to its end: who did what, which processes applied it, and when. Bounded: drops the oldest lines.
public struct AuditTrail: Sendable, Hashable {
    public struct Line: Sendable, Hashable {
        public var entry: AuditEntry
        /// True if no process has applied the announced order and it is not in force. Its sender was cut off before writing to
        /// the control topic, or the order was lifted before any process ran.
        public var cameToNothing: Bool
    }

    private let capacity: Int
    private let since: Instant?
    /// Announcements older than `since`, by the name that their answers use.
    private var older: [String: AuditEntry] = [:]
    private var entries: [AuditEntry] = []
    /// Number of lines dropped to stay within the capacity.
    public private(set) var dropped = 0

    /// - Parameters:
    ///   - capacity: the number of lines kept. Up to twice as many are buffered before the oldest are dropped.
    ///   - since: earlier lines are omitted.
    public init(capacity: Int = 100_000, since: Instant? = nil) {
        self.capacity = max(capacity, 1)
        self.since = since
    }

    /// Receives the next line of the topic.
    ///
    /// A line is as recent as the later of its own time and that of its record, because its writer's clock may be behind. An order
    /// is also as recent as the first answer to it.
    ///
    /// - Parameter time: the timestamp of the line's record.
    public mutating func apply(_ entry: AuditEntry, writtenAt time: Instant? = nil) {
        guard let since else { return append(entry) }
        let name = entry.answerName
        guard max(entry.at, time ?? entry.at) >= since else {
            if let name, entry.replica == nil, older.count < capacity { older[name] = entry }
            return
        }
        if let announcement = name.flatMap({ older.removeValue(forKey: $0) }), entry.applied != nil {
            append(announcement)
        }
        append(entry)
    }

    private mutating func append(_ entry: AuditEntry) {
        entries.append(entry)
        guard entries.count >= 2 * capacity else { return }
        dropped += entries.count - capacity
        entries.removeFirst(entries.count - capacity)
    }

    /// The lines sorted by time, each with its number on the topic. The numbers decide which line came first, because the times
    /// come from several clocks.
    private var inOrder: [(offset: Int, element: AuditEntry)] {
        entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
    }

    /// Names of the processes that have applied each order, by the order's id.
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
        // The last applied end of each scope. It proves nothing about later ends.
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

    /// Returns the last `count` orders, the newest first, each with the answers of its processes.
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
        /// Number of processes that have applied the order.
        public var processes: Int
        public var met: AppliedOrder
    }

    /// Longest time from an order's announcement to its record on the control topic.
    private static let settlingTime = Duration.seconds(15)
}

extension AuditEntry {
    /// The name that an announcement and its answers share: the order's id or, for an end, the scope; `nil` if it has no answers.
    fileprivate var answerName: String? {
        switch action {
        case .send, .release, .redrive: nil
        case .recall, .stop, .start: order
        case .lift, .resume, .lapse: scope
        }
    }
}

extension AuditEntry.Action {
    /// True if the action ends an order.
    public var isEnd: Bool {
        switch self {
        case .recall, .stop, .send, .release, .redrive, .start: false
        case .lift, .resume, .lapse: true
        }
    }
}
