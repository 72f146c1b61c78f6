import NewsModel
import PublishEngine

/// G8: what is wrong with the hub, the key or the way there is no event's fault. A delivery whose every request met such
/// a fault ends in no dead letter.
struct HaltKeepsEvents: Checker {
    let promise = Promise.haltKeepsEvents

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard case .settled(let delivery, let tenure, let result) = fact else { return nil }
        switch result.outcome {
        case .rejected, .exhausted, .unknown: break
        default: return nil
        }
        let attempts = books.attemptsOf[delivery].map { books.attempts[$0] }.filter { $0.tenure == tenure }
        guard attempts.allSatisfy(\.metHalt) else { return nil }
        return "\(books.name(delivery)) is \(result.outcome.rawValue), though only the hub or the key was at fault"
    }
}
