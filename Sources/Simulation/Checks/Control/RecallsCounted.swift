import EditorialControl
import NewsModel
import PublishEngine

/// A process that answers a recall counts all requests of the story whose results may still say that the hub has accepted them.
/// A replacement waits for these results.
///
/// Partitions that the process no longer owned when it answered do not count. Neither do replacements: they go to readers who have the
/// story already, so that their results change nobody's replacement.
struct RecallsCounted: Checker {
    let promise = Promise.recallsCounted
    /// The stories of the recalls that each process has received and not answered, by order.
    private var unanswered: [Address: [String: String]] = [:]
    private var answers: [Address: [String: Answer]] = [:]

    private struct Answer {
        var order: AppliedOrder
        /// Number of results stored since the answer that do not rule out acceptance.
        var late = 0
        /// The partitions whose ledger the process had read. With the others it may take over deliveries that a former owner had
        /// sent to some of their readers.
        let owned: Set<Int>
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .died(let address): (unanswered[address], answers[address]) = (nil, nil)
        case .input(let address, .orders(let changes)):
            for change in changes {
                guard case .recall(let story) = change.scope else { continue }
                answers[address]?[story] = nil
                guard case .stands(let order) = change else { continue }
                unanswered[address, default: [:]][order.id] = story
            }
        case .applied(let address, let order):
            guard let story = unanswered[address]?.removeValue(forKey: order.order) else { return nil }
            answers[address, default: [:]][story] = Answer(order: order, owned: owned(address, truth))
        case .stored(let delivery, let result, _):
            guard result.outcome == .accepted || result.outcome == .unknown, let ownership = result.ownership else {
                return nil
            }
            let owner = truth.ownerships[ownership]
            let story = truth.news(of: delivery).story
            guard truth.news(of: delivery).replacement == nil else { return nil }
            guard owner.end == nil, let answer = answers[owner.address]?[story], answer.owned.contains(ownership)
            else { return nil }
            answers[owner.address]?[story]?.late += 1
            guard answer.late >= answer.order.inFlight else { return nil }
            return
                "\(truth.name(delivery)) is \(result.outcome.rawValue), but the answer to recall \(answer.order.order) "
                + "counted only \(answer.order.inFlight) such requests"
        default: break
        }
        return nil
    }

    private func owned(_ address: Address, _ truth: GroundTruth) -> Set<Int> {
        Set(
            truth.ownerships.indices.filter {
                let ownership = truth.ownerships[$0]
                return ownership.address == address && ownership.end == nil && ownership.isRestored
            })
    }
}
