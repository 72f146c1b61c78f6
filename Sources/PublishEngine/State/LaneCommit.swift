import KafkaModel
import NewsModel

/// When a lane commits, and what it committed: one commit under way at a time.
struct LaneCommit: Sendable {
    private(set) var state = State.idle
    private(set) var notBefore = Instant.distantPast
    /// Everything is committed anew then although nothing moved: brokers forget offsets of topics a group does not
    /// read (KIP-211), L among them.
    private(set) var renewAt = Instant.distantFuture
    /// L as last committed, by results partition.
    var ledger: [Int32: Int64] = [:]
    /// Commits that failed in a row.
    private(set) var failing: Failing?

    enum State: Sendable, Hashable {
        /// Nothing moved since the last commit. Next: `moved`.
        case idle
        /// Something moved, and replies or acknowledgements may be worth waiting for. Next: `due`.
        case moved
        /// Only time stands between the lane and its next commit. Next: `underWay`, or `idle` when there is nothing to commit.
        case due
        /// Next: `idle` or, if something moved meanwhile, `moved`.
        case underWay(hasMoved: Bool)
    }

    struct Failing: Sendable {
        let since: Instant
        var failure: KafkaFailure
        var count = 1
    }

    static let renewInterval = Duration.seconds(12 * 3600)
    static let longestRest = Duration.seconds(5)
    /// An idle lane moves its L along when other lanes' results have gone so far ahead.
    static let ledgerStep: Int64 = 2048

    /// Nothing is to be committed, and nothing is under way.
    var isIdle: Bool { state == .idle }
    /// Something is to be committed, and nothing is under way.
    var isOpen: Bool { state == .moved || state == .due }

    var isUnderWay: Bool { if case .underWay = state { true } else { false } }

    /// Something moved.
    mutating func note() {
        switch state {
        case .idle: state = .moved
        case .moved, .due: break
        case .underWay: state = .underWay(hasMoved: true)
        }
    }

    /// Moves made so far are not committed any more.
    mutating func forget() { state = isUnderWay ? .underWay(hasMoved: false) : .idle }

    /// A new assignment: another owner may have committed meanwhile.
    mutating func assigned(at now: Instant) {
        forget()
        ledger = [:]
        renewAt = now + Self.renewInterval
    }

    /// Everything is due again.
    mutating func renew(at now: Instant) { renewAt = now + Self.renewInterval }

    /// The last commit of partitions or process goes out at once.
    mutating func hurry(at now: Instant) { notBefore = now }

    /// Something moved; it is due unless something is worth waiting for.
    ///
    /// - Returns: `true` if it is to be committed now.
    mutating func takeDue(at now: Instant, mustWait: Bool) -> Bool {
        state = mustWait ? .moved : .due
        guard !mustWait, now >= notBefore else { return false }
        state = .idle
        return true
    }

    mutating func begin(at now: Instant, interval: Duration) {
        state = .underWay(hasMoved: false)
        notBefore = now + interval
    }

    mutating func succeeded() {
        end()
        failing = nil
    }

    mutating func failed(_ failure: KafkaFailure, at now: Instant, interval: Duration) {
        end()
        failing = Failing(since: failing?.since ?? now, failure: failure, count: (failing?.count ?? 0) + 1)
        var rest = interval
        for _ in 1..<min(failing?.count ?? 1, 11) { rest = min(rest * 2, max(Self.longestRest, interval)) }
        notBefore = now + rest
    }

    private mutating func end() {
        if case .underWay(let hasMoved) = state { state = hasMoved ? .moved : .idle }
    }
}

/// The watermark that was given to be committed, and the first results of records that are finished, but may still stand
/// above the watermark that the broker has: it may refuse the watermark and take L.
struct WatermarkCommit: Sendable {
    /// `nil`: it goes out once more although it has not moved.
    private(set) var watermark: Int64?
    /// Of records finished since the watermark was given.
    private var uncommitted = Int64.max
    /// Of those that it covers.
    private var underCommit = Int64.max

    var firstResult: Int64 { min(uncommitted, underCommit) }

    mutating func begin(_ watermark: Int64) {
        self.watermark = watermark
        underCommit = min(underCommit, uncommitted)
        uncommitted = .max
    }

    /// The broker has, or has not, taken the watermark that was given last.
    mutating func finish(isTaken: Bool) {
        if !isTaken { uncommitted = min(uncommitted, underCommit) }
        underCommit = .max
    }

    mutating func repeatWatermark() { watermark = nil }
    mutating func note(firstResult: Int64) { uncommitted = min(uncommitted, firstResult) }
    mutating func forgetResultOffsets() { (uncommitted, underCommit) = (.max, .max) }
}
