import NewsModel
import PublishEngine

/// A second record with the id and version of one that was accepted is not sent, across restarts too. Checked where the
/// window is wider than the life.
struct DuplicateWindow: Checker {
    let promise = Promise.duplicateWindow
    /// Accepted in the engine's own books, by what makes a duplicate.
    private var accepted: [Twin: [Int]] = [:]

    private struct Twin: Hashable {
        var partition: TopicPartition
        var eventID: String
        var version: Int?
        var platform: Platform
    }

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard books.life.setting.engine.duplicateWindow >= 1024 else { return nil }
        switch fact {
        case .settled(let delivery, _, let result) where result.outcome == .accepted:
            accepted[twin(delivery, books), default: []].append(delivery)
        case .sent(let number):
            let attempt = books.attempts[number]
            guard attempt.tenure >= 0 else { return nil }
            for twin in accepted[twin(attempt.delivery, books)] ?? [] where twin != attempt.delivery {
                let isKnown = books.resultsOf[twin].contains {
                    $0.outcome == .accepted && books.tenures[attempt.tenure].knows($0, as: attempt.tenure)
                }
                if isKnown { return "\(books.name(attempt.delivery)) was sent; \(books.name(twin)) was the same news" }
            }
        default: break
        }
        return nil
    }

    private func twin(_ delivery: Int, _ books: Books) -> Twin {
        let news = books.news(of: delivery)
        return Twin(
            partition: news.partition, eventID: news.eventID, version: news.version,
            platform: books.platform(of: delivery))
    }
}
