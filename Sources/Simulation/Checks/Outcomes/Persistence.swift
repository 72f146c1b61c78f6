import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// A delivery that was certainly not accepted is retried until its deadline. Without a deadline or a configured limit, it is
/// tried twenty times. If it may have been accepted, it is tried several times over at least two minutes. A single alert
/// therefore survives a short failure of the hub. Each send of a delivery has these attempts for itself.
struct Persistence: Checker {
    let promise = Promise.persistence
    /// Withdrawn, past its deadline, or released by an operator.
    private static let endings = ["recalled", "superseded", "outdated", "expired", "too-old", "released"]
    private static let spread = Duration.seconds(120)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .deadLettered(let delivery, let ownership, let result, _) = fact,
            result.outcome == .exhausted || result.outcome == .unknown
        else { return nil }
        if let code = result.error?.code, Self.endings.contains(code) { return nil }
        let all = truth.attemptsOf[delivery].map { truth.attempts[$0] }.filter { $0.ownership == ownership }
        guard truth.news(of: delivery).sends > 1 else { return check(all, result, delivery, truth) }
        // A category that gets another name changes the tags of a send.
        guard truth.scenario.setting.rename == nil else {
            return result.error?.code == "partly-refused" ? nil : check(all, result, delivery, truth)
        }
        var tags: Set<String> = []
        for first in all where tags.insert(first.tags).inserted {
            let attempts = all.filter { $0.tags == first.tags }
            if let last = attempts.last, last.isRefused || last.reply?.meaning == .accepted { continue }
            if let problem = check(attempts, result, delivery, truth) { return problem }
        }
        return nil
    }

    /// - Parameter attempts: the attempts of one send.
    private func check(
        _ attempts: [Attempt], _ result: ResultRecord, _ delivery: Int, _ truth: GroundTruth
    ) -> String? {
        let settings = truth.scenario.setting.engine
        let lane = truth.scenario.setting.lanes[truth.news(of: delivery).lane]
        let unanswered = attempts.filter(\.isUnanswered)
        let name = truth.name(delivery)
        let hasDeadline = truth.news(of: delivery).expiresAt != nil || lane.maxAge != nil
        let most = settings.retry.attempts ?? (hasDeadline ? nil : RetrySchedule.attemptsWithoutDeadline)
        if let most, attempts.filter(\.hasLeft).count >= most { return nil }
        guard result.outcome == .unknown else {
            return "\(name) is exhausted after \(attempts.count) attempts, though there was time"
        }
        if lane.onUnknown == .giveUp { return nil }
        // The hub rejects it after an attempt that may have been accepted. Another attempt would change nothing.
        if attempts.last?.reply?.meaning == .refusedEvent { return nil }
        guard unanswered.count >= settings.unknownAttempts else {
            return "\(name) is unknown after \(unanswered.count) unanswered attempts of \(settings.unknownAttempts)"
        }
        guard settings.unknownAttempts > 1, let first = unanswered.first, let last = unanswered.last else { return nil }
        let spread = last.sentAt - (first.repliedAt ?? first.sentAt)
        return spread < Self.spread ? "\(name) is unknown after attempts within \(spread.short)" : nil
    }
}
