import DequeModule
import KafkaModel

/// Stories that events have recalled, by their order keys: later events of them do not leave. Without an order on the control
/// topic that lasts as long as the process, and is bounded: beyond `capacity` the oldest is forgotten.
struct RecalledStories: Sendable {
    static let capacity = 10_000
    private var known: Set<UInt64> = []
    private var order: Deque<UInt64> = []

    /// - Returns: `false` if it was recalled before.
    mutating func insert(_ story: String) -> Bool {
        let key = Fingerprint(of: story).value
        guard known.insert(key).inserted else { return false }
        order.append(key)
        if order.count > Self.capacity, let oldest = order.popFirst() { known.remove(oldest) }
        return true
    }

    /// (Its place in the order ages out by itself.)
    mutating func remove(_ story: String) { if !known.isEmpty { known.remove(Fingerprint(of: story).value) } }

    func contains(_ story: String) -> Bool { !known.isEmpty && known.contains(Fingerprint(of: story).value) }
}

extension Fingerprint {
    /// Of one text alone.
    package init(of text: String) {
        self.init()
        mix(text)
    }
}
