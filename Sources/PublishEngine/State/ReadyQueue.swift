import DequeModule
import KafkaModel

/// Deliveries of a lane that may leave, oldest first.
///
/// Returned events and fresh ones alternate: a hundred thousand embargoes that end together do not delay live news, nor
/// the reverse.
struct ReadyQueue: Sendable {
    private var fresh: Deque<DeliveryID> = []
    private var returned: Deque<DeliveryID> = []
    private var isTurnOfReturned = false

    var count: Int { fresh.count + returned.count }
    var isEmpty: Bool { fresh.isEmpty && returned.isEmpty }

    private var isReturnedFirst: Bool { !returned.isEmpty && (isTurnOfReturned || fresh.isEmpty) }

    /// The delivery that leaves next.
    var first: DeliveryID? { isReturnedFirst ? returned.first : fresh.first }

    /// Removes `first`, if there is one.
    mutating func removeFirst() {
        if isReturnedFirst {
            returned.removeFirst()
            isTurnOfReturned = false
        } else if !fresh.isEmpty {
            fresh.removeFirst()
            isTurnOfReturned = true
        }
    }

    /// - Parameter isReturned: it came back from the held topic.
    mutating func append(_ id: DeliveryID, isReturned: Bool) {
        if isReturned { returned.append(id) } else { fresh.append(id) }
    }

    /// - Parameter isReturned: it came back from the held topic.
    mutating func prepend(_ id: DeliveryID, isReturned: Bool) {
        if isReturned { returned.prepend(id) } else { fresh.prepend(id) }
    }

    func filter(_ isLive: (DeliveryID) -> Bool) -> ReadyQueue {
        var live = self
        (live.fresh, live.returned) = (fresh.filter(isLive), returned.filter(isLive))
        return live
    }
}
