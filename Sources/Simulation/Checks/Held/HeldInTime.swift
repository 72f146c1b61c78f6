import EditorialControl
import NewsModel
import PublishEngine

/// An event held for an embargo does not return before its embargo ends, unless it has expired. This holds while the clock of its
/// owner is right, or after the hub has told the owner that it is not. An event that returns just after the clock was set may have
/// been decided by the former clock.
struct HeldInTime: Checker {
    let promise = Promise.heldInTime
    private var setAt: [Address: Instant] = [:]
    /// The time at which a process first heard from the hub after its clock was set.
    private var heardHubAt: [Address: Instant] = [:]

    /// The longest time that a slow broker takes to write a return.
    private static let longestWrite = Duration.seconds(60)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        if case .clockStepped(let address, _, _) = fact { (setAt[address], heardHubAt[address]) = (truth.now, nil) }
        if case .input(let address, .hubDate) = fact { heardHubAt[address] = heardHubAt[address] ?? truth.now }
        guard case .returned(_, let item, let event, .due, let address, let wall) = fact,
            wall == truth.now || hasHeardHub(address, truth.now),
            setAt[address].map({ truth.now - $0 > Self.longestWrite }) ?? true, event.because == .embargo,
            let embargo = truth.news[item].embargoUntil,
            embargo > truth.now + (wall == truth.now ? .zero : ClockWitnesses.tolerance + .seconds(2)),
            truth.news[item].expiresAt.map({ $0 > truth.now }) ?? true
        else { return nil }
        return "\(truth.news[item].eventID) came back \((embargo - truth.now).short) before its embargo ends"
    }

    private func hasHeardHub(_ address: Address, _ now: Instant) -> Bool {
        heardHubAt[address].map { now - $0 > Self.longestWrite } ?? false
    }
}
