import NewsModel
import PublishEngine

/// An outcome says what happened: `accepted` only of what the hub took, certainly-not only of what it did not.
struct TruthfulOutcomes: Checker {
    let promise = Promise.truthfulOutcomes

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard case .settled(let delivery, let tenure, let result) = fact else { return nil }
        let attempts = books.attemptsOf[delivery].map { books.attempts[$0] }.filter { $0.tenure == tenure }
        let wasAccepted = attempts.contains(where: \.isAccepted)
        let name = books.name(delivery)
        guard result.attempts == attempts.count else {
            return "\(name) reports \(result.attempts) attempts; there were \(attempts.count)"
        }
        switch result.outcome {
        case .accepted:
            if !wasAccepted { return "\(name) is accepted, but the hub never took it" }
        case .rejected, .exhausted, .expired:
            if wasAccepted { return "\(name) is \(result.outcome.rawValue), but the hub took it" }
        case .undecodable, .unroutable, .withheld, .duplicate:
            if !attempts.isEmpty { return "\(name) is \(result.outcome.rawValue), but a request left" }
        case .unknown:
            if attempts.isEmpty { return "\(name) is unknown, but no request ever left" }
        case .superseded, .canceled:
            break
        }
        return mismatch(result.outcome, books.news(of: delivery).kind).map { "\(name) \($0)" }
    }

    private func mismatch(_ outcome: Outcome, _ kind: NewsItem.Kind) -> String? {
        let isRight =
            switch (kind, outcome) {
            case (.undecodable, .undecodable), (.unroutable, .unroutable), (.withheld, .withheld),
                (.canceled, .canceled):
                true
            case (.undecodable, _), (.unroutable, _), (.withheld, _), (.canceled, _): false
            case (_, .undecodable), (_, .unroutable), (_, .withheld): false
            case (.usable, .rejected), (.redriven, .rejected), (.refused, .accepted): false
            default: true
            }
        return isRight ? nil : "is \(outcome.rawValue) although its event is \(kind)"
    }
}
