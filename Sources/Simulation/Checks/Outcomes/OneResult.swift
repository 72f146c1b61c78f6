import NewsModel

/// G1: a delivery has one result, and an owner settles it once.
///
/// A second result is valid only if, before the first one was stored and read back, an owner crashed, lost its partition or
/// exceeded its time.
struct OneResult: Checker {
    let promise = Promise.oneResult
    private var settled: Set<[Int]> = []
    /// Outcomes whose dead letter or held record precedes the result, by delivery and owner.
    private var outcomes: [[Int]: Outcome] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .strange(let sentence): return sentence
        case .deadLettered(let delivery, let ownership, let result, _),
            .holding(let delivery, let ownership, let result, _):
            if let ownership { outcomes[[delivery, ownership]] = result.outcome }
            return ending(delivery, ownership, result.outcome, truth)
        case .keptHere(let delivery, let ownership?):
            // This concerns all platforms of the record.
            let item = truth.item(of: delivery)
            for sibling in truth.deliveries(of: item) where outcomes[[sibling, ownership]] == .held {
                outcomes[[sibling, ownership]] = nil
                settled.remove([sibling, ownership])
            }
        case .settled(let delivery, let ownership, let result, _):
            if let ownership, let outcome = outcomes.removeValue(forKey: [delivery, ownership]) {
                return outcome == result.outcome
                    ? nil : "\(truth.name(delivery)) is \(result.outcome.rawValue), its dead letter \(outcome.rawValue)"
            }
            return ending(delivery, ownership, result.outcome, truth)
        case .stored(let delivery, let result, _):
            let twins = truth.resultsOf[delivery].filter { $0.ownership == result.ownership }
            if twins.count > 1 { return "\(truth.name(delivery)) has \(twins.count) results of one owner" }
        default:
            break
        }
        return nil
    }

    private mutating func ending(
        _ delivery: Int, _ ownership: Int?, _ outcome: Outcome, _ truth: GroundTruth
    ) -> String? {
        let name = truth.name(delivery)
        guard let ownership else { return "\(name) ended in a partition that was given up" }
        guard settled.insert([delivery, ownership]).inserted else {
            return "\(name) ended a second time, as \(outcome.rawValue)"
        }
        guard truth.ownerships[ownership].isRestored else { return "\(name) ended before the ledger was read" }
        let known = truth.resultsOf[delivery].first { truth.ownerships[ownership].knows($0, as: ownership) }
        return known.map { "\(name) ended as \(outcome.rawValue); the ledger already had \($0.outcome.rawValue)" }
    }
}
