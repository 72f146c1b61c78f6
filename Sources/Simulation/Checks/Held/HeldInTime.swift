import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// While its owner's clock on the wall is right, nothing held for an embargo is back on its lane before its time has come, or it
/// has expired. What comes back just after the clock was set may have been decided by the clock as it was.
struct HeldInTime: Checker {
    let promise = Promise.heldInTime
    private var setAt: [Address: Instant] = [:]

    /// As long as a slow broker may take to write what was decided.
    private static let longestWrite = Duration.seconds(60)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        if case .clockStepped(let address, _, _) = fact { setAt[address] = truth.now }
        guard case .returned(_, let item, let event, .due, let address, let wall) = fact, wall == truth.now,
            setAt[address].map({ truth.now - $0 > Self.longestWrite }) ?? true, event.because == .embargo,
            let embargo = truth.news[item].embargoUntil, embargo > truth.now,
            truth.news[item].expiresAt.map({ $0 > truth.now }) ?? true
        else { return nil }
        return "\(truth.news[item].eventID) came back \((embargo - truth.now).short) before its embargo ends"
    }
}
