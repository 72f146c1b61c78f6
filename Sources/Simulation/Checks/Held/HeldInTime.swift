import EditorialControl
import NewsModel
import PublishEngine

/// An event held for an embargo does not return before its embargo ends, unless it has expired. No clock of a process may cause that:
/// the hub's clock is right, and a process returns nothing before it has heard it. Clocks may differ from the hub's by the tolerance.
/// An event that returns just after the clock was set may have been decided by the former clock. An event whose place another one of
/// its story has taken waits on its lane instead.
struct HeldInTime: Checker {
    let promise = Promise.heldInTime
    private var setAt: [Address: Instant] = [:]
    /// The item in each place for a story.
    private var holders: [HeldComesBack.Line: Int] = [:]
    private var displaced: Set<Int> = []

    /// The longest time that a slow broker takes to write a return.
    private static let longestWrite = Duration.seconds(60)

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        if case .clockStepped(let address, _, _) = fact { setAt[address] = truth.now }
        if case .standsHeld(let item, let partition) = fact {
            let line = HeldComesBack.Line(partition, truth.news[item])
            if let former = holders.updateValue(item, forKey: line), former != item { displaced.insert(former) }
        }
        guard case .returned(_, let item, let event, .due, let address, let wall) = fact, event.because == .embargo,
            !displaced.contains(item), let embargo = truth.news[item].embargoUntil,
            embargo > truth.now + (isRight(address, wall, truth) ? .zero : ClockWitnesses.tolerance + .seconds(2)),
            truth.news[item].expiresAt.map({ $0 > truth.now }) ?? true
        else { return nil }
        return "\(truth.news[item].eventID) came back \((embargo - truth.now).short) before its embargo ends"
    }

    /// Returns true if the process's wall clock is right and was not set lately.
    private func isRight(_ address: Address, _ wall: Instant, _ truth: GroundTruth) -> Bool {
        wall == truth.now && setAt[address].map { truth.now - $0 > Self.longestWrite } ?? true
    }
}
