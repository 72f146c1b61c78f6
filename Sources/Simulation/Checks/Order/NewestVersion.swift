import NewsModel
import NotificationHub
import PublishEngine

/// A process does not send an older version of a story if its own work or the ledger shows that a newer one was accepted. No
/// process sends a returned older version while the results topic keeps the newer one's result. A process that has read a withheld
/// version sends no older version afterwards. Checked only if the duplicate window covers the whole life.
struct NewestVersion: Checker {
    let promise = Promise.newestVersion
    /// Accepted deliveries with their versions, by story.
    private var accepted: [GroundTruth.Story: [(version: Int, delivery: Int)]] = [:]
    /// Versions that are withheld because of their status, by story.
    private var withheld: [GroundTruth.Story: [(version: Int, delivery: Int, ownership: Int?)]] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard truth.scenario.setting.engine.duplicateWindow >= 1024 else { return nil }
        switch fact {
        case .settled(let delivery, _, let result, _) where result.outcome == .accepted:
            guard let version = truth.news(of: delivery).version else { return nil }
            accepted[truth.story(of: delivery), default: []].append((version, delivery))
        case .settled(let delivery, let ownership, let result, _)
        where result.outcome == .withheld && result.error?.code == "withheld":
            guard let version = truth.news(of: delivery).version else { return nil }
            withheld[truth.story(of: delivery), default: []].append((version, delivery, ownership))
        case .sent(let number, _, _):
            let attempt = truth.attempts[number]
            guard attempt.ownership >= 0, let version = truth.news(of: attempt.delivery).version else { return nil }
            for newer in withheld[truth.story(of: attempt.delivery)] ?? []
            where newer.version > version && newer.ownership == attempt.ownership {
                return "\(truth.name(attempt.delivery)) was sent after \(truth.name(newer.delivery)) had been withheld"
            }
            let isReturned = truth.news(of: attempt.delivery).isReturned
            for newer in accepted[truth.story(of: attempt.delivery)] ?? [] where newer.version > version {
                let isKnown = truth.resultsOf[newer.delivery].contains {
                    $0.outcome == .accepted
                        && (isReturned && truth.isKept($0)
                            || truth.ownerships[attempt.ownership].hasSeen($0, as: attempt.ownership))
                }
                if isKnown { return "\(truth.name(attempt.delivery)) was sent after \(truth.name(newer.delivery))" }
            }
        default: break
        }
        return nil
    }
}

extension GroundTruth {
    /// Returns true if the result is still on the results topic.
    func isKept(_ result: StoredResult) -> Bool {
        ledger[result.partition].map { result.offset >= $0.start } ?? false
    }
}
