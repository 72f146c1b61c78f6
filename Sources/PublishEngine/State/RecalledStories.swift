import DequeModule
import KafkaModel

/// Order keys of stories that events have recalled; their later events do not leave. Without an order on the control
/// topic a recall lasts as long as the process. Beyond `capacity` the oldest is forgotten.
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

    /// Removes a story. Its place in the order ages out.
    mutating func remove(_ story: String) { if !known.isEmpty { known.remove(Fingerprint(of: story).value) } }

    var isEmpty: Bool { known.isEmpty }

    func contains(_ story: String) -> Bool { !known.isEmpty && known.contains(Fingerprint(of: story).value) }
}

extension Fingerprint {
    /// The fingerprint of a single text.
    package init(of text: String) {
        self.init()
        mix(text)
    }
}
