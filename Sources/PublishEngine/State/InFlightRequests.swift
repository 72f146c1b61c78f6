import KafkaModel
import NewsModel
import NotificationHub

/// The requests in flight, in reusable places.
struct InFlightRequests: Sendable {
    private var places: [Request?] = []
    private var free: [Int] = []
    private var serial: UInt64 = 0
    private(set) var count = 0

    struct Request: Sendable {
        var id: RequestID
        var delivery: DeliveryID
        /// The time of sending, by the monotonic clock.
        var sentAt: Instant
        var tokenEpoch: Int
    }

    /// Adds a request; its id is valid until `end`.
    mutating func begin(_ delivery: DeliveryID, at now: Instant, tokenEpoch: Int) -> RequestID {
        let place: Int
        if let reused = free.popLast() {
            place = reused
        } else {
            place = places.count
            places.append(nil)
        }
        serial &+= 1
        let id = RequestID(rawValue: serial << 20 | UInt64(place))
        places[place] = Request(id: id, delivery: delivery, sentAt: now, tokenEpoch: tokenEpoch)
        count += 1
        return id
    }

    /// `nil` for a request that is not in flight.
    subscript(id: RequestID) -> Request? {
        let place = Int(id.rawValue & 0xf_ffff)
        guard place < places.count, let request = places[place], request.id == id else { return nil }
        return request
    }

    /// Removes a request; `nil` if it is not in flight.
    mutating func end(_ id: RequestID) -> Request? {
        guard let request = self[id] else { return nil }
        let place = Int(id.rawValue & 0xf_ffff)
        places[place] = nil
        free.append(place)
        count -= 1
        return request
    }

    /// All requests, in no particular order.
    var all: [Request] { places.compactMap(\.self) }
}
