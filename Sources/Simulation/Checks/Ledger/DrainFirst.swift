import KafkaModel
import NewsModel

/// A partition released before the deadline has no request without a reply and no result without an acknowledgement. An orderly
/// handover therefore repeats nothing.
struct DrainFirst: Checker {
    let promise = Promise.drainFirst
    private var unstored: [Int: Set<Int>] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .settled(let delivery, let ownership?, _, _), .deadLettered(let delivery, let ownership?, _, _):
            unstored[ownership, default: []].insert(delivery)
        case .acknowledged(let ownership?, let delivery, .result, _): unstored[ownership]?.remove(delivery)
        case .ended(let ownership) where [.released, .rewound].contains(truth.ownerships[ownership].end):
            if let delivery = unstored[ownership]?.min() {
                return
                    "\(truth.ownerships[ownership].partition) was given up; the result of \(truth.name(delivery)) was not stored"
            }
            let open = truth.attempts.last { $0.ownership == ownership && $0.reply == nil }
            return open.map {
                "\(truth.ownerships[ownership].partition) was given up while \(truth.name($0.delivery)) was under way"
            }
        default: break
        }
        return nil
    }
}
