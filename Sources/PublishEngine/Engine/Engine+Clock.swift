import DequeModule
import KafkaModel
import NewsModel

/// Evidence about the time from the hub and from records: see `ClockWitnesses`.
extension Engine {
    /// The question to the hub about the time. It is open after a start, a step of our clock, or a standstill. A step while the hub
    /// is being asked changes nothing: the answer is still to come, and records must not wait longer.
    enum TimeInquiry: Sendable, Hashable {
        /// Followed by `asked`, or by `over` if a hub reply brings the time first.
        case none
        /// All records wait for the answer, for `timeInquiryLasts` at most. Followed by `over` or `unanswered`.
        case asked(since: Instant)
        /// Only events that our clock alone would expire or release wait. For them the hub is asked again at a time.
        case unanswered(since: Instant, asksAt: Instant)
        case over
    }

    /// The longest time that records wait for the hub's answer about the time.
    package static let timeInquiryLasts = Duration.seconds(3)
    /// The pause between questions to a hub that does not answer.
    private static let timeInquiryPause = Duration.seconds(5)

    /// Receives the hub's time; `nil` if its replies have none.
    mutating func hear(hub date: Instant?, _ turn: inout Turn) {
        let wasAwaited = clock.awaitsHub
        witnesses.hear(hub: date, at: turn.moment)
        clock.hear(hub: date.map { Moment(steady: turn.now, wall: $0) })
        if isTimeAwaited {
            // Records that were read earlier and wait for this answer are witnesses too.
            for lane in lanes.ids {
                witnesses.read(lanes[lane].unexamined.map(\.record), at: turn.moment)
            }
        }
        inquiry = .over
        turn.look(clock, witnesses)
        // Embargoes that were over by our clock may last for hours by the hub's.
        if wasAwaited { holdWaiting(&turn) }
    }

    mutating func noteTimes(
        of records: [SourceRecord], in id: TopicPartition, _ lane: LaneID, _ generation: Generation, _ turn: inout Turn
    ) {
        // A full window delays reading, so then the records may be old.
        let areNew =
            lanes[lane].bufferedRecords == 0
            && slot(of: id, lane, generation).map { partitions[$0].isAtEnd } ?? false
        witnesses.read(records, areNew: isTimeAwaited && areNew, at: turn.moment)
        turn.look(clock, witnesses)
        if areNew, let maxAge = lanes[lane].settings.maxAge { lanes[lane].arrivals.read(records, maxAge: maxAge, turn) }
    }

    /// Asks the hub for the time before the first record expires or the first embargo ends, because no other reply may show a
    /// wrong clock. Deliveries that wait for another attempt do the same.
    ///
    /// - Returns: `true` if all records wait for the answer.
    mutating func waitsForTime(_ content: ExaminedRecord, _ turn: inout Turn) -> Bool {
        guard inquiry == .none, let event = content.routed?.event, event.status == .usable,
            content.isStale(turn) || event.embargoUntil ?? .distantFuture <= turn.embargoClock
        else { return false }
        return mustAskForTime(&turn)
    }

    /// Asks the hub for the time if the last question was long enough ago.
    ///
    /// - Returns: `true` while the answer is awaited.
    @discardableResult
    mutating func mustAskForTime(_ turn: inout Turn) -> Bool {
        guard isTimeAwaited else { return false }
        guard nextTimeInquiry <= turn.now else { return true }
        inquiry =
            timeAwaitedSince.map { .unanswered(since: $0, asksAt: turn.now + Self.timeInquiryPause) }
            ?? .asked(since: turn.now)
        turn.actions.append(.askHubForTime)
        return true
    }

    /// Ends the first question when it has lasted long enough, so that other news continues.
    mutating func endTimeInquiry(_ turn: Turn) {
        guard case .asked(let since) = inquiry, turn.now >= nextTimeInquiry else { return }
        inquiry = .unanswered(since: since, asksAt: turn.now + Self.timeInquiryPause)
    }

    /// Returns true if the record is too old: by the time since it was read, or by a clock that the hub could have contradicted.
    /// Until the hub has told its time, a record that is stale by our clock alone neither expires nor leaves.
    func hasExpired(_ content: ExaminedRecord, _ turn: borrowing Turn) -> Bool {
        content.isStale(turn) && (turn.now >= content.staleAt || !isTimeAwaited)
    }

    /// All records wait for the hub's answer about the time.
    var awaitsTime: Bool { if case .asked = inquiry { true } else { false } }

    /// The hub has not told its time since the start, the last step of our clock, or the last standstill.
    var isTimeAwaited: Bool { settings.asksHubForTime && inquiry != .over }

    /// The monotonic time before which the hub is not asked again.
    var nextTimeInquiry: Instant {
        switch inquiry {
        case .none, .over: .distantPast
        case .asked(let since): since + Self.timeInquiryLasts
        case .unanswered(_, let asksAt): asksAt
        }
    }

    /// The monotonic time of the first question that the hub has not answered; `nil` if nothing waits for an answer.
    var timeAwaitedSince: Instant? {
        switch inquiry {
        case .none, .over: nil
        case .asked(let since), .unanswered(let since, _): since
        }
    }
}
