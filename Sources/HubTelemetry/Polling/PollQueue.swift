import NewsModel

/// Polls ordered by due time. If more are due than the pace allows, urgent lanes go first, so that a backfill does not
/// delay reports about alerts. One poll in four is reserved for the other lanes.
struct PollQueue: Sendable {
    /// The timers, indexed by the lane's rank.
    private var ranks: [TimerHeap<FollowedSendID>] = []
    private var urgentInRow = 0

    private static let urgentInRowMax = 3

    /// The due time of the first poll.
    var next: Instant? { ranks.compactMap(\.next).min() }

    mutating func add(_ id: FollowedSendID, at time: Instant) {
        while ranks.count <= id.rank { ranks.append(TimerHeap()) }
        ranks[id.rank].add(id, at: time)
    }

    /// Removes and returns a poll that is due.
    mutating func take(at now: Instant) -> FollowedSendID? {
        let due = ranks.indices.filter { ranks[$0].next.map { $0 <= now } ?? false }
        guard let first = due.first else { return nil }
        let others = due.dropFirst().min { (ranks[$0].next ?? now) < (ranks[$1].next ?? now) }
        guard let others, urgentInRow >= Self.urgentInRowMax else {
            urgentInRow = others == nil ? 0 : urgentInRow + 1
            return ranks[first].take(at: now)
        }
        urgentInRow = 0
        return ranks[others].take(at: now)
    }
}
