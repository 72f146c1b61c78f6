/// How far one partition of the results topic is dealt with.
struct PartitionProgress: Sendable {
    /// One past the last result that came; `nil` before the first.
    private(set) var next: Int64?
    /// The offset of the first result that came.
    private var first: Int64?
    /// The offsets of sends that are followed.
    private var open: Set<Int64> = []
    /// The same in ascending order, from `head` on; the first is open, others may have ended.
    private var order: [Int64] = []
    private var head = 0
    private var committed: Int64?
    /// Where the partition ended when it was assigned; `nil` if nothing came until then.
    private var restoredTo: Int64?
    private var isRestored = false

    /// Everything before it is dealt with: the lowest offset that is still open. `nil` before the first result.
    var mark: Int64? { head < order.count ? order[head] : next }

    /// The offset to commit, if that says something new.
    var due: Int64? {
        guard let mark, let first, mark != committed, committed != nil || mark > first else { return nil }
        return mark
    }

    /// What stood there at the assignment is dealt with and committed.
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
        // Behind one that stays open for long, thousands may end.
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
