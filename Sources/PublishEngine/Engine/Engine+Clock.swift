import DequeModule
import NewsModel

/// Evidence about the time from the hub and from records: see `ClockWitnesses`.
extension Engine {
    /// The hub is asked for the time at most once after a start and after each step of our clock. A step while the hub is being
    /// asked changes nothing: the answer is still to come, and records must not wait longer.
    enum TimeInquiry: Sendable, Hashable {
        /// Followed by `asked`, or by `over` if a hub reply brings the time first.
        case none
        /// Records that look stale wait for the answer until this time. Followed by `over`.
        case asked(until: Instant)
        case over
    }

    /// The longest time that records wait for the hub's answer about the time.
    package static let timeInquiryLasts = Duration.seconds(3)

    mutating func hear(hub date: Instant, _ turn: inout Turn) {
        witnesses.hear(hub: date, at: turn.moment)
        clock.hear(hub: Moment(steady: turn.now, wall: date))
        turn.embargoClock = clock.embargoClock(turn.moment)
        if inquiry != .over {
            // Records that were read earlier and wait for this answer are witnesses too.
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

    /// Asks the hub for the time before the first record expires or the first embargo ends, because no other reply may show a
    /// wrong clock. Deliveries that wait for another attempt do the same.
    ///
    /// - Returns: `true` if the record waits for the answer.
    mutating func waitsForTime(_ content: ExaminedRecord, _ turn: inout Turn) -> Bool {
        guard inquiry == .none, let event = content.routed?.event, event.status == .usable,
            content.isStale(turn) || event.embargoUntil ?? .distantFuture <= turn.embargoClock
        else { return false }
        return mustAskForTime(&turn)
    }

    /// Asks the hub for the time unless it was asked or has told it since our clock was last set.
    ///
    /// - Returns: `true` while the answer is awaited.
    mutating func mustAskForTime(_ turn: inout Turn) -> Bool {
        guard inquiry == .none, settings.asksHubForTime, !witnesses.hasHeardHub else { return awaitsTime }
        inquiry = .asked(until: turn.now + Self.timeInquiryLasts)
        turn.actions.append(.askHubForTime)
        return true
    }

    /// Ends an inquiry that has lasted long enough. Records are then judged by our clock.
    mutating func endTimeInquiry(_ turn: Turn) {
        if case .asked(let until) = inquiry, turn.now >= until { inquiry = .over }
    }

    /// Records are waiting for the hub's answer about the time.
    var awaitsTime: Bool { if case .asked = inquiry { true } else { false } }
}
