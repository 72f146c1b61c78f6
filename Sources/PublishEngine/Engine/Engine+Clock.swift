import DequeModule
import NewsModel

/// What others say about the time: see `ClockWitnesses`.
extension Engine {
    /// The hub is asked for the time at most once after a start and after each step of our clock.
    enum TimeInquiry: Sendable, Hashable {
        /// Followed by `asked`, or by `over` if the hub is heard before.
        case none
        /// Records that look stale wait until then for the answer. Followed by `over`.
        case asked(until: Instant)
        case over
    }

    /// The longest time that records wait for the hub to tell the time.
    package static let timeInquiryLasts = Duration.seconds(3)

    mutating func hear(hub date: Instant, _ turn: inout Turn) {
        witnesses.hear(hub: date, at: turn.moment)
        clock.hear(hub: Moment(steady: turn.now, wall: date))
        turn.embargoClock = clock.embargoClock(turn.moment)
        if inquiry != .over {
            // Records that were read before, and wait for this, are witnesses too.
            for lane in lanes.ids {
                witnesses.read(lanes[lane].unexamined.map(\.record), at: turn.moment)
            }
        }
        inquiry = .over
        turn.expiryClock = witnesses.expiryClock(at: turn.moment)
    }

    mutating func noteTimes(of records: [SourceRecord], _ turn: inout Turn) {
        witnesses.read(records, at: turn.moment)
        turn.expiryClock = witnesses.expiryClock(at: turn.moment)
    }

    /// Asks the hub for the time before the first record expires or the first embargo has ended by our clock: without any request, no
    /// reply would show that our clock is wrong.
    ///
    /// - Returns: `true` if the record waits for the answer.
    mutating func waitsForTime(_ content: ExaminedRecord, _ turn: inout Turn) -> Bool {
        guard inquiry == .none, settings.asksHubForTime, !witnesses.hasHeardHub, let event = content.routed?.event,
            event.status == .usable, content.isStale(turn) || event.embargoUntil ?? .distantFuture <= turn.embargoClock
        else { return false }
        inquiry = .asked(until: turn.now + Self.timeInquiryLasts)
        turn.actions.append(.askHubForTime)
        return true
    }

    /// Records wait for the hub to tell the time.
    mutating func awaitsTime(_ turn: Turn) -> Bool {
        guard case .asked(let until) = inquiry else { return false }
        if turn.now >= until { inquiry = .over }
        return turn.now < until
    }
}
