import KafkaModel
import NewsModel
import PublishEngine

/// G5: the deliveries of one story leave in the order of their records, one at a time; the next owner of a partition sends
/// nothing older than the deliveries that the former owner finished.
struct StoryOrder: Checker {
    let promise = Promise.storyOrder
    /// By owner and story: the last attempt.
    private var last: [Line: Int] = [:]
    /// By story: the highest record whose delivery ended as accepted, with its result's place.
    private var accepted: [Story: [(offset: Int64, delivery: Int)]] = [:]

    /// Items that an engine wanted to hold: on their way to the held topic, refused by it, or lost with their process. The story
    /// goes on without them, as it does past what stands on the held topic.
    private var setAside: Set<Int> = []

    private struct Story: Hashable {
        var partition: TopicPartition
        var name: String
        var platform: Platform
    }

    private struct Line: Hashable {
        var story: Story
        var ownership: Int
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .stored(let delivery, let result, _) where result.outcome == .accepted:
            accepted[story(delivery, truth), default: []].append((offset(delivery, truth), delivery))
        case .holding(let delivery, _, _, _): setAside.insert(truth.item(of: delivery))
        case .sent(let number, _, _): return sent(number, truth)
        default: break
        }
        return nil
    }

    private mutating func sent(_ number: Int, _ truth: GroundTruth) -> String? {
        let attempt = truth.attempts[number]
        guard attempt.ownership >= 0 else { return nil }
        let story = story(attempt.delivery, truth)
        let line = Line(story: story, ownership: attempt.ownership)
        let name = truth.name(attempt.delivery)
        let isSetAside = setAside.contains(truth.item(of: attempt.delivery))
        if let before = last[line] {
            let former = truth.attempts[before]
            let formerName = truth.name(former.delivery)
            if former.delivery != attempt.delivery, former.reply == nil {
                return "\(name) left while \(formerName) of the same story was under way"
            }
            if !isSetAside, offset(attempt.delivery, truth) < offset(former.delivery, truth) {
                return "\(name) left after \(formerName), which stands behind it in the story"
            }
        }
        last[line] = number
        // One that has a result already, which its owner could not know, is a repeat and not late.
        // So is one whose result the broker refused at first.
        guard truth.resultsOf[attempt.delivery].isEmpty, !truth.wasRefused[attempt.delivery], !isSetAside else {
            return nil
        }
        if truth.places[truth.item(of: attempt.delivery)]?.isHidden == true { return nil }
        let ownership = truth.ownerships[attempt.ownership]
        for (later, delivery) in accepted[story] ?? [] where later > offset(attempt.delivery, truth) {
            // Offsets of different incarnations say nothing about each other.
            let sent = truth.places[truth.item(of: attempt.delivery)]?.isGone
            guard sent == false, truth.places[truth.item(of: delivery)]?.isGone == false else { continue }
            if truth.resultsOf[delivery].contains(where: {
                ownership.knows($0, as: attempt.ownership) && !wasReadOn($0, past: attempt.delivery, truth)
            }) {
                return "\(name) left although \(truth.name(delivery)) of the same story was accepted before"
            }
        }
        return nil
    }

    /// Its owner read on in another incarnation without knowing, past a delivery that it never read. (The offset
    /// where it began cannot have skipped one without a result: `CommitsBehindResults` sees to that.)
    private func wasReadOn(
        _ result: GroundTruth.StoredResult, past delivery: Int, _ truth: GroundTruth
    ) -> Bool {
        guard let number = result.ownership else { return false }
        return !truth.takenBy[truth.item(of: delivery)].contains(number)
    }

    private func offset(_ delivery: Int, _ truth: GroundTruth) -> Int64 {
        truth.places[truth.item(of: delivery)]?.offset ?? 0
    }

    private func story(_ delivery: Int, _ truth: GroundTruth) -> Story {
        let news = truth.news(of: delivery)
        let partition = truth.partition(of: delivery) ?? TopicPartition(topic: news.topic, partition: -1)
        return Story(partition: partition, name: news.story, platform: truth.platform(of: delivery))
    }
}
