import KafkaModel
import NewsModel

/// The passes over the held topic in which due events return, and the rests between them.
struct HeldPasses: Sendable {
    private var state = State.none

    private enum State: Sendable {
        case none
        /// Events return. Followed by `resting`.
        case reading(left: Int, since: Instant, rests: Bool)
        /// Followed by `none`.
        case resting(until: Instant)
    }

    /// Longest rest after a pass that returned everything due. The rest is as long as the pass took, because reading a
    /// long topic for many events at once saves work.
    static let longestRest = Duration.seconds(10)

    /// Returns in one pass. Each takes little memory, because the originals are never buffered together.
    static let countMax = 10_000

    var mayBegin: Bool { if case .none = state { true } else { false } }
    var restsUntil: Instant? { if case .resting(let until) = state { until } else { nil } }

    /// - Parameter rests: a rest follows, because the pass returns everything that is due.
    mutating func begin(_ count: Int, rests: Bool, at now: Instant) {
        state = .reading(left: count, since: now, rests: rests)
    }

    /// One of the pass's events has returned or failed to.
    mutating func end(at now: Instant) {
        guard case .reading(let left, let since, let rests) = state else { return }
        if left > 1 {
            state = .reading(left: left - 1, since: since, rests: rests)
        } else {
            state = .resting(until: rests ? now + min(now - since, Self.longestRest) : now)
        }
    }

    /// Ends a rest that is over.
    mutating func wake(at now: Instant) { if let until = restsUntil, until <= now { state = .none } }
}

/// A step of an event's return, or of its rewriting, that was not answered yet.
struct HeldStep: Sendable {
    var story: UInt64
    var kind: Kind
    /// The lane to which the pace counts this return; `nil` if it does not.
    var pacedTo: LaneID?

    enum Kind { case putBack, erase, writeAgain }
}
