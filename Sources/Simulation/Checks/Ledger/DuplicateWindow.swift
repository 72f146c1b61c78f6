import NewsModel
import NotificationHub
import PublishEngine

/// A second record with the id and version of an accepted one is not sent, even after restarts, unless a person has redriven it.
/// Checked if the window is wider than the life.
struct DuplicateWindow: Checker {
    let promise = Promise.duplicateWindow
    /// Deliveries that engines reported as accepted, by the properties that make a duplicate.
    private var accepted: [Twin: [Int]] = [:]

    private struct Twin: Hashable {
        var partition: TopicPartition?
        var eventID: String
        var version: Int?
        var platform: Platform
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard truth.scenario.setting.engine.duplicateWindow >= 1024 else { return nil }
        switch fact {
        case .settled(let delivery, _, let result, _) where result.outcome == .accepted:
            accepted[twin(delivery, truth), default: []].append(delivery)
        case .sent(let number, _, _):
            let attempt = truth.attempts[number]
            guard attempt.ownership >= 0, !truth.news(of: attempt.delivery).isRedriven else { return nil }
            for twin in accepted[twin(attempt.delivery, truth)] ?? [] where twin != attempt.delivery {
                let isKnown = truth.resultsOf[twin].contains {
                    $0.outcome == .accepted
                        && truth.ownerships[attempt.ownership].hasSeen($0, as: attempt.ownership)
                }
                if isKnown { return "\(truth.name(attempt.delivery)) was sent; \(truth.name(twin)) was the same news" }
            }
        default: break
        }
        return nil
    }

    private func twin(_ delivery: Int, _ truth: GroundTruth) -> Twin {
        let news = truth.news(of: delivery)
        return Twin(
            partition: truth.partition(of: delivery), eventID: news.eventID, version: news.version,
            platform: truth.platform(of: delivery))
    }
}
