internal import HeapModule

/// Subjects with due times, earliest first; equal times in the order of insertion.
package struct TimerHeap<Subject: Sendable>: Sendable {
    private var timers: Heap<Timer> = []
    private var subjects: [Subject?] = []
    private var freeSlots: [Int] = []
    private var count: UInt64 = 0

    package init() {}

    package var next: Instant? { timers.min?.at }
    package var size: Int { timers.count }

    package mutating func add(_ subject: Subject, at: Instant) {
        let slot = freeSlots.popLast() ?? subjects.count
        if slot == subjects.count { subjects.append(subject) } else { subjects[slot] = subject }
        timers.insert(Timer(at: at, order: count, slot: slot))
        count &+= 1
    }

    /// Removes the first subject that is due at `now`.
    package mutating func take(at now: Instant) -> Subject? {
        guard let first = timers.min, first.at <= now else { return nil }
        timers.removeMin()
        freeSlots.append(first.slot)
        return subjects[first.slot].take()
    }
}

/// A due time and the place of its subject. The heap moves these instead of the subjects, which may be large.
private struct Timer: Sendable, Comparable {
    var at: Instant
    var order: UInt64
    var slot: Int

    static func < (lhs: Timer, rhs: Timer) -> Bool { (lhs.at, lhs.order) < (rhs.at, rhs.order) }
}
