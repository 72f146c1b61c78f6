import NewsModel

/// Nothing is sent before a process knows the orders in force, or that no control topic exists.
struct OrdersFirst: Checker {
    let promise = Promise.ordersFirst
    private var known: Set<Address> = []

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .ordersKnown(let address, let isKnown):
            if isKnown { known.insert(address) } else { known.remove(address) }
        case .sent(let number, let address, _) where !known.contains(address):
            return "\(truth.name(truth.attempts[number].delivery)) left before the orders in force were known"
        default: break
        }
        return nil
    }
}
