internal import HeapModule

/// Subjects with due times, earliest first; equal times in the order of insertion.
package struct TimerHeap<Subject: Sendable>: Sendable {
    private var timers: Heap<Timer> = []
    private var count: UInt64 = 0

    package init() {}

    private struct Timer: Sendable, Comparable {
        var at: Instant
        var order: UInt64
        var subject: Subject

        static func < (lhs: Timer, rhs: Timer) -> Bool { (lhs.at, lhs.order) < (rhs.at, rhs.order) }
        static func == (lhs: Timer, rhs: Timer) -> Bool { lhs.order == rhs.order }
    }

    package var next: Instant? { timers.min?.at }
    package var size: Int { timers.count }

    package mutating func add(_ subject: Subject, at: Instant) {
        timers.insert(Timer(at: at, order: count, subject: subject))
        count &+= 1
    }

    /// Removes the first subject that is due at `now`.
    package mutating func take(at now: Instant) -> Subject? {
        guard let next, next <= now else { return nil }
        return timers.popMin()?.subject
    }
}
