import KafkaModel
import NewsModel

// The parts of `ControlState`'s memory. Each part is bounded.

/// This process's beats, and those of the others.
struct Beats: Sendable {
    /// True once one of our beats was read back while it still counted. Then all earlier records were read, and senders of later
    /// orders wait for us. Also true if the process continues without such a beat.
    var isSeen = false
    /// True once one of our beats was read back, at any age.
    private(set) var isOnTopic = false
    var isInFlight = false
    /// Start of the period in which the topic can be read without interruption, by the monotonic clock.
    private var readableSince: Instant?
    private var lastAt: Instant?
    /// The time on our last beat, by the wall clock.
    private var lastWall: Instant?
    /// Time before which a failed beat is not retried.
    private var notBefore: Instant?
    /// True if our last beat carries no time of the log.
    private var isUndated = false
    private(set) var clock = LogClock()
    private var signs = LifeSigns(capacity: 1_000)
    /// Time of the last beat of another process that arrived while the topic was followed, by the monotonic clock. Such a process
    /// lives, whereas a beat read from the beginning may be that of our own former run.
    private var companyAt: Instant?

    private static let forgottenAfter = Duration.seconds(3_600)
    private static let retryAfter = Duration.seconds(1)
    private static let cleaningMax = 20

    func isDue(_ now: Moment) -> Bool {
        guard !isInFlight else { return false }
        if let notBefore { return now.steady >= notBefore }
        // The second beat follows at once, so that a list of the processes soon shows how far this one has read.
        if isUndated, isSeen, clock.time(now) != nil { return true }
        return lastAt.map { now.steady - $0 >= ControlRecord.Beat.interval } ?? true
    }

    mutating func wrote(_ beat: ControlRecord.Beat, _ now: Moment) {
        isInFlight = true
        isUndated = beat.logTime == nil
        (lastAt, lastWall, notBefore) = (now.steady, beat.at, nil)
    }

    /// True if one of our beats is or may be on the topic.
    var isWritten: Bool { lastAt != nil }

    /// Handles one of our beats, read back from the topic.
    ///
    /// - Returns: true if the beat is recent enough to count.
    mutating func saw(_ beat: ControlRecord.Beat, _ now: Moment) -> Bool {
        isOnTopic = true
        guard beat.at == lastWall, let lastAt else { return false }
        return now.steady - lastAt < ControlRecord.Beat.countsFor
    }

    mutating func retry(_ now: Moment) { notBefore = now.steady + Self.retryAfter }

    mutating func canBeHeard(_ now: Moment) { readableSince = readableSince ?? now.steady }
    mutating func cannotBeHeard() { readableSince = nil }

    /// Returns how long the topic could be read without showing our beat.
    func silence(_ now: Moment) -> Duration { readableSince.map { now.steady - $0 } ?? .zero }

    mutating func heard(_ beat: ControlRecord.Beat, _ now: Moment) {
        signs.heard(beat)
        if let time = signs.time { clock.heard(time, now) }
    }

    /// Notes a beat of another process that arrived while the topic was followed.
    mutating func metCompany(_ now: Moment) { companyAt = now.steady }

    /// True if another process was heard recently while the topic was followed, and still counts as living. One that has ended
    /// supports no time.
    func hasCompany(_ now: Moment, besides replica: String?) -> Bool {
        guard let companyAt, now.steady - companyAt <= ControlRecord.Beat.countsFor else { return false }
        return !others(than: replica).isEmpty
    }

    /// Handles the end of a reading of the topic.
    mutating func reachedEnd(_ now: Moment) { clock.begin(now) }

    mutating func ended(_ replica: String) { signs.ended(replica) }

    /// Returns a few processes that were killed and left their beats on the topic. Each is returned once.
    mutating func forgotten() -> [String] {
        let old = signs.silent.filter { $0.since > Self.forgottenAfter }.map(\.beat.replica).prefix(Self.cleaningMax)
        for replica in old { signs.ended(replica) }
        return Array(old)
    }

    /// The last beats of the other processes that count as living.
    func others(than replica: String?) -> [ControlRecord.Beat] { signs.living.filter { $0.replica != replica } }

    /// Number of processes that count as living.
    var living: Int { signs.living.count }

    /// The clock by which orders lapse: see `LifeSigns.lapseClock`.
    func lapseClock(_ wall: Instant, besides replica: String?) -> Instant {
        signs.lapseClock(wall, besides: replica)
    }
}

/// Invalid records on the topic, by their keys. A later valid record or a tombstone of the same key replaces such a record.
/// Bounded: beyond its capacity, further keys are not counted.
struct UnreadableRecords: Sendable, Hashable {
    private var keys: Set<UInt64> = []
    /// The keys of orders of an unknown kind, as `ControlRecord.shown`. Each may be a stop, so nothing is sent while there is one.
    private var unknownKeys: [UInt64: String] = [:]

    private static let capacity = 10_000

    var count: Int { keys.count }
    var hasUnknownOrders: Bool { !unknownKeys.isEmpty }
    var unknownOrders: [String] { unknownKeys.isEmpty ? [] : unknownKeys.values.sorted() }

    mutating func take(_ record: SourceRecord, _ fault: ControlRecord.Fault?) {
        guard fault != nil || !keys.isEmpty || !unknownKeys.isEmpty else { return }
        var key = Fingerprint()
        // Without a key, no later record can replace it.
        if let bytes = record.key { key.mix(bytes) } else { key.mix(UInt64(bitPattern: record.offset)) }
        keys.remove(key.value)
        unknownKeys[key.value] = nil
        switch fault {
        case nil: break
        case .kind?:
            if unknownKeys.count < Self.capacity { unknownKeys[key.value] = ControlRecord.shown(key: record.key ?? []) }
        case _?: if keys.count < Self.capacity { keys.insert(key.value) }
        }
    }
}

/// An order that is in force and missing on the topic.
struct OwedOrder: Sendable {
    var order: Order
    /// The write in flight.
    var write: ControlState.WriteID?
    /// True if the order was read back before its write was answered.
    var isRead = false
    var notBefore: Instant?

    private static let pause = Duration.seconds(5)
    /// Maximum number of recalls by events that are buffered for the topic.
    static let eventsMax = 5_000

    /// True if the topic has lost the order, until it is written again.
    var isLost = false

    init(_ order: Order, isLost: Bool = false) { (self.order, self.isLost) = (order, isLost) }

    func isDue(at now: Instant) -> Bool { write == nil && notBefore.map { $0 <= now } ?? true }

    mutating func retry(at now: Instant) {
        write = nil
        notBefore = now + Self.pause
    }
}

/// Orders that had no room. They take effect as soon as others end. A few are buffered; a new reading of the topic finds dropped
/// orders of editors again. Recalls by events were obeyed where the event was read, so they are not searched for.
struct WaitingOrders: Sendable {
    private var ofEditors = Queue()
    private var ofEvents = Queue()

    private struct Queue: Sendable {
        var orders: [ControlScope: Order] = [:]
        /// Number of further orders that were not buffered.
        var dropped = 0

        static let capacity = 1_000

        var count: Int { orders.count + dropped }

        mutating func add(_ order: Order) {
            if orders[order.scope] != nil || orders.count < Self.capacity {
                orders[order.scope] = order
            } else {
                dropped += 1
            }
        }

        mutating func remove(_ scope: ControlScope, where isEnded: (Order) -> Bool) {
            guard !orders.isEmpty, let order = orders[scope], isEnded(order) else { return }
            orders[scope] = nil
        }

        mutating func next(for standing: StandingOrders) -> Order? {
            guard !orders.isEmpty else { return nil }
            let next = orders.values.filter(standing.hasRoom).min { ($0.at, $0.scope.key) < ($1.at, $1.scope.key) }
            if let next { orders[next.scope] = nil }
            return next
        }
    }

    /// Number of waiting orders of editors.
    var count: Int { ofEditors.count }
    var isEmpty: Bool { ofEditors.orders.isEmpty }
    var dropped: Int { ofEditors.dropped }
    var countOfEvents: UInt64 { UInt64(ofEvents.count) }

    mutating func add(_ order: Order) {
        if order.isOfEvent { ofEvents.add(order) } else { ofEditors.add(order) }
    }

    mutating func remove(_ scope: ControlScope, where isEnded: (Order) -> Bool = { _ in true }) {
        ofEditors.remove(scope, where: isEnded)
        ofEvents.remove(scope, where: isEnded)
    }

    /// Removes and returns the oldest order that fits, editors' orders first.
    mutating func next(for standing: StandingOrders) -> Order? {
        ofEditors.next(for: standing) ?? ofEvents.next(for: standing)
    }
}

/// The last lift of each scope and the order that it lifted. Beyond the capacity, the older half is forgotten.
struct RecentLifts: Sendable {
    private struct Lift {
        var at: Instant
        var order: String?
    }

    private var lifts: [ControlScope: Lift] = [:]

    /// Allowance for differences between writers' clocks. Losing a recall is worse than having to lift it twice.
    private static let slack = Duration.seconds(30)

    /// - Parameter standing: the order in force, unless it came after the lift.
    mutating func note(_ scope: ControlScope, _ standing: Order?, at time: Instant) {
        let known = lifts[scope]
        let order = standing.flatMap { time >= $0.at - Self.slack ? $0.id : nil }
        lifts[scope] = Lift(at: max(time, known?.at ?? time), order: order ?? known?.order)
        guard lifts.count > StandingOrders.capacity else { return }
        let oldest = lifts.sorted { ($0.value.at, $0.key.key) < ($1.value.at, $1.key.key) }.prefix(lifts.count / 2)
        for (scope, _) in oldest { lifts[scope] = nil }
    }

    func time(of scope: ControlScope) -> Instant? { lifts[scope]?.at }

    /// Returns true if this order was lifted, or a lift of its scope came after it.
    func hasLifted(_ order: Order) -> Bool {
        lifts[order.scope].map { $0.order == order.id || $0.at >= order.at + Self.slack } ?? false
    }
}

/// Lapsed orders whose records have not been removed from the topic.
struct LapsedOrders: Sendable {
    private var orders: [ControlScope: Order] = [:]
    private var written: Set<ControlScope> = []

    /// Time for an editor's renewal to reach all processes, so that a tombstone does not remove it.
    private static let grace = Duration.seconds(60)
    /// Number of turns, a second each, among which the processes are spread, so that usually one writes.
    private static let turns: UInt64 = 60
    private static let cleaningMax = 200

    mutating func add(_ order: Order) {
        guard orders[order.scope] != nil || orders.count < StandingOrders.capacity else { return }
        orders[order.scope] = order
    }

    /// - Returns: false if the order was not among them.
    @discardableResult
    mutating func remove(_ scope: ControlScope) -> Bool {
        written.remove(scope)
        return orders.removeValue(forKey: scope) != nil
    }

    mutating func due(at wall: Instant, by replica: String) -> [Order] {
        guard !orders.isEmpty else { return [] }
        var fingerprint = Fingerprint()
        fingerprint.mix(replica)
        let turn = Duration.seconds(Int64(fingerprint.value % Self.turns))
        let due = orders.values.filter { order in
            !written.contains(order.scope) && order.until.map { $0 + Self.grace + turn <= wall } ?? false
        }.sorted { $0.scope.key < $1.scope.key }.prefix(Self.cleaningMax)
        for order in due { written.insert(order.scope) }
        return Array(due)
    }
}

/// Changes that shards have not answered yet, by the name that the shards use for them.
struct PendingAnswers: Sendable {
    private struct Pending: Sendable {
        /// Offset up to which the topic had been read when the shards were told.
        var offset: Int64?
        var entry: AuditEntry
        /// True if the sender of the order waits for the answer.
        var isAwaited: Bool
        var applied: AppliedOrder
        var answered: Set<ShardID> = []
        var shards: Int
    }

    private var pending: [String: [Pending]] = [:]
    private var count = 0

    /// - Parameter offset: the offset up to which the topic has been read.
    mutating func expect(_ entry: AuditEntry, isAwaited: Bool, from shards: Int, readTo offset: Int64?) {
        guard let name = entry.order, count < 2 * StandingOrders.capacity else { return }
        count += 1
        pending[name, default: []].append(
            Pending(
                offset: offset, entry: entry, isAwaited: isAwaited, applied: AppliedOrder(order: name),
                shards: max(shards, 1)))
    }

    /// The lowest offset of the unanswered changes.
    var firstOffset: Int64? { pending.values.joined().compactMap(\.offset).min() }

    /// - Returns: the combined answer of all shards after the last one's, if somebody waits for it.
    mutating func take(_ applied: AppliedOrder, from shard: ShardID, at wall: Instant) -> AuditEntry? {
        guard var list = pending[applied.order],
            let index = list.firstIndex(where: { !$0.answered.contains(shard) })
        else { return nil }
        list[index].answered.insert(shard)
        list[index].applied.add(applied)
        var answer: AuditEntry?
        if list[index].answered.count == list[index].shards {
            let done = list.remove(at: index)
            count -= 1
            if done.isAwaited { answer = done.entry }
            answer?.applied = done.applied
            answer?.at = wall
        }
        pending[applied.order] = list.isEmpty ? nil : list
        return answer
    }
}

/// Writes that the broker has not answered.
struct OpenWrites: Sendable {
    enum Purpose: Sendable, Hashable {
        case beat, end, environment, forgotten, heldTotals, lapse, audit, auditProbe
        case owed(ControlScope)

        var isAudit: Bool { self == .audit || self == .auditProbe }
    }

    private var open: [ControlState.WriteID: Purpose] = [:]
    private var next: UInt64 = 0
    /// The last failure of a write to the control topic, and of one to the audit topic; `nil` after a success.
    private(set) var controlFailure: KafkaFailure?
    private(set) var auditFailure: KafkaFailure?

    private static let capacity = 2 * StandingOrders.capacity

    var isEmpty: Bool { open.isEmpty }

    /// - Returns: `nil` if too many writes are in flight.
    mutating func begin(_ purpose: Purpose) -> ControlState.WriteID? {
        guard open.count < Self.capacity else { return nil }
        next += 1
        open[.init(next)] = purpose
        return .init(next)
    }

    mutating func end(_ id: ControlState.WriteID) -> Purpose? { open.removeValue(forKey: id) }

    /// - Returns: true if the failure's code differs from the last one's.
    mutating func failed(_ purpose: Purpose, _ failure: KafkaFailure) -> Bool {
        let known = purpose.isAudit ? auditFailure : controlFailure
        if purpose.isAudit { auditFailure = failure } else { controlFailure = failure }
        return known?.code != failure.code
    }

    /// - Returns: true for the first success after a failure.
    mutating func succeeded(_ purpose: Purpose) -> Bool {
        let known = purpose.isAudit ? auditFailure : controlFailure
        if purpose.isAudit { auditFailure = nil } else { controlFailure = nil }
        return known != nil
    }
}
