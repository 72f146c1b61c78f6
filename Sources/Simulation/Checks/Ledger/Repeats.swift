import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// G3: nothing is sent twice, with two exceptions. One is a delivery in flight without a stored result when its owner crashed or
/// lost the partition. The other is a delivery without a clear answer in a lane that retries.
struct Repeats: Checker {
    let promise = Promise.repeats

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .sent(let number, _, _) = fact else { return nil }
        let attempt = truth.attempts[number]
        let name = truth.name(attempt.delivery)
        guard attempt.ownership >= 0, truth.ownerships[attempt.ownership].isRestored else {
            return "\(name) was sent by one that does not have its partition"
        }
        let known = truth.resultsOf[attempt.delivery].first {
            truth.ownerships[attempt.ownership].knows($0, as: attempt.ownership)
        }
        if let known { return "\(name) was sent, but it had ended as \(known.outcome.rawValue)" }
        for earlier in truth.attemptsOf[attempt.delivery] where earlier != number {
            guard truth.attempts[earlier].ownership == attempt.ownership else { continue }
            guard let reply = truth.attempts[earlier].reply else { return "\(name) is under way twice at once" }
            switch reply.meaning {
            // The next send of the delivery, to other readers.
            case .accepted where truth.attempts[earlier].tags != attempt.tags: break
            case .accepted: return "\(name) was sent again after it was accepted"
            case .refusedEvent, .invalid: return "\(name) was sent again after it was rejected"
            case .unknownAcceptance:
                if truth.scenario.setting.lanes[truth.ownerships[attempt.ownership].lane].onUnknown == .giveUp {
                    return "\(name) was sent again although its lane gives up"
                }
            case .busy, .connectionLost, .unreachable, .tokenRefused, .forbidden, .missingHub, .certificate: break
            }
        }
        return nil
    }
}
