import KafkaModel
import NewsModel
import PublishEngine

/// G11 within a process: once its engine has taken the canceled record, nothing of the story leaves any more in any lane, be
/// it waiting or still to come, until the process ends. A request in flight by then is not tried again.
struct Recalls: Checker {
    let promise = Promise.recalls
    private var recalled: [Address: Set<String>] = [:]
    /// Handed over, and maybe not examined yet: a lane may be stopped.
    private var pending: [Int: Set<String>] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .taken(let ownership, let items):
            let owner = truth.ownerships[ownership]
            for item in items where truth.scenario.news[item].kind == .canceled {
                // Records that the ledger knows as done are not examined again.
                let isDone = truth.deliveries(of: item).allSatisfy { delivery in
                    truth.resultsOf[delivery].contains { owner.knows($0, as: ownership) }
                }
                if !isDone { pending[ownership, default: []].insert(truth.scenario.news[item].story) }
            }
        case .acted(let address, let snapshot) where snapshot.counts.unexamined == 0 && !pending.isEmpty:
            // Records not examined when their partition was revoked are left to the next owner.
            for (ownership, stories) in pending
            where truth.ownerships[ownership].address == address && truth.ownerships[ownership].revokedAt == nil {
                recalled[address, default: []].formUnion(stories)
                pending[ownership] = nil
            }
        // Records not examined are read again by the next owner.
        case .ended(let ownership): pending[ownership] = nil
        case .settled(let delivery, _, let result, let address)
        where result.outcome == .canceled && truth.news(of: delivery).kind == .canceled:
            recalled[address, default: []].insert(truth.news(of: delivery).story)
        case .sent(let number, let address, _):
            let delivery = truth.attempts[number].delivery
            guard recalled[address]?.contains(truth.news(of: delivery).story) == true else { return nil }
            return "\(truth.name(delivery)) left after its story had been recalled"
        default: break
        }
        return nil
    }
}
