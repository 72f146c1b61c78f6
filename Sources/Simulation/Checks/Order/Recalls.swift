import EditorialControl
import NewsModel
import PublishEngine

/// G11 within a process: after its engine has received a canceled record, nothing of the story leaves in any lane. This includes
/// waiting and later deliveries. It lasts until the process ends or an editor lifts the recall. A request in flight is not
/// retried.
struct Recalls: Checker {
    let promise = Promise.recalls
    /// The recalled stories of each process, with the time at which its engine had examined the last canceled record.
    private var recalled: [Address: [String: Instant]] = [:]
    /// Canceled records delivered to an engine and possibly not examined yet, because a lane may be stopped. The key is the
    /// ownership.
    private var pending: [Int: Set<Int>] = [:]
    /// Time at which any process lifted a recall of the story. Older events do not restore it.
    private var lifted: [String: Instant] = [:]
    /// Time at which the order that recalls a story lapses, by the wall clock.
    private var lapses: [String: Instant] = [:]
    /// The largest error that any clock has had.
    private var clockError = Duration.zero

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .taken(let ownership, let items):
            for item in items where truth.news[item].kind == .canceled {
                pending[ownership, default: []].insert(item)
            }
        case .acted(let address, let snapshot) where snapshot.counts.unexamined == 0 && !pending.isEmpty:
            // Records not examined when their partition was revoked are left to the next owner.
            for (ownership, items) in pending
            where truth.ownerships[ownership].address == address && truth.ownerships[ownership].revokedAt == nil {
                for item in items where !isTakenBack(item, truth) && !isReported(item, ownership, truth) {
                    recalled[address, default: [:]][truth.news[item].story] = truth.now
                }
                pending[ownership] = nil
            }
        // The next owner reads unexamined records again.
        case .ended(let ownership): pending[ownership] = nil
        case .settled(let delivery, let ownership, let result, let address)
        where result.outcome == .canceled && truth.news(of: delivery).kind == .canceled
            && !isTakenBack(truth.item(of: delivery), truth)
            && !isReported(truth.item(of: delivery), ownership, truth):
            recalled[address, default: [:]][truth.news(of: delivery).story] = truth.now
        case .clockStepped(_, let size, let wallBefore):
            let offset = wallBefore + size - truth.now
            clockError = max(clockError, offset, .zero - offset)
        case .controlled(let row):
            if case .stands(let order) = row.meaning, case .recall(let story) = order.scope {
                if let lapse = lapses[story], lapse <= truth.now + clockError { end(story, before: lapse) }
                lapses[story] = order.until
            }
            guard case .lifted(.recall(let story)) = row.meaning else { return nil }
            lifted[story] = truth.now
            for ownership in pending.keys {
                pending[ownership] = pending[ownership]?.filter { truth.news[$0].story != story }
            }
            end(story, before: .distantFuture)
        case .sent(let number, let address, _):
            let delivery = truth.attempts[number].delivery
            let story = truth.news(of: delivery).story
            // `ReplacementsKept` checks replacements, which leave by the recall of a desk.
            guard recalled[address]?[story] != nil, truth.news(of: delivery).replacement == nil else {
                return nil
            }
            if let lapse = lapses[story], lapse <= truth.now + clockError { return nil }
            return "\(truth.name(delivery)) left after its story had been recalled"
        default: break
        }
        return nil
    }

    /// Forgets recalls that an order has ended. A process may obey a later recall that it has not read yet.
    private mutating func end(_ story: String, before time: Instant) {
        for address in recalled.keys where recalled[address]?[story].map({ $0 <= time }) ?? false {
            recalled[address]?[story] = nil
        }
    }

    /// Returns true if another process or a former run reported the recall, and this engine knew it when it examined the record.
    /// With a control topic, a single result proves that the order was written or lifted since, and `OrdersObeyed` checks it.
    /// Otherwise all results must be known, because only then is the record not examined again. Results that retention has removed
    /// since the engine read them still count.
    private func isReported(_ item: Int, _ ownership: Int?, _ truth: GroundTruth) -> Bool {
        guard let ownership else { return false }
        let owner = truth.ownerships[ownership]
        func isKnown(_ delivery: Int) -> Bool {
            truth.resultsOf[delivery].contains { owner.seen.contains($0.offset) }
        }
        let deliveries = truth.deliveries(of: item)
        return truth.scenario.setting.hasControl
            ? deliveries.contains(where: isKnown) : deliveries.allSatisfy(isKnown)
    }

    private func isTakenBack(_ item: Int, _ truth: GroundTruth) -> Bool {
        guard let lifted = lifted[truth.news[item].story], let place = truth.places[item] else { return false }
        // The event is dated by its record's timestamp or by the clock of the process that reads it.
        return min(place.publishedAt, truth.news[item].record.timestamp ?? place.publishedAt) <= lifted + clockError
    }
}
