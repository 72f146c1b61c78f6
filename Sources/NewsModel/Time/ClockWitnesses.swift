/// The clocks of others, beside which this machine's clock on the wall may turn out to be wrong. There are two witnesses:
///
/// - The hub. The `Date` of a reply is its clock at that moment, to the second.
/// - The times of records as they are read: their producers' clocks or, with `LogAppendTime`, the broker's, when they were written.
///
/// A record's time alone says little. An old one may come from a backlog or a backfill, so it never shows that our clock is ahead.
/// Only two times do say something: one in the future of our clock (ours is behind, or its producer's is ahead), and one that is the
/// hub's present time. Such a record was written a moment ago by a clock that agrees with the hub's: an old record cannot have that
/// time, because it moves on.
///
/// So one witness is a reason to look after the clocks, and two that agree with each other outweigh ours: then nothing expires by our
/// clock alone.
///
/// The hub's time goes on by the monotonic clock, and so stays right when ours is set. But that clock may stand still while the machine
/// sleeps, which looks like a clock that is set: after each step both witnesses are forgotten and must be heard again.
package struct ClockWitnesses: Sendable {
    /// A difference up to this is network, rounding and drift.
    package static let tolerance = Duration.seconds(60)
    /// A record of the future is reported for this long after it was read.
    static let futureLasts = Duration.seconds(300)

    /// What the witnesses say against our clock.
    package struct Finding: Sendable, Hashable {
        package enum Witness: Sendable, Hashable { case hub, records, both }

        package var witness: Witness
        /// Ours minus theirs.
        package var difference: Duration

        package init(witness: Witness, difference: Duration) {
            self.witness = witness
            self.difference = difference
        }
    }

    /// The hub's clock and ours.
    private var hub: Moment?
    /// A record had the hub's present time while ours was another.
    private var recordsAgreeWithHub = false
    private var future: (difference: Duration, until: Instant)?

    package init() {}

    /// The hub was heard since the clock was last set.
    package var hasHeardHub: Bool { hub != nil }

    /// The hub says that it is `date` now.
    package mutating func hear(hub date: Instant, at moment: Moment) {
        hub = Moment(steady: moment.steady, wall: date)
        future = nil
        if difference(at: moment) == nil { recordsAgreeWithHub = false }
    }

    /// These records were read.
    ///
    /// An array and not any sequence: a generic function of another module allocates for every element.
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

    /// The time by which things expire: ours, or the earlier one on which both witnesses agree.
    package func expiryClock(at moment: Moment) -> Instant {
        guard recordsAgreeWithHub, let theirs = hubTime(at: moment), moment.wall - theirs > Self.tolerance else {
            return moment.wall
        }
        return theirs
    }

    /// The monotonic time at which the clock that both witnesses agree on shows `wall`; `nil` while ours counts.
    package func steady(of wall: Instant) -> Instant? {
        guard recordsAgreeWithHub, let hub else { return nil }
        return wall == .distantFuture ? .distantFuture : hub.steady + (wall - hub.wall)
    }

    private func hubTime(at moment: Moment) -> Instant? { hub.map { $0.wall + (moment.steady - $0.steady) } }

    /// Ours minus the hub's, if that is more than the tolerance.
    private func difference(at moment: Moment) -> Duration? {
        guard let theirs = hubTime(at: moment) else { return nil }
        let difference = moment.wall - theirs
        return max(difference, .zero - difference) > Self.tolerance ? difference : nil
    }
}
