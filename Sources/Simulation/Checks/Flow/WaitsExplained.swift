import KafkaModel
import NewsModel

/// Work that waits for more than a few seconds has a reason in the status.
struct WaitsExplained: Checker {
    let promise = Promise.waitsExplained
    /// Time of the last progress of each delivery, by ownership.
    private var waiting: [Int: [Int: Instant]] = [:]
    private static let most = Duration.seconds(5)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .taken(let ownership, let items):
            for item in items where truth.places[item]?.isHidden != true {
                for delivery in truth.deliveries(of: item)
                where !truth.resultsOf[delivery].contains(where: {
                    truth.ownerships[ownership].knows($0, as: ownership)
                }) {
                    waiting[ownership, default: [:]][delivery] = truth.now
                }
            }
        case .sent(let number, _, _):
            let attempt = truth.attempts[number]
            waiting[attempt.ownership]?[attempt.delivery] = truth.now
        case .replied(let number):
            let attempt = truth.attempts[number]
            if waiting[attempt.ownership]?[attempt.delivery] != nil {
                waiting[attempt.ownership]?[attempt.delivery] = truth.now
            }
        case .settled(let delivery, let ownership?, _, _), .deadLettered(let delivery, let ownership?, _, _),
            .holding(let delivery, let ownership?, _, _):
            waiting[ownership]?[delivery] = truth.now
        case .acknowledged(let ownership?, let delivery, .result, _): waiting[ownership]?[delivery] = nil
        case .restored(let ownership):
            // Further ledger entries may show that a delivery is already settled.
            waiting[ownership] = waiting[ownership]?.filter { delivery, _ in
                !truth.resultsOf[delivery].contains { truth.ownerships[ownership].knows($0, as: ownership) }
            }
        case .ended(let ownership): waiting[ownership] = nil
        case .inspected(let address, let reasons): return unexplained(address, reasons, truth)
        default: break
        }
        return nil
    }

    private func unexplained(_ address: Address, _ reasons: WaitReasons, _ truth: GroundTruth) -> String? {
        for (number, owner) in truth.ownerships.enumerated()
        where owner.address == address && owner.end == nil && !reasons.explain(owner.lane) {
            if !owner.isRestored, truth.now > owner.beganAt + Self.most {
                return
                    "\(owner.partition) waits for its ledger since \((truth.now - owner.beganAt).short), without a reason"
            }
            let oldest = waiting[number]?.min { ($0.value, $0.key) < ($1.value, $1.key) }
            if let oldest, truth.now > oldest.value + Self.most {
                return "\(truth.name(oldest.key)) waits since \((truth.now - oldest.value).short), without a reason"
            }
        }
        return nil
    }
}
