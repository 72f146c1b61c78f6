import KafkaModel
import NewsModel

/// Decides when a lane commits, and records its commits: at most one is in flight.
struct LaneCommit: Sendable {
    private(set) var state = State.idle
    private(set) var notBefore = Instant.distantPast
    /// The time when all offsets are committed again although none moved. Brokers forget offsets, L among them, of
    /// topics that a group does not read (KIP-211).
    private(set) var renewAt = Instant.distantFuture
    /// L as last committed, by results partition.
    private var ledger: [Int32: Int64] = [:]
    /// Commits that failed in a row.
    private(set) var failing: Failing?
    /// Deliveries that wait until their progress is committed, and those that the commit in flight covers. The lane's window
    /// bounds their number.
    private var awaiting: [DeliveryID] = []
    private var underCommit: [DeliveryID] = []
    /// Deliveries whose progress was committed.
    private(set) var committed: [DeliveryID] = []

    enum State: Sendable, Hashable {
        /// Nothing moved since the last commit. Followed by `moved`.
        case idle
        /// An offset moved, and replies or acknowledgements may be worth waiting for. Followed by `due`.
        case moved
        /// The next commit waits only for its time. Followed by `underWay`, or `idle` if there is nothing to commit.
        case due
        /// Followed by `idle` or, if an offset moved meanwhile, `moved`.
        case underWay(hasMoved: Bool)
    }

    struct Failing: Sendable {
        let since: Instant
        var failure: KafkaFailure
        var count = 1
    }

    static let renewInterval = Duration.seconds(12 * 3600)
    static let longestRest = Duration.seconds(5)
    /// An idle lane advances its L when other lanes' results are this many offsets ahead.
    static let ledgerStep: Int64 = 2048
    /// After this many failures in a row, deliveries go on without their progress being committed, and a partition is released
    /// without a last commit.
    static let failuresMax = 3

    /// Records L of a results partition.
    ///
    /// - Returns: `false` if it did not move far enough to be committed. `mustGo` commits it anyway.
    mutating func advanceLedger(of partition: Int32, to start: Int64, mustGo: Bool) -> Bool {
        // L falls when a new incarnation is read from its beginning.
        let hasMoved = ledger[partition].map { start < $0 || start >= $0 + Self.ledgerStep } ?? true
        guard hasMoved || mustGo else { return false }
        ledger[partition] = start
        return true
    }

    mutating func forgetLedger() { ledger = [:] }

    /// Nothing is to be committed, and no commit is in flight.
    var isIdle: Bool { state == .idle }
    /// A commit is due or will be, and none is in flight.
    var isOpen: Bool { state == .moved || state == .due }

    var isUnderWay: Bool { if case .underWay = state { true } else { false } }

    /// Records that an offset moved.
    mutating func note() {
        switch state {
        case .idle: state = .moved
        case .moved, .due: break
        case .underWay: state = .underWay(hasMoved: true)
        }
    }

    /// Drops the moves noted up to now.
    mutating func forget() { state = isUnderWay ? .underWay(hasMoved: false) : .idle }

    /// Starts a new assignment: another owner may have committed meanwhile.
    mutating func assigned(at now: Instant) {
        forget()
        ledger = [:]
        (awaiting, underCommit, committed) = ([], [], [])
        renewAt = now + Self.renewInterval
    }

    /// Schedules the next full commit.
    mutating func renew(at now: Instant) { renewAt = now + Self.renewInterval }

    /// Lets the last commit of a release or shutdown go out at once.
    mutating func hurry(at now: Instant) { notBefore = now }

    /// Makes the commit due, unless replies or acknowledgements are worth waiting for.
    ///
    /// - Returns: `true` if it must be committed now.
    mutating func takeDue(at now: Instant, mustWait: Bool) -> Bool {
        state = mustWait ? .moved : .due
        guard !mustWait, now >= notBefore else { return false }
        state = .idle
        return true
    }

    /// Lets a delivery wait until its progress is committed, which is due at once.
    mutating func wait(for delivery: DeliveryID, at now: Instant) {
        note()
        guard failing?.count ?? 0 < Self.failuresMax else { return committed.append(delivery) }
        awaiting.append(delivery)
        if failing == nil { notBefore = min(notBefore, now) }
    }

    /// Deliveries wait for a commit.
    var isAwaited: Bool { !awaiting.isEmpty || !underCommit.isEmpty }

    /// Removes and returns the deliveries that may go on.
    mutating func takeCommitted() -> [DeliveryID] {
        guard !committed.isEmpty else { return [] }
        defer { committed = [] }
        return committed
    }

    /// There was nothing to commit.
    mutating func skip() {
        committed += awaiting
        awaiting = []
    }

    mutating func begin(at now: Instant, interval: Duration) {
        underCommit += awaiting
        awaiting = []
        state = .underWay(hasMoved: false)
        notBefore = now + interval
    }

    mutating func succeeded() {
        end()
        failing = nil
        committed += underCommit
        underCommit = []
        if !awaiting.isEmpty { notBefore = .distantPast }
    }

    mutating func failed(_ failure: KafkaFailure, at now: Instant, interval: Duration) {
        end()
        failing = Failing(since: failing?.since ?? now, failure: failure, count: (failing?.count ?? 0) + 1)
        var rest = interval
        for _ in 1..<min(failing?.count ?? 1, 11) { rest = min(rest * 2, max(Self.longestRest, interval)) }
        notBefore = now + rest
        if failing?.count ?? 0 >= Self.failuresMax { committed += underCommit } else { awaiting += underCommit }
        underCommit = []
    }

    private mutating func end() {
        if case .underWay(let hasMoved) = state { state = hasMoved ? .moved : .idle }
    }
}

/// The watermark that was last committed, and the first results of finished records that may be above the broker's
/// watermark. The broker may refuse the watermark and accept L.
struct WatermarkCommit: Sendable {
    /// The watermark in the last commit; `nil` to commit it again unchanged.
    private(set) var watermark: Int64?
    /// The first result of records finished since the last commit.
    private var uncommitted = Int64.max
    /// The first result of records that the commit in flight covers.
    private var underCommit = Int64.max

    var firstResult: Int64 { min(uncommitted, underCommit) }

    mutating func begin(_ watermark: Int64) {
        self.watermark = watermark
        underCommit = min(underCommit, uncommitted)
        uncommitted = .max
    }

    /// Records if the broker accepted the last watermark.
    mutating func finish(isTaken: Bool) {
        if !isTaken { uncommitted = min(uncommitted, underCommit) }
        underCommit = .max
    }

    mutating func repeatWatermark() { watermark = nil }
    mutating func note(firstResult: Int64) { uncommitted = min(uncommitted, firstResult) }
    mutating func forgetResultOffsets() { (uncommitted, underCommit) = (.max, .max) }
}
