import KafkaModel
import NewsModel
import PublishEngine

/// Whenever the result of a dead-lettered delivery is stored, its original stands on the dead-letter topic: a settled record
/// is never missing there. And a shutdown says truly what it could not store.
struct DeadLettersFirst: Checker {
    let promise = Promise.deadLettersFirst
    /// By process: deliveries whose result or dead letter is not acknowledged.
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
            // What the engine gave up is no longer its own.
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
