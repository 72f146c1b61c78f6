import KafkaModel
import NewsModel
import PublishEngine

/// The original of a dead-lettered delivery is on the dead-letter topic before its result is stored, so that no settled record is
/// missing there. A shutdown also reports correctly what it could not store.
struct DeadLettersFirst: Checker {
    let promise = Promise.deadLettersFirst
    /// Deliveries whose result or dead letter is not acknowledged, by process.
    private var unstored: [Address: Set<Int>] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .stored(let delivery, let result, _)
        where result.outcome.isDeadLettered && !truth.hasDeadLetter[delivery]:
            return "\(truth.name(delivery)) is stored as \(result.outcome.rawValue) without its dead letter"
        case .settled(let delivery, _, _, let address), .deadLettered(let delivery, _, _, let address):
            unstored[address, default: []].insert(delivery)
        case .acknowledged(_, let delivery, .result, let address): unstored[address]?.remove(delivery)
        case .ended(let ownership):
            // Deliveries of a revoked partition no longer belong to the engine.
            let owner = truth.ownerships[ownership]
            for item in owner.taken.values {
                for delivery in truth.deliveries(of: item) { unstored[owner.address]?.remove(delivery) }
            }
        case .finished(let address, let leftovers):
            let rest = unstored[address, default: []].count
            if leftovers.unstored == 0, rest > 0 {
                return "process \(address.process) ended as if all was stored; \(rest) deliveries were not"
            }
        default: break
        }
        return nil
    }
}
