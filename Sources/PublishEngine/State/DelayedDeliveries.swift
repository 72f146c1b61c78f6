import HeapModule
import KafkaModel
import NewsModel

/// A lane's deliveries that wait for a time or before a gate. Entries of ended deliveries may remain.
struct DelayedDeliveries: Sendable {
    /// Retries, by the monotonic clock.
    private var retries: Heap<Entry> = []
    /// Deliveries under embargo, by the clock on the wall.
    private var embargoed: Heap<Entry> = []
    /// Deliveries set aside before a gate, by the time when they become too old. They continue in the order of their
    /// arrival.
    private var stopped: Heap<Entry> = []
    private var entered: UInt64 = 0

    struct Entry: Sendable, Comparable {
        /// The time of the next check.
        var until: Instant
        /// A retry does not leave before this time; at an earlier check it can only end.
        var notBefore: Instant
        var order: UInt64
        var id: DeliveryID

        static func < (lhs: Entry, rhs: Entry) -> Bool { (lhs.until, lhs.order) < (rhs.until, rhs.order) }
        static func == (lhs: Entry, rhs: Entry) -> Bool { lhs.order == rhs.order }
    }

    var count: Int { retries.count + embargoed.count + stopped.count }
    var retryCount: Int { retries.count }
    /// The time of the next check of a retry.
    var nextRetry: Instant? { retries.min?.until }
    var hasEmbargoes: Bool { !embargoed.isEmpty }
    /// The end of the first embargo, by the wall clock.
    var firstEmbargo: Instant? { embargoed.min?.until }
    /// The deliveries under embargo, in no particular order.
    var underEmbargo: [DeliveryID] { embargoed.unordered.map(\.id) }
    /// The deliveries set aside before a gate, in no particular order.
    var beforeGates: [DeliveryID] { stopped.unordered.map(\.id) }

    /// - Parameter until: the time of the next check, at most `notBefore`; both by the monotonic clock.
    mutating func retry(_ id: DeliveryID, notBefore: Instant, until: Instant) {
        retries.insert(entry(id, until: until, notBefore: notBefore))
    }

    /// - Parameter until: the end by the wall clock.
    mutating func embargo(_ id: DeliveryID, until: Instant) { embargoed.insert(entry(id, until: until)) }

    /// - Parameter until: the time when it becomes too old, by the monotonic clock.
    mutating func stop(_ id: DeliveryID, until: Instant) { stopped.insert(entry(id, until: until)) }

    private mutating func entry(_ id: DeliveryID, until: Instant, notBefore: Instant = .distantPast) -> Entry {
        defer { entered += 1 }
        return Entry(until: until, notBefore: notBefore, order: entered, id: id)
    }

    /// Removes the next delivery whose time has come.
    mutating func takeDue(at now: Instant, releaseClock: Instant) -> Entry? {
        if let next = retries.min, next.until <= now { return retries.removeMin() }
        if let next = embargoed.min, next.until <= releaseClock { return embargoed.removeMin() }
        if let next = stopped.min, next.until <= now { return stopped.removeMin() }
        return nil
    }

    /// Removes all deliveries before gates, last to first.
    mutating func takeStopped() -> [DeliveryID] {
        defer { stopped = [] }
        return stopped.unordered.sorted { $0.order > $1.order }.map(\.id)
    }

    /// The monotonic time at which the next delivery is due.
    ///
    /// - Parameter release: the monotonic time before which no embargo ends.
    func next(_ clock: WallClock, release: Instant) -> Instant {
        let embargo = firstEmbargo.map { max(clock.steady(ofEmbargo: $0), release) } ?? .distantFuture
        return min(retries.min?.until ?? .distantFuture, embargo, stopped.min?.until ?? .distantFuture)
    }

    /// Removes the entries of ended deliveries.
    mutating func tidy(in partitions: PartitionTable) {
        retries.removeAll { partitions.phase(of: $0.id) != .delayed }
        embargoed.removeAll { partitions.phase(of: $0.id) != .delayed }
        stopped.removeAll { partitions.phase(of: $0.id) != .delayed }
    }
}
