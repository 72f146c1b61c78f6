import DequeModule
import KafkaModel

/// The stories that were recalled, by their order keys: later events of them do not leave. It lasts as long as the process,
/// and is bounded: beyond `capacity` the oldest is forgotten.
struct RecalledStories: Sendable {
    static let capacity = 10_000
    private var known: Set<UInt64> = []
    private var order: Deque<UInt64> = []

    /// `false` if it was recalled before.
    mutating func insert(_ story: String) -> Bool {
        let key = Self.key(story)
        guard known.insert(key).inserted else { return false }
        order.append(key)
        if order.count > Self.capacity, let oldest = order.popFirst() { known.remove(oldest) }
        return true
    }

    func contains(_ story: String) -> Bool { !known.isEmpty && known.contains(Self.key(story)) }

    private static func key(_ story: String) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(story)
        return fingerprint.value
    }
}
