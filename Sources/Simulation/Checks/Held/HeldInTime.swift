import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// While its owner's clock on the wall is right, nothing held for an embargo is back on its lane before its time has come, or it
/// has expired.
struct HeldInTime: Checker {
    let promise = Promise.heldInTime

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .returned(_, let item, let event, .due, _, let wall) = fact, wall == truth.now,
            event.because == .embargo, let embargo = truth.news[item].embargoUntil, embargo > truth.now,
            truth.news[item].expiresAt.map({ $0 > truth.now }) ?? true
        else { return nil }
        return "\(truth.news[item].eventID) came back \((embargo - truth.now).short) before its embargo ends"
    }
}
