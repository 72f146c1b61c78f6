import NewsModel
import NotificationHub
import PublishEngine

/// While its process's wall clock is right, nothing leaves with a sound in the quiet hours of its category.
///
/// Unanswered attempts may be on phones already, so they are repeated unchanged. A repeat replaces the first notification.
struct QuietHoursKept: Checker {
    let promise = Promise.quietHours
    /// Attempts that left in quiet hours whose action is silence.
    private var silent: Set<Int> = []

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard let quiet = truth.scenario.setting.quiet else { return nil }
        switch fact {
        case .sent(let number, _, let wall):
            let delivery = truth.attempts[number].delivery
            guard wall == truth.now, truth.news(of: delivery).categories == quiet.categories,
                let end = quiet.window.end(at: wall), !isRepeat(number, truth)
            else { return nil }
            // A replacement makes no sound at any hour.
            if quiet.action == .silent || truth.news(of: delivery).replacement != nil {
                silent.insert(number)
                return nil
            }
            return "\(truth.name(delivery)) left \((end - truth.now).short) before the quiet hours ended"
        case .settled(let delivery, let ownership, let result, _) where result.outcome == .accepted && !result.isQuiet:
            let last = truth.attemptsOf[delivery].last { truth.attempts[$0].ownership == ownership }
            guard let last, silent.contains(last), truth.platform(of: delivery) != .template else { return nil }
            return "\(truth.name(delivery)) made a sound in quiet hours"
        default: return nil
        }
    }

    private func isRepeat(_ number: Int, _ truth: GroundTruth) -> Bool {
        let attempt = truth.attempts[number]
        return truth.attemptsOf[attempt.delivery].contains {
            // Some readers may have the event, so the others get it too.
            $0 < number && truth.attempts[$0].ownership == attempt.ownership
                && (truth.attempts[$0].isUnanswered || truth.attempts[$0].reply?.meaning == .accepted)
        }
    }
}
