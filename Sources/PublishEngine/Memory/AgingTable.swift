import DequeModule
import KafkaModel

/// A bounded table by fingerprint that forgets the entry that has not been set for longest.
struct AgingTable<Value: Sendable>: Sendable {
    private let capacity: Int
    private var entries: [Fingerprint: Entry] = [:]
    /// The keys in the order in which they were set, numbered from `first`. A key that was removed or set again leaves a place
    /// whose number is no longer that of its entry.
    private var order: Deque<Fingerprint> = []
    private var first: UInt32 = 0

    private struct Entry: Sendable {
        var value: Value
        var number: UInt32
    }

    init(capacity: Int) { self.capacity = max(capacity, 0) }

    var isEmpty: Bool { entries.isEmpty }

    subscript(key: Fingerprint) -> Value? { entries[key]?.value }

    func contains(_ key: Fingerprint) -> Bool { entries[key] != nil }

    /// Enters a key. One that is there keeps its value and its age.
    ///
    /// - Returns: `false` if the key is there. A table without capacity remembers nothing, and returns `true`.
    mutating func insert(_ value: Value, for key: Fingerprint) -> Bool {
        guard capacity > 0 else { return true }
        // A new key needs one access this way, and nearly all keys are new.
        if let former = entries.updateValue(Entry(value: value, number: next), forKey: key) {
            entries[key] = former
            return false
        }
        append(key)
        return true
    }

    /// Sets the value of a key, which becomes the freshest one.
    ///
    /// - Returns: the key that was forgotten for it.
    @discardableResult
    mutating func set(_ value: Value, for key: Fingerprint) -> Fingerprint? {
        guard capacity > 0 else { return nil }
        entries[key] = Entry(value: value, number: next)
        return append(key)
    }

    mutating func remove(_ key: Fingerprint) { entries[key] = nil }

    /// The keys of the values that satisfy the condition, in no particular order.
    func keys(where isWanted: (Value) -> Bool) -> [Fingerprint] {
        entries.compactMap { isWanted($0.value.value) ? $0.key : nil }
    }

    private var next: UInt32 { first &+ UInt32(truncatingIfNeeded: order.count) }

    /// - Returns: the key that was forgotten.
    @discardableResult
    private mutating func append(_ key: Fingerprint) -> Fingerprint? {
        order.append(key)
        var forgotten: Fingerprint?
        while entries.count > capacity, let oldest = order.popFirst() {
            if entries[oldest]?.number == first {
                entries[oldest] = nil
                forgotten = oldest
            }
            first &+= 1
        }
        if order.count > 2 * capacity { compact() }
        return forgotten
    }

    /// Removes the places that no entry has.
    private mutating func compact() {
        var kept: Deque<Fingerprint> = []
        kept.reserveCapacity(entries.count)
        var number = first
        for key in order {
            if entries[key]?.number == number {
                entries[key]?.number = first &+ UInt32(truncatingIfNeeded: kept.count)
                kept.append(key)
            }
            number &+= 1
        }
        order = kept
    }
}

extension AgingTable<Void> {
    mutating func insert(_ key: Fingerprint) -> Bool { insert((), for: key) }
}
