/// Results on their way to the pool's owner, who gets all that came in one turn of the event loop together.
struct PoolResults {
    private var found: [SettledRequest] = []
    private var handOver = HandOver.none

    private enum HandOver {
        case none
        /// Next is `underWay`.
        case due
        /// The owner is being called. Next is `none`, or `due` when more results were found meanwhile.
        case underWay
    }

    var areHandedOver: Bool { if case .none = handOver { true } else { false } }

    /// - Returns: `true` when a hand-over has to be scheduled.
    mutating func add(_ settled: consuming SettledRequest) -> Bool {
        found.append(consume settled)
        guard areHandedOver else { return false }
        handOver = .due
        return true
    }

    mutating func take() -> [SettledRequest] {
        handOver = .underWay
        return exchange(&found, with: [])
    }

    /// - Returns: as `add`.
    mutating func finishHandOver() -> Bool {
        handOver = found.isEmpty ? .none : .due
        return !found.isEmpty
    }
}
