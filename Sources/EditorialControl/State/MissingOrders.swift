import KafkaModel
import NewsModel

/// Finds out, when a process starts, if the topic has lost orders in force. After records were removed from it, running processes obey
/// orders that they have not written again yet. Their beats say how many. After a standstill, the beats also say if orders that are
/// missing on the topic have ended.
struct MissingOrders: Sendable {
    /// Offset of the last record that gave or lifted an order.
    private var changedAt: Int64 = -1
    /// True if records were removed from the topic's beginning.
    private var isCut = false
    /// The latest time of the log on the topic's beats, without those of this run.
    private var latest: Duration?
    /// The time for which these beats show that processes were running.
    private var history = Duration.zero
    /// Processes whose last comparable beat named more orders than the topic had before it, and that number.
    private var holders: [String: Int] = [:]
    /// Processes whose last comparable beat named no more orders than the topic had before it.
    private var content: Set<String> = []
    /// Processes that had read every order that this one obeys, before this one stood still.
    private var peers: Set<String> = []
    /// True if one of them was running once the topic had been read.
    private var wereHeld = false
    /// Time of the first end of a reading, by the monotonic clock.
    private var followedSince: Instant?

    /// The longest wait. Running processes write missing orders again within 20 s, or 20 s after a standstill.
    static let patience = Duration.seconds(60)
    private static let capacity = 1_000

    /// - Parameter start: the first offset of the topic.
    mutating func begin(start: Int64) {
        (isCut, latest, history, holders, changedAt) = (start > 0, nil, .zero, [:], -1)
        content = []
    }

    mutating func changed(at offset: Int64) { changedAt = max(changedAt, offset) }

    /// Handles a beat of another process while the topic is followed without interruption.
    ///
    /// - Parameter count: the number of orders that this process obeys.
    mutating func met(_ beat: ControlRecord.Beat, obeying count: Int) {
        guard let obeyed = beat.orders, let appliedTo = beat.appliedTo, appliedTo >= changedAt, obeyed >= count,
            peers.count < Self.capacity
        else { return }
        peers.insert(beat.replica)
    }

    /// An order was given that other processes may not have read.
    mutating func forgetPeers() { peers = [] }

    /// True if a process that had read all our orders obeys no order that is missing on the topic. Those that are missing have ended.
    var haveEnded: Bool { !peers.isDisjoint(with: content) }

    /// - Parameters:
    ///   - offset: the offset of the beat.
    ///   - known: the number of orders in force on the topic before the beat.
    ///   - isOurs: the beat is this process's, or that of a former run under its name.
    mutating func heard(_ beat: ControlRecord.Beat, at offset: Int64, known: Int, isOurs: Bool) {
        if let time = beat.logTime, !isOurs || followedSince == nil {
            // The first processes on an emptied topic begin with zero, until an older one writes its later time. Running processes
            // leave no such gap, so none of it counts.
            let gap = latest.map { max(.zero, time - $0) } ?? .zero
            if gap <= ControlRecord.Beat.writtenWithin { history += gap }
            latest = max(latest ?? time, time)
        }
        // A process that has not applied the last changes obeys another number of orders.
        content.remove(beat.replica)
        guard !isOurs, let obeyed = beat.orders, let appliedTo = beat.appliedTo, appliedTo >= changedAt else { return }
        if obeyed <= known {
            holders[beat.replica] = nil
            // A later offset is one of the topic before it was recreated.
            if appliedTo < offset, content.count < Self.capacity { content.insert(beat.replica) }
        } else if holders.count < Self.capacity {
            holders[beat.replica] = obeyed
            if followedSince != nil { wereHeld = true }
        }
    }

    /// - Parameter living: the other processes.
    mutating func reachedEnd(_ now: Moment, _ living: [ControlRecord.Beat]) {
        followedSince = followedSince ?? now.steady
        if areHeld(by: living) { wereHeld = true }
    }

    /// Returns true if this process must wait for the beats of others, or for the orders that they write again.
    ///
    /// - Parameter living: the other processes.
    func mayBe(_ now: Moment, _ living: [ControlRecord.Beat]) -> Bool {
        guard let waited = waited(now), waited < Self.patience else { return false }
        return isUnheard || areHeld(by: living)
    }

    /// Returns true if a process that this one waited for has not written its orders again, perhaps because it ended.
    ///
    /// - Parameter known: the number of orders in force.
    func areGivenUp(known: Int) -> Bool { wereHeld && holders.values.contains { $0 > known } }

    private func waited(_ now: Moment) -> Duration? { followedSince.map { max(.zero, now.steady - $0) } }

    /// True if a running process may have written no beat since records were removed.
    private var isUnheard: Bool { isCut && history < ControlRecord.Beat.writtenWithin }

    private func areHeld(by living: [ControlRecord.Beat]) -> Bool {
        !holders.isEmpty && living.contains { holders[$0.replica] != nil }
    }
}
