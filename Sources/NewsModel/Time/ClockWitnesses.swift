/// Evidence from other clocks against this machine's wall clock. There are two witnesses:
///
/// - The hub. The `Date` of a reply is its clock at that moment, to the second.
/// - The times of records as they are read: their producers' clocks or, with `LogAppendTime`, the broker's, when they were written.
///
/// A single record's time is weak evidence. An old record may come from a backlog or a backfill, so it never shows that
/// our clock is ahead. A time in our future shows that our clock is behind or the producer's is ahead. A time equal to
/// the hub's present time shows that a clock agreeing with the hub's wrote the record just now.
///
/// One witness is a reason to check the clocks. Two witnesses that agree outweigh ours: then nothing expires by our
/// clock alone.
///
/// The hub's time advances by the monotonic clock, and so stays right when ours is set. The monotonic clock may stop
/// while the machine sleeps, which looks like a step. After each step both witnesses are forgotten.
package struct ClockWitnesses: Sendable {
    /// Differences up to this are caused by network, rounding and drift.
    package static let tolerance = Duration.seconds(60)
    /// A record of the future is reported for this long after it was read.
    static let futureLasts = Duration.seconds(300)

    /// The witnesses' evidence against our clock.
    package struct Finding: Sendable, Hashable {
        package enum Witness: Sendable, Hashable { case hub, records, both }

        package var witness: Witness
        /// Our time minus that of the witnesses.
        package var difference: Duration

        package init(witness: Witness, difference: Duration) {
            self.witness = witness
            self.difference = difference
        }
    }

    /// The hub's clock and ours.
    private var hub: Moment?
    /// A record had the hub's present time while our clock differed.
    private var recordsAgreeWithHub = false
    private var future: (difference: Duration, until: Instant)?

    package init() {}

    /// The hub's time was received since our clock was last set.
    package var hasHeardHub: Bool { hub != nil }

    /// Receives the hub's present time, `date`.
    package mutating func hear(hub date: Instant, at moment: Moment) {
        hub = Moment(steady: moment.steady, wall: date)
        future = nil
        if difference(at: moment) == nil { recordsAgreeWithHub = false }
    }

    /// Receives the times of records.
    ///
    /// An array, because a generic function of another module allocates for every element.
    package mutating func read(_ records: [SourceRecord], at moment: Moment) {
        guard let theirs = hubTime(at: moment) else {
            for record in records {
                guard let time = record.timestamp, time - moment.wall > Self.tolerance else { continue }
                future = (moment.wall - time, moment.steady + Self.futureLasts)
            }
            return
        }
        guard !recordsAgreeWithHub, difference(at: moment) != nil else { return }
        recordsAgreeWithHub = records.contains { record in
            record.timestamp.map { max($0 - theirs, theirs - $0) <= Self.tolerance } ?? false
        }
    }

    /// Our clock was set, or the machine has slept.
    package mutating func forget() { self = ClockWitnesses() }

    package func finding(at moment: Moment) -> Finding? {
        if let difference = difference(at: moment) {
            return Finding(witness: recordsAgreeWithHub ? .both : .hub, difference: difference)
        }
        guard let future, moment.steady < future.until else { return nil }
        return Finding(witness: .records, difference: future.difference)
    }

    /// The time for expiry: ours, or the earlier one on which both witnesses agree.
    package func expiryClock(at moment: Moment) -> Instant { commonTime(at: moment) ?? moment.wall }

    /// The monotonic time at which the witnesses' common clock shows `wall`; `nil` while ours counts.
    package func steady(of wall: Instant, at moment: Moment) -> Instant? {
        guard let theirs = commonTime(at: moment) else { return nil }
        return wall == .distantFuture ? .distantFuture : moment.steady + (wall - theirs)
    }

    /// The time on which both witnesses agree; `nil` unless our clock is ahead of it.
    private func commonTime(at moment: Moment) -> Instant? {
        guard recordsAgreeWithHub, let theirs = hubTime(at: moment), moment.wall - theirs > Self.tolerance else {
            return nil
        }
        return theirs
    }

    private func hubTime(at moment: Moment) -> Instant? { hub.map { $0.wall + (moment.steady - $0.steady) } }

    /// Our clock minus the hub's; `nil` within the tolerance.
    private func difference(at moment: Moment) -> Duration? {
        guard let theirs = hubTime(at: moment) else { return nil }
        let difference = moment.wall - theirs
        return max(difference, .zero - difference) > Self.tolerance ? difference : nil
    }
}
