import KafkaModel
import NewsModel

/// Handles a standstill of the process: nothing leaves until the current orders and assignment are confirmed.
///
/// While the process was frozen, an editor may have stopped the hub. The editor was told that every process obeys,
/// because this one's missing beats excluded it. Other owners may have sent the events of its partitions.
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

    /// Records that all orders given up to the question have been applied.
    mutating func confirmOrders(_ number: UInt64) {
        if standstill?.number == number { standstill?.areOrdersKnown = true }
    }

    /// Ends the standstill once orders and assignments are confirmed.
    mutating func endStandstill() {
        guard let standstill, standstill.areOrdersKnown, unconfirmedLanes.isEmpty else { return }
        self.standstill = nil
    }

    /// Lanes with partitions that may have other owners by now. Revoked partitions send nothing new anyway.
    var unconfirmedLanes: [LaneID] {
        lanes.ids.filter { lane in
            lanes[lane].assignment != .confirmed && !lanes[lane].slots.isEmpty && lanes[lane].handover == nil
        }
    }

    /// Commits all offsets again, because the broker accepts a commit only from the present owner.
    private mutating func askForConfirmation(of lane: LaneID, _ turn: Turn) {
        repeatCommits(lane)
        lanes[lane].commit.hurry(at: turn.now)
    }

    /// A commit is needed even if no offset moved: its answer tells if the partitions are still ours.
    func mustAskForAssignment(_ lane: LaneID) -> Bool {
        lanes[lane].assignment == .unconfirmed() && !lanes[lane].slots.isEmpty && lanes[lane].handover == nil
    }

    /// Records that a commit of the lane goes out. `isEmpty`: there was nothing to commit.
    mutating func noteCommit(_ lane: LaneID, isEmpty: Bool) {
        guard case .unconfirmed(false) = lanes[lane].assignment else { return }
        if !isEmpty {
            lanes[lane].assignment = .asked
        } else if lanes[lane].slots.contains(where: { partitions[$0].isFinishing }) {
            // Offsets of a former incarnation are not committed. It must be finished before other offsets exist.
            lanes[lane].assignment = .confirmed
        }
    }

    /// Records the broker's answer to a commit of the lane.
    ///
    /// - Parameter isTaken: the broker accepted some of its offsets.
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

/// A standstill of the process that still prevents sending.
struct Standstill: Sendable {
    /// The number of the question about orders.
    let number: UInt64
    /// The time at which the standstill was noticed, by the monotonic clock.
    let since: Instant
    var areOrdersKnown = false
}

extension Lane {
    /// The knowledge whether the lane's partitions are still ours.
    enum Assignment: Sendable, Hashable {
        case confirmed
        /// Not confirmed since a standstill. Followed by `asked`.
        ///
        /// `ignoresAnswer`: an earlier commit is in flight, whose answer may be outdated.
        case unconfirmed(ignoresAnswer: Bool = false)
        /// A commit that only the owner may make is in flight. Followed by `confirmed` or `unconfirmed`.
        case asked
    }
}
