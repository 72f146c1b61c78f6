import NewsModel

/// G8: faults of the hub, the key or the network are not the event's. A delivery whose every request met such a fault does not
/// end as a dead letter.
struct HaltKeepsEvents: Checker {
    let promise = Promise.haltKeepsEvents

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .deadLettered(let delivery, let ownership, let result, _) = fact else { return nil }
        // An operator released it.
        if result.error?.code == "released" { return nil }
        // Some readers have it from a former owner of the partition.
        if result.sends > 0 { return nil }
        switch result.outcome {
        case .rejected, .exhausted, .unknown: break
        default: return nil
        }
        let attempts = truth.attemptsOf[delivery].map { truth.attempts[$0] }.filter { $0.ownership == ownership }
        guard attempts.allSatisfy(\.metHalt) else { return nil }
        return "\(truth.name(delivery)) is \(result.outcome.rawValue), though only the hub or the key was at fault"
    }
}
