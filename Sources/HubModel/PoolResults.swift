internal import NotificationHub

/// Results for the pool's owner, who receives all results of one turn of the event loop together.
struct PoolResults {
    private var found: [SettledRequest] = []
    private var handOver = HandOver.none

    private enum HandOver {
        case none
        /// A hand-over is scheduled. Followed by `underWay`.
        case due
        /// The owner is being called. Followed by `none`, or by `due` if more results were added during the call.
        case underWay
    }

    var areHandedOver: Bool { if case .none = handOver { true } else { false } }

    /// - Returns: `true` if the caller has to schedule a hand-over.
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

    /// - Returns: `true` if the caller has to schedule another hand-over.
    mutating func finishHandOver() -> Bool {
        handOver = found.isEmpty ? .none : .due
        return !found.isEmpty
    }
}
