import EditorialControl
import NewsModel

/// Only stories under recall are canceled, and results of requests that were in flight report the recall.
///
/// A recall also ends the deliveries in flight. Even if the reply follows the end of the recall, the delivery is not retried,
/// and its result reports the recall.
struct RecallsReported: Checker {
    let promise = Promise.recallsReported
    private var book = OrderBook(forgetsLapsed: false)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        book.note(fact, truth)
        guard case .settled(let delivery, let ownership, let result, let address) = fact else { return nil }
        let news = truth.news(of: delivery)
        let own = news.replacement?.order
        // A replacement's own recall is no recall of it.
        let taken = book.taken[address]?[.recall(story: news.story)].flatMap { $0.order.id == own ? nil : $0 }
        let last = truth.attemptsOf[delivery].last { truth.attempts[$0].ownership == ownership }
        let wasRecalled =
            taken != nil
            || last.map { book.obeyed(.recall(story: news.story), address, after: truth.attempts[$0].sentAt) } ?? false
        let name = truth.name(delivery)
        // An event that a recall returned from the held topic may end after the recall was lifted.
        let isCalledBack = news.copy == .returned(.recalled)
        if result.outcome == .canceled, own == nil, news.kind != .canceled, !wasRecalled, !isCalledBack,
            !isRecalledByEvent(news, truth)
        {
            return "\(name) is canceled, but nobody recalled its story"
        }
        if result.afterRecall, !wasRecalled, !isRecalledByEvent(news, truth) {
            return "\(name) is reported as sent before a recall, but there was none"
        }
        // The orders known to the process when the last reply arrived decide.
        guard let taken, result.outcome == .accepted || result.outcome == .unknown, !result.afterRecall,
            let last, let repliedAt = truth.attempts[last].repliedAt, taken.at < repliedAt
        else { return nil }
        return "\(name) is \(result.outcome.rawValue), but does not say that its story was recalled meanwhile"
    }

    /// Returns true if an event in any lane recalls the story.
    private func isRecalledByEvent(_ news: NewsItem, _ truth: GroundTruth) -> Bool {
        truth.news.indices.contains {
            truth.news[$0].kind == .canceled && truth.news[$0].story == news.story && truth.places[$0] != nil
        }
    }
}
