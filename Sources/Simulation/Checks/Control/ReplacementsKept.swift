import EditorialControl
import NewsModel
import NotificationHub

/// The replacement of a recalled story goes, once, to every platform that accepted the story and to no other. It leaves a process
/// only while that process obeys its own recall, and ends without leaving only if that recall is not in force.
struct ReplacementsKept: Checker {
    let promise = Promise.replacements
    private var book = OrderBook()
    /// The orders that have a replacement.
    private var replaced: Set<String> = []

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        book.note(fact, truth)
        switch fact {
        case .replaced(let item): return written(item, truth)
        case .sent(let number, let address, _): return sent(truth.attempts[number].delivery, address, truth)
        case .settled(let delivery, _, let result, let address) where result.outcome == .canceled:
            return canceled(delivery, address, truth)
        default: return nil
        }
    }

    private mutating func written(_ item: Int, _ truth: GroundTruth) -> String? {
        guard let (order, platforms) = truth.news[item].replacement else { return nil }
        guard replaced.insert(order).inserted else { return "\(order) has two replacements" }
        let accepted = truth.results(of: truth.news[item].story).filter {
            ($0.result.outcome == .accepted || $0.result.outcome == .unknown && $0.result.sends > 0)
                && truth.item(of: $0.delivery) != item
        }
        let reached = Set(accepted.map { truth.platform(of: $0.delivery) })
        guard reached != Set(platforms) else { return nil }
        let names = [reached, Set(platforms)].map { $0.map(\.rawValue).sorted().joined(separator: ", ") }
        return "the replacement of \(order) is for \(names[1]), but the story was accepted by \(names[0])"
    }

    private func sent(_ delivery: Int, _ address: Address, _ truth: GroundTruth) -> String? {
        let news = truth.news(of: delivery)
        guard let (order, platforms) = news.replacement else { return nil }
        guard platforms.contains(truth.platform(of: delivery)) else {
            return "\(truth.name(delivery)) left for a platform that never accepted the story"
        }
        let obeyed = book.taken[address]?[.recall(story: news.story)]?.order.id
        return obeyed == order
            ? nil : "\(truth.name(delivery)) left while the recall in force was \(obeyed ?? "none"), not \(order)"
    }

    private func canceled(_ delivery: Int, _ address: Address, _ truth: GroundTruth) -> String? {
        let news = truth.news(of: delivery)
        guard let (order, _) = news.replacement, let place = truth.places[truth.item(of: delivery)],
            let standing = book.standing[.recall(story: news.story)], standing.id == order,
            standing.at <= place.publishedAt,
            // The process may have obeyed another recall until it read this one.
            book.taken[address]?[.recall(story: news.story)]?.order.id == order
        else { return nil }
        return "\(truth.name(delivery)) is canceled, although its recall is in force"
    }
}
