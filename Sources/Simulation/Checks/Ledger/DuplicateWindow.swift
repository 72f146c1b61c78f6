import NewsModel
import NotificationHub
import PublishEngine

/// A second record with the id and version of an accepted one is not sent, even after restarts, unless a person has redriven it.
/// Of several redriven records that repeat the same delivery, one is sent. Checked if the window is wider than the life.
struct DuplicateWindow: Checker {
    let promise = Promise.duplicateWindow
    /// Deliveries that engines reported as accepted, by the properties that make a duplicate.
    private var accepted: [Twin: [Int]] = [:]

    private struct Twin: Hashable {
        var partition: TopicPartition?
        var eventID: String
        var version: Int?
        var platform: Platform
        /// The delivery that a redriven record repeats; `nil` for any record.
        var repeated: String?
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard truth.scenario.setting.engine.duplicateWindow >= 1024 else { return nil }
        switch fact {
        case .settled(let delivery, _, let result, _) where result.outcome == .accepted:
            accepted[twin(delivery, truth), default: []].append(delivery)
            guard let repeated = truth.news(of: delivery).redriveOf else { return nil }
            accepted[twin(delivery, truth, repeating: repeated), default: []].append(delivery)
        case .sent(let number, _, _):
            let attempt = truth.attempts[number]
            let news = truth.news(of: attempt.delivery)
            guard attempt.ownership >= 0, !news.isRedriven || news.redriveOf != nil else { return nil }
            let twins = accepted[twin(attempt.delivery, truth, repeating: news.redriveOf)] ?? []
            for twin in twins where twin != attempt.delivery {
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

    private func twin(_ delivery: Int, _ truth: GroundTruth, repeating repeated: String? = nil) -> Twin {
        let news = truth.news(of: delivery)
        return Twin(
            partition: truth.partition(of: delivery), eventID: news.eventID, version: news.version,
            platform: truth.platform(of: delivery), repeated: repeated)
    }
}
