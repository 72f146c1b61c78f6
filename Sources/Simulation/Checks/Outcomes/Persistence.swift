import KafkaModel
import NewsModel
import PublishEngine

/// A delivery that was certainly not accepted is retried until the event's deadline; without one, and without a limit in the
/// settings, twenty times. One that may have been accepted is tried several times, spread over at least two minutes. So a
/// single alert outlasts a bad minute of the hub.
struct Persistence: Checker {
    let promise = Promise.persistence
    private static let spread = Duration.seconds(120)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .deadLettered(let delivery, let ownership, let result, _) = fact,
            result.outcome == .exhausted || result.outcome == .unknown
        else { return nil }
        // Withdrawn, past its deadline, or given up by an operator.
        if let code = result.error?.code, ["recalled", "superseded", "expired", "too-old", "released"].contains(code) {
            return nil
        }
        let settings = truth.scenario.setting.engine
        let lane = truth.scenario.setting.lanes[truth.news(of: delivery).lane]
        let attempts = truth.attemptsOf[delivery].map { truth.attempts[$0] }.filter { $0.ownership == ownership }
        let unanswered = attempts.filter(\.isUnanswered)
        let name = truth.name(delivery)
        let hasDeadline = truth.news(of: delivery).expiresAt != nil || lane.maxAge != nil
        let most = settings.retry.attempts ?? (hasDeadline ? nil : RetrySchedule.attemptsWithoutDeadline)
        if let most, attempts.filter(\.hasLeft).count >= most { return nil }
        guard result.outcome == .unknown else {
            return "\(name) is exhausted after \(attempts.count) attempts, though there was time"
        }
        if lane.onUnknown == .giveUp { return nil }
        // The hub refuses it for its own fault, after an attempt that it may have taken: another one changes nothing.
        if let reply = attempts.last?.reply, case .rejected = Judge.verdict(on: reply) { return nil }
        guard unanswered.count >= settings.unknownAttempts else {
            return "\(name) is unknown after \(unanswered.count) unanswered attempts of \(settings.unknownAttempts)"
        }
        guard settings.unknownAttempts > 1, let first = unanswered.first, let last = unanswered.last else { return nil }
        let spread = last.sentAt - (first.repliedAt ?? first.sentAt)
        return spread < Self.spread ? "\(name) is unknown after attempts within \(spread.short)" : nil
    }
}
