/// Subjects with due times, earliest first; equal times in the order of insertion.
public struct TimerHeap<Subject: Sendable & Hashable>: Sendable, Hashable {
    @usableFromInline var heap: [Timer] = []
    @usableFromInline var count: UInt64 = 0

    @inlinable
    public init() {}

    @usableFromInline
    struct Timer: Sendable, Hashable {
        @usableFromInline var at: Instant
        @usableFromInline var order: UInt64
        @usableFromInline var subject: Subject

        @inlinable
        init(at: Instant, order: UInt64, subject: Subject) {
            self.at = at
            self.order = order
            self.subject = subject
        }

        @inlinable
        func isBefore(_ other: Timer) -> Bool { (at, order) < (other.at, other.order) }
    }

    @inlinable
    public var next: Instant? { heap.first?.at }
    @inlinable
    public var size: Int { heap.count }

    @inlinable
    public mutating func add(_ subject: Subject, at: Instant) {
        heap.append(Timer(at: at, order: count, subject: subject))
        count &+= 1
        var index = heap.count - 1
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes the first subject that is due at `now`.
    @inlinable
    public mutating func take(at now: Instant) -> Subject? {
        guard let first = heap.first, first.at <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            let left = index * 2 + 1
            guard left < heap.count else { break }
            let right = left + 1
            let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
            guard heap[child].isBefore(heap[index]) else { break }
            heap.swapAt(index, child)
            index = child
        }
        return first.subject
    }
}
