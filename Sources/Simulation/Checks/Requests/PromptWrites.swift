import NewsModel
import NotificationHub
import PublishEngine

/// A request leaves within seconds of the engine's decision, or comes back unsent. Later, orders may have come that the decision
/// did not know.
struct PromptWrites: Checker {
    let promise = Promise.promptWrites
    /// The last time at which each process continued after a standstill.
    private var thawedAt: [Address: Instant] = [:]
    /// Requests that were written. The hub may refuse one of them at any time before its reply.
    private var written: Set<Int> = []
    /// The longest wait of a request that comes back unsent. It includes a short standstill, because no fact reports one.
    private static let returnMax = StandstillWatch.gapMin * 2 + .seconds(1)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .thawed(let address): thawedAt[address] = truth.now
        case .written(let number, _):
            written.insert(number)
            let attempt = truth.attempts[number]
            let age = truth.now - attempt.sentAt
            guard age > StandstillWatch.gapMin else { return nil }
            return "\(truth.name(attempt.delivery)) left \(age.short) after it was decided"
        case .replied(let number):
            let attempt = truth.attempts[number]
            let age = truth.now - attempt.sentAt
            guard age > Self.returnMax, case .notSent(let failure)? = attempt.reply, failure.kind == .waitedTooLong,
                attempt.ownership >= 0, !written.contains(number),
                thawedAt[truth.ownerships[attempt.ownership].address] ?? .distantPast < attempt.sentAt
            else { return nil }
            return "\(truth.name(attempt.delivery)) came back unsent \(age.short) after it was decided"
        default: break
        }
        return nil
    }
}
