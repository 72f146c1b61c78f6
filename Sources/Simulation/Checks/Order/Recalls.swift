import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// G11 within a process: once its engine has taken the canceled record, nothing of the story leaves any more in any lane, be
/// it waiting or still to come, until the process ends or an editor lifts the recall. A request in flight by then is not tried
/// again.
struct Recalls: Checker {
    let promise = Promise.recalls
    private var recalled: [Address: Set<String>] = [:]
    /// Handed over, and maybe not examined yet: a lane may be stopped.
    private var pending: [Int: Set<String>] = [:]
    /// When a recall of the story was lifted, by any process: older events do not bring it back.
    private var lifted: [String: Instant] = [:]
    /// When the order that recalls a story lapses, by the clock on the wall.
    private var lapses: [String: Instant] = [:]
    /// The largest that any clock has been wrong by.
    private var clockError = Duration.zero

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .taken(let ownership, let items):
            for item in items
            where truth.news[item].kind == .canceled && !isTakenBack(item, truth)
                && !isReported(item, ownership, truth)
            {
                pending[ownership, default: []].insert(truth.news[item].story)
            }
        case .acted(let address, let snapshot) where snapshot.counts.unexamined == 0 && !pending.isEmpty:
            // Records not examined when their partition was revoked are left to the next owner.
            for (ownership, stories) in pending
            where truth.ownerships[ownership].address == address && truth.ownerships[ownership].revokedAt == nil {
                recalled[address, default: []].formUnion(stories)
                pending[ownership] = nil
            }
        // Records not examined are read again by the next owner.
        case .ended(let ownership): pending[ownership] = nil
        case .settled(let delivery, let ownership, let result, let address)
        where result.outcome == .canceled && truth.news(of: delivery).kind == .canceled
            && !isTakenBack(truth.item(of: delivery), truth)
            && !isReported(truth.item(of: delivery), ownership, truth):
            recalled[address, default: []].insert(truth.news(of: delivery).story)
        case .clockStepped(_, let size, let wallBefore):
            let offset = wallBefore + size - truth.now
            clockError = max(clockError, offset, .zero - offset)
        case .controlled(let row):
            if case .stands(let order) = row.meaning, case .recall(let story) = order.scope {
                lapses[story] = order.until
            }
            guard case .lifted(.recall(let story)) = row.meaning else { return nil }
            lifted[story] = truth.now
            for ownership in pending.keys { pending[ownership]?.remove(story) }
            for address in recalled.keys { recalled[address]?.remove(story) }
        case .sent(let number, let address, _):
            let delivery = truth.attempts[number].delivery
            let story = truth.news(of: delivery).story
            guard recalled[address]?.contains(story) == true else { return nil }
            if let lapse = lapses[story], lapse <= truth.now + clockError { return nil }
            return "\(truth.name(delivery)) left after its story had been recalled"
        default: break
        }
        return nil
    }

    /// The recall was reported in a former life. Where recalls are kept on the control topic, a single result says that the order
    /// stands there or was lifted since, and `OrdersObeyed` watches it. Elsewhere all results must be known: only then is the
    /// record not examined again.
    private func isReported(_ item: Int, _ ownership: Int?, _ truth: GroundTruth) -> Bool {
        guard let ownership else { return false }
        let owner = truth.ownerships[ownership]
        func isKnown(_ delivery: Int) -> Bool {
            truth.resultsOf[delivery].contains { owner.knows($0, as: ownership) }
        }
        let deliveries = truth.deliveries(of: item)
        return truth.scenario.setting.hasControl
            ? deliveries.contains(where: isKnown) : deliveries.allSatisfy(isKnown)
    }

    private func isTakenBack(_ item: Int, _ truth: GroundTruth) -> Bool {
        guard let lifted = lifted[truth.news[item].story], let place = truth.places[item] else { return false }
        // By the time of its record, or by the clock of the process that reads it.
        return min(place.publishedAt, truth.news[item].record.timestamp ?? place.publishedAt) <= lifted + clockError
    }
}
