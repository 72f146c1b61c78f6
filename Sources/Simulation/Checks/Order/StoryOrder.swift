import NewsModel
import NotificationHub

/// G5: the deliveries of one story leave in the order of their records, one at a time. The next owner of a partition sends
/// nothing older than the deliveries that the former owner finished. See `EmbargoesPassed` for events under embargo.
struct StoryOrder: Checker {
    let promise = Promise.storyOrder
    /// The last attempt, by owner and story.
    private var last: [Line: Int] = [:]
    /// Offsets and deliveries that were accepted, by story.
    private var accepted: [GroundTruth.Story: [(offset: Int64, delivery: Int)]] = [:]

    /// Items that an engine requested to hold. A later owner whose predecessor died meanwhile reads such an item again, perhaps when
    /// its embargo has ended, and before it reads what has left since.
    private var setAside: Set<Int> = []

    /// Deliveries that failed. Their results wait for their dead letters while the story continues, so a later owner may not know of
    /// them and repeats them.
    private var failed: Set<Int> = []

    private var embargoes = EmbargoesPassed()

    private struct Line: Hashable {
        var story: GroundTruth.Story
        var ownership: Int
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        if let problem = embargoes.check(fact, truth) { return problem }
        switch fact {
        case .stored(let delivery, let result, _) where result.outcome == .accepted:
            accepted[truth.story(of: delivery), default: []].append((offset(delivery, truth), delivery))
        case .holding(let delivery, _, _, _): setAside.insert(truth.item(of: delivery))
        case .deadLettered(let delivery, _, _, _): failed.insert(delivery)
        case .sent(let number, _, _): return sent(number, truth)
        default: break
        }
        return nil
    }

    private mutating func sent(_ number: Int, _ truth: GroundTruth) -> String? {
        let attempt = truth.attempts[number]
        guard attempt.ownership >= 0 else { return nil }
        let story = truth.story(of: attempt.delivery)
        let line = Line(story: story, ownership: attempt.ownership)
        let name = truth.name(attempt.delivery)
        if let before = last[line] {
            let former = truth.attempts[before]
            let formerName = truth.name(former.delivery)
            if former.delivery != attempt.delivery, former.reply == nil {
                return "\(name) left while \(formerName) of the same story was under way"
            }
            if offset(attempt.delivery, truth) < offset(former.delivery, truth),
                !mayFollow(attempt.delivery, former.delivery, truth)
            {
                return "\(name) left after \(formerName), which stands behind it in the story"
            }
        }
        last[line] = number
        // A delivery with a result that its owner could not know is a repeat rather than late. The same applies to a delivery
        // whose result the broker first refused.
        guard truth.resultsOf[attempt.delivery].isEmpty, !truth.wasRefused[attempt.delivery],
            !setAside.contains(truth.item(of: attempt.delivery)), !failed.contains(attempt.delivery)
        else { return nil }
        if truth.places[truth.item(of: attempt.delivery)]?.isHidden == true { return nil }
        let ownership = truth.ownerships[attempt.ownership]
        for (later, delivery) in accepted[story] ?? [] where later > offset(attempt.delivery, truth) {
            // Offsets of different incarnations are not comparable.
            let sent = truth.places[truth.item(of: attempt.delivery)]?.isGone
            guard sent == false, truth.places[truth.item(of: delivery)]?.isGone == false else { continue }
            if truth.resultsOf[delivery].contains(where: {
                $0.outcome == .accepted && ownership.knows($0, as: attempt.ownership)
                    && !wasReadOn($0, past: attempt.delivery, truth)
            }) {
                return "\(name) left although \(truth.name(delivery)) of the same story was accepted before"
            }
        }
        return nil
    }

    /// Returns true for an event that the held topic refused, so that it waits for its time here, and a copy of another kind that left
    /// meanwhile: an operator's redrive is not compared with what was published, a failed delivery reached nobody, and news for single
    /// readers that has waited is compared with other news of its story only by versions.
    private func mayFollow(_ delivery: Int, _ former: Int, _ truth: GroundTruth) -> Bool {
        guard setAside.contains(truth.item(of: delivery)) else { return false }
        if case .redriven? = truth.news(of: former).copy { return true }
        return failed.contains(former) || truth.news(of: delivery).isPersonal || truth.news(of: former).isPersonal
    }

    /// Returns true if the owner read on in another incarnation without noticing, past a delivery that it never read.
    /// `CommitsBehindResults` ensures that its start offset skipped no delivery without a result.
    private func wasReadOn(
        _ result: GroundTruth.StoredResult, past delivery: Int, _ truth: GroundTruth
    ) -> Bool {
        guard let number = result.ownership else { return false }
        return !truth.takenBy[truth.item(of: delivery)].contains(number)
    }

    private func offset(_ delivery: Int, _ truth: GroundTruth) -> Int64 {
        truth.places[truth.item(of: delivery)]?.offset ?? 0
    }
}
