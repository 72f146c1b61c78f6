import NewsModel

/// The content of the held topic before the start, compared with its content now. The events of a topic that was deleted
/// while no process ran are lost.
struct FormerHeldTopic: Sendable {
    private var state = State.unknown
    /// The record with the highest offset among those read.
    private(set) var last: HeldMark?

    private enum State: Sendable {
        /// Followed by `known`.
        case unknown
        /// Followed by `compared` when the last record of the totals was read, or the topic to its end.
        case known(HeldTotals?)
        case compared
    }

    var isUnknown: Bool { if case .unknown = state { true } else { false } }
    var isCompared: Bool { if case .compared = state { true } else { false } }

    mutating func know(_ totals: HeldTotals?) { if isUnknown { state = .known(totals) } }

    /// Forgets the last record of a partition; of all partitions for `nil`.
    mutating func forgetLast(in partition: Int32? = nil) {
        if partition == nil || last?.place.partition == partition { last = nil }
    }

    /// Notes a record that was read.
    ///
    /// - Returns: the number of events that are lost.
    mutating func note(_ reading: HeldRecord.Reading, _ time: Instant?, _ place: HeldPlace) -> Int {
        if case .unreadable = reading { return 0 }
        let identity = reading.identity(writtenAt: time)
        if last.map({ ($0.place.offset, $0.place.partition) < (place.offset, place.partition) }) ?? true {
            last = HeldMark(place, identity: identity)
        }
        guard case .known(let totals?) = state, let mark = totals.last, mark.place == place else { return 0 }
        return compare(totals, isSame: mark.identity == identity)
    }

    /// Compares at the end of the first reading. A record that was not found was compacted, unless its partition has
    /// become shorter.
    ///
    /// - Returns: the number of events that are lost.
    mutating func finishReading(_ reach: HeldReach) -> Int {
        guard case .known(let totals) = state, reach.isCaughtUp else { return 0 }
        return compare(
            totals, isSame: totals?.last.map { reach.position(in: $0.place.partition) > $0.place.offset } ?? true)
    }

    private mutating func compare(_ totals: HeldTotals?, isSame: Bool) -> Int {
        state = .compared
        return isSame ? 0 : totals?.count ?? 0
    }
}
