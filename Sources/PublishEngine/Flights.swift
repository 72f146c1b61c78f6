import NewsModel

/// The requests under way, by token. As many places as ever were needed at once, reused.
struct Flights: Sendable {
    private var places: [Flight?] = []
    private var free: [Int] = []
    private var serial: UInt64 = 0
    private(set) var count = 0

    struct Flight: Sendable {
        var token: UInt64
        var delivery: DeliveryID
        var sentAt: Instant
        var tokenEpoch: Int
        var isProbe: Bool
    }

    /// Notes a departure; the token names it until it lands.
    mutating func depart(_ delivery: DeliveryID, at now: Instant, tokenEpoch: Int, isProbe: Bool) -> UInt64 {
        let place: Int
        if let reused = free.popLast() {
            place = reused
        } else {
            place = places.count
            places.append(nil)
        }
        serial &+= 1
        let token = serial << 20 | UInt64(place)
        places[place] = Flight(
            token: token, delivery: delivery, sentAt: now, tokenEpoch: tokenEpoch, isProbe: isProbe)
        count += 1
        return token
    }

    /// `nil` for a token that is not under way.
    subscript(token: UInt64) -> Flight? {
        let place = Int(token & 0xf_ffff)
        guard place < places.count, let flight = places[place], flight.token == token else { return nil }
        return flight
    }

    /// Takes a flight out; `nil` for a token that is not under way.
    mutating func land(_ token: UInt64) -> Flight? {
        guard let flight = self[token] else { return nil }
        let place = Int(token & 0xf_ffff)
        places[place] = nil
        free.append(place)
        count -= 1
        return flight
    }
}
