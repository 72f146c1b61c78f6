import NewsModel
import PublishEngine

/// G5: the deliveries of one story leave in the order of their records, one at a time; who takes a partition over does
/// not send what is older than anything the former owner finished.
struct StoryOrder: Checker {
    let promise = Promise.storyOrder
    /// By owner and story: the last attempt.
    private var last: [Line: Int] = [:]
    /// By story: the highest record whose delivery ended as accepted, with its result's place.
    private var accepted: [Story: [(offset: Int64, delivery: Int)]] = [:]

    private struct Story: Hashable {
        var partition: TopicPartition
        var name: String
        var platform: Platform
    }

    private struct Line: Hashable {
        var story: Story
        var tenure: Int
    }

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        switch fact {
        case .stored(let delivery, let result, _) where result.outcome == .accepted:
            accepted[story(delivery, books), default: []].append((offset(delivery, books), delivery))
        case .sent(let number): return sent(number, books)
        default: break
        }
        return nil
    }

    private mutating func sent(_ number: Int, _ books: Books) -> String? {
        let attempt = books.attempts[number]
        guard attempt.tenure >= 0 else { return nil }
        let story = story(attempt.delivery, books)
        let line = Line(story: story, tenure: attempt.tenure)
        let name = books.name(attempt.delivery)
        if let before = last[line] {
            let former = books.attempts[before]
            let formerName = books.name(former.delivery)
            if former.delivery != attempt.delivery, former.reply == nil {
                return "\(name) left while \(formerName) of the same story was under way"
            }
            if offset(attempt.delivery, books) < offset(former.delivery, books) {
                return "\(name) left after \(formerName), which stands behind it in the story"
            }
        }
        last[line] = number
        // One that has a result already, which its owner could not know, is a repeat and not late.
        guard books.resultsOf[attempt.delivery].isEmpty else { return nil }
        let tenure = books.tenures[attempt.tenure]
        for (later, delivery) in accepted[story] ?? [] where later > offset(attempt.delivery, books) {
            if books.resultsOf[delivery].contains(where: { tenure.knows($0, as: attempt.tenure) }) {
                return "\(name) left although \(books.name(delivery)) of the same story was accepted before"
            }
        }
        return nil
    }

    private func offset(_ delivery: Int, _ books: Books) -> Int64 { books.offsetOf[books.item(of: delivery)] ?? 0 }

    private func story(_ delivery: Int, _ books: Books) -> Story {
        let news = books.news(of: delivery)
        return Story(partition: news.partition, name: news.story, platform: books.platform(of: delivery))
    }
}
