import KafkaModel
import NewsModel

/// What follows a standstill of the process: nothing leaves until the orders and the assignment are known to be those of today.
///
/// While the process was frozen, an editor may have stopped the hub, and was told that every process obeys: the beats of this one
/// were missed, and nobody waited for it. Its partitions may belong to others, who have sent what it is about to send.
extension Engine {
    mutating func standStill(_ turn: inout Turn) {
        standstills += 1
        standstill = Standstill(number: standstills, since: standstill?.since ?? turn.now)
        for lane in lanes.ids {
            lanes[lane].assignment = lanes[lane].commit.isUnderWay ? .unconfirmed(ignoresAnswer: true) : .unconfirmed()
            askForConfirmation(of: lane, turn)
        }
        turn.actions.append(.confirmOrders(standstills))
    }

    /// Everything that was ordered up to now has been obeyed.
    mutating func confirmOrders(_ number: UInt64) {
        if standstill?.number == number { standstill?.areOrdersKnown = true }
    }

    /// Ends the standstill once nothing is unknown any more.
    mutating func endStandstill() {
        guard let standstill, standstill.areOrdersKnown, unconfirmedLanes.isEmpty else { return }
        self.standstill = nil
    }

    /// Lanes with partitions that may belong to others by now. What is being given up sends nothing new anyway.
    var unconfirmedLanes: [LaneID] {
        lanes.ids.filter { lane in
            lanes[lane].assignment != .confirmed && !lanes[lane].slots.isEmpty && lanes[lane].handover == nil
        }
    }

    /// The broker takes a commit only from the present owner, so a commit is the question: all offsets go out again.
    private mutating func askForConfirmation(of lane: LaneID, _ turn: Turn) {
        commitAnew(lane)
        lanes[lane].commit.hurry(at: turn.now)
    }

    /// Nothing may have moved, but the answer to a commit says whether the partitions are still ours.
    func mustAskForAssignment(_ lane: LaneID) -> Bool {
        lanes[lane].assignment == .unconfirmed() && !lanes[lane].slots.isEmpty && lanes[lane].handover == nil
    }

    /// A commit of the lane goes out; `isEmpty`: there is nothing to commit.
    mutating func noteCommit(_ lane: LaneID, isEmpty: Bool) {
        guard case .unconfirmed(false) = lanes[lane].assignment else { return }
        if !isEmpty {
            lanes[lane].assignment = .asked
        } else if lanes[lane].slots.contains(where: { partitions[$0].isFinishing }) {
            // Offsets of a former incarnation are not committed, and must be finished before there are others.
            lanes[lane].assignment = .confirmed
        }
    }

    /// The broker has answered a commit of the lane.
    ///
    /// - Parameter isTaken: it took some of its offsets.
    mutating func noteCommitAnswer(_ lane: LaneID, isCurrent: Bool, isTaken: Bool, _ turn: Turn) {
        switch lanes[lane].assignment {
        case .confirmed: return
        case .asked where isCurrent && isTaken: lanes[lane].assignment = .confirmed
        case .asked, .unconfirmed:
            lanes[lane].assignment = .unconfirmed()
            if isTaken { askForConfirmation(of: lane, turn) }
        }
    }
}

/// A standstill of the process that still keeps everything from leaving.
struct Standstill: Sendable {
    /// Names the question about orders.
    let number: UInt64
    /// When it was noticed, by the monotonic clock.
    let since: Instant
    var areOrdersKnown = false
}

extension Lane {
    /// Whether the lane's partitions are known to be ours.
    enum Assignment: Sendable, Hashable {
        case confirmed
        /// Since a standstill nobody has said so. Next: `asked`.
        ///
        /// `ignoresAnswer`: a commit from before is under way, whose answer may be old.
        case unconfirmed(ignoresAnswer: Bool = false)
        /// A commit is under way that only the owner may make. Next: `confirmed` or `unconfirmed`.
        case asked
    }
}
