import NewsModel

/// The content of the held topic before the start, compared with its content now. The events of a topic that was deleted
/// while no process ran are lost. If others ran, they write the events again, so restored events are counted first.
struct FormerHeldTopic: Sendable {
    private var state = State.unknown
    /// The record with the highest offset among those read.
    private(set) var last: HeldMark?

    private enum State: Sendable {
        /// The totals have not been told yet. Followed by `known`.
        case unknown
        /// Followed by `compared` or `differs` when the last record of the totals was read, or the topic to its end.
        case known(HeldTotals?)
        /// The topic was recreated. Events that are not restored by this time are lost. Followed by `compared`.
        case differs(HeldTotals, until: Instant)
        case compared
    }

    /// Number of events that were restored after the totals were written, and that this process did not know before.
    private var restored = 0
    /// The events whose restored records were read. Several processes may write one event again.
    private var seen: Set<Event> = []

    private struct Event: Hashable {
        var story: UInt64
        var partition: Int32
    }

    /// Longer than `VanishedEvents` takes to write the events of other owners.
    static let patience = Duration.seconds(120)

    /// Time until which restored events are counted; `nil` if none are missing.
    var countsUntil: Instant? { if case .differs(_, let until) = state { until } else { nil } }
    /// The content of the topic before the start, until it is compared and lost events are counted.
    private var totals: HeldTotals? {
        switch state {
        case .known(let totals): totals
        case .differs(let totals, _): totals
        case .unknown, .compared: nil
        }
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
    /// - Parameter known: events that this process knew before the topic was recreated. They were not lost before the start, so
    ///   they do not count as restored.
    mutating func note(
        _ reading: HeldRecord.Reading, _ time: Instant?, _ place: HeldPlace, known: borrowing VanishedEvents,
        at now: Instant
    ) {
        if case .unreadable = reading { return }
        // Events restored earlier were missing from a topic before that one.
        if case .held(let event, since: nil) = reading, let restoredAt = event.restoredAt, let totals,
            totals.writtenAt.map({ $0 < restoredAt }) ?? true
        {
            let event = Event(story: HeldIndex.hash(event.story), partition: place.partition)
            if seen.insert(event).inserted, !known.expects(event.story, in: event.partition) { restored += 1 }
        }
        let identity = reading.identity(writtenAt: time)
        if last.map({ ($0.place.offset, $0.place.partition) < (place.offset, place.partition) }) ?? true {
            last = HeldMark(place, identity: identity)
        }
        guard case .known(let totals?) = state, let mark = totals.last, mark.place == place else { return }
        compare(totals, isSame: mark.identity == identity, at: now)
    }

    /// Compares at the end of the first reading. A record that was not found was compacted, unless its partition has become shorter or
    /// the topic is empty: compaction keeps the newest records.
    ///
    /// - Returns: the number of events that are lost.
    mutating func finishReading(_ reach: HeldReach, at now: Instant) -> Int {
        guard reach.isCaughtUp else { return 0 }
        if case .known(let totals) = state {
            let isSame =
                totals?.last.map { last != nil && reach.position(in: $0.place.partition) > $0.place.offset } ?? true
            compare(totals, isSame: isSame, at: now)
        }
        guard case .differs(let totals, let until) = state, now >= until else { return 0 }
        state = .compared
        seen = []
        return max(totals.count - restored, 0)
    }

    private mutating func compare(_ totals: HeldTotals?, isSame: Bool, at now: Instant) {
        if let totals, totals.count > 0, !isSame {
            state = .differs(totals, until: now + Self.patience)
        } else {
            state = .compared
            seen = []
        }
    }
}

extension HeldState {
    /// The content of the topic. `nil` while this process cannot tell, or may still write vanished events again.
    public var totals: HeldTotals? {
        guard former.isCompared, reach.isCaughtUp, vanishedEvents.isEmpty else { return nil }
        return HeldTotals(count: count, last: former.last)
    }

    /// True while restored events are counted after the topic was recreated.
    var isCountingLost: Bool { former.countsUntil != nil }

    /// True before `Input.formerly`. The topic is read only after that.
    public var awaitsFormer: Bool { former.isUnknown }
}
