import NewsModel
import PublishEngine

/// G3: nothing is sent twice but what was under way, without a stored result, when its owner crashed or lost the
/// partition, and what got no clear answer in a lane whose policy is to try again.
struct Repeats: Checker {
    let promise = Promise.repeats

    mutating func see(_ fact: Fact, _ books: Books) -> String? {
        guard case .sent(let number) = fact else { return nil }
        let attempt = books.attempts[number]
        let name = books.name(attempt.delivery)
        guard attempt.tenure >= 0, books.tenures[attempt.tenure].restored != nil else {
            return "\(name) was sent by one that does not have its partition"
        }
        let known = books.resultsOf[attempt.delivery].first {
            books.tenures[attempt.tenure].knows($0, as: attempt.tenure)
        }
        if let known { return "\(name) was sent, but it had ended as \(known.outcome.rawValue)" }
        for earlier in books.attemptsOf[attempt.delivery] where earlier != number {
            guard books.attempts[earlier].tenure == attempt.tenure else { continue }
            guard let reply = books.attempts[earlier].reply else { return "\(name) is under way twice at once" }
            switch Judge.verdict(on: reply) {
            case .accepted: return "\(name) was sent again after it was accepted"
            case .rejected: return "\(name) was sent again after it was rejected"
            case .unknown:
                if books.life.setting.lanes[books.tenures[attempt.tenure].lane].onUnknown == .giveUp {
                    return "\(name) was sent again although its lane gives up"
                }
            case .notAccepted, .unreachable, .tokenRefused, .halt: break
            }
        }
        return nil
    }
}
