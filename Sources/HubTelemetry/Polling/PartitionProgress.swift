/// The progress in one partition of the results topic.
struct PartitionProgress: Sendable {
    /// The offset after the last received result; `nil` before the first.
    private(set) var next: Int64?
    /// The offset of the first received result.
    private var first: Int64?
    /// The offsets of sends that are still followed.
    private var open: Set<Int64> = []
    /// The offsets in ascending order, from `head` on. The first one is open; later ones may have ended.
    private var order: [Int64] = []
    private var head = 0
    private var committed: Int64?
    /// The partition's end when it was assigned; `nil` if no result came until then.
    private var restoredTo: Int64?
    private var isRestored = false

    /// The lowest open offset: all earlier results are settled. `nil` before the first result.
    var mark: Int64? { head < order.count ? order[head] : next }

    /// The offset to commit; `nil` if it has not changed.
    var due: Int64? {
        guard let mark, let first, mark != committed, committed != nil || mark > first else { return nil }
        return mark
    }

    /// True once the results that existed at the assignment are settled and committed.
    var isCaughtUp: Bool {
        guard isRestored else { return false }
        guard let restoredTo else { return true }
        return committed.map { $0 >= restoredTo } ?? false
    }

    mutating func came(_ offset: Int64) {
        first = first ?? offset
        next = offset < .max ? offset + 1 : .max
    }

    mutating func follow(_ offset: Int64) {
        open.insert(offset)
        order.append(offset)
    }

    mutating func end(_ offset: Int64) {
        open.remove(offset)
        while head < order.count, !open.contains(order[head]) { head += 1 }
        // While one send stays open for long, thousands after it may end.
        guard order.count > 2 * open.count + 1_024 else { return }
        order = order[head...].filter(open.contains)
        head = 0
    }

    mutating func commit(_ offset: Int64) { committed = offset }

    mutating func restore() {
        guard !isRestored else { return }
        (isRestored, restoredTo) = (true, next)
    }
}
