import HeapModule
import NewsModel

/// The pending occurrences, by time. Occurrences of the same instant happen in the order in which they were added.
struct Agenda<Occurrence> {
    private var entries: Heap<Entry> = []
    private var count: UInt64 = 0

    private struct Entry: Comparable {
        var at: Instant
        var order: UInt64
        var occurrence: Occurrence

        static func < (lhs: Entry, rhs: Entry) -> Bool { (lhs.at, lhs.order) < (rhs.at, rhs.order) }
        static func == (lhs: Entry, rhs: Entry) -> Bool { lhs.order == rhs.order }
    }

    mutating func add(_ occurrence: Occurrence, at: Instant) {
        entries.insert(Entry(at: at, order: count, occurrence: occurrence))
        count += 1
    }

    mutating func next() -> (at: Instant, occurrence: Occurrence)? {
        entries.popMin().map { ($0.at, $0.occurrence) }
    }
}
