/// Evidence from other clocks against this machine's wall clock. There are two witnesses:
///
/// - The hub. The `Date` of a reply is its clock at that moment, to the second.
/// - The times of records as they are read: their producers' clocks or, with `LogAppendTime`, the broker's, when they were written.
///
/// A single record's time is weak evidence. An old record may come from a backlog or a backfill. A time in our future shows that
/// our clock is behind or the producer's is ahead. Old times on records that were just appended show the opposite. A time equal
/// to the hub's present time shows that a clock agreeing with the hub wrote the record just now.
///
/// One witness is a reason to check the clocks. Two witnesses that agree outweigh ours: then nothing expires by our
/// clock alone.
///
/// All evidence is kept as differences from the monotonic clock, and so stays right when ours is set. The monotonic clock may
/// stop while the machine sleeps, so the owner calls `forget` after a standstill.
package struct ClockWitnesses: Sendable {
    /// Differences up to this are caused by network, rounding and drift.
    package static let tolerance = Duration.seconds(60)
    /// A record of the future is reported for this long after it was read.
    static let futureLasts = Duration.seconds(300)

    /// The witnesses' evidence against our clock.
    package struct Finding: Sendable, Hashable {
        package enum Witness: Sendable, Hashable {
            case hub, records, both
            /// The hub's replies have no time, so nothing shows that our clock is right.
            case missing
        }

        package var witness: Witness
        /// Our time minus that of the witnesses.
        package var difference: Duration

        package init(witness: Witness, difference: Duration) {
            self.witness = witness
            self.difference = difference
        }
    }

    /// The hub's time minus monotonic; `nil` if it is unknown.
    private var hub: Duration?
    private var isHubWithoutTime = false
    /// The time of a record minus the monotonic time at which it was read: the largest one or, once the hub's time is known, one
    /// that agreed with it.
    private var newest: Duration?
    /// The same for the newest record that was just appended when it was read.
    private var appended: Duration?
    private var future: (offset: Duration, until: Instant)?

    package init() {}

    /// Receives the hub's present time; `nil` if its replies have none.
    package mutating func hear(hub date: Instant?, at moment: Moment) {
        isHubWithoutTime = date == nil && hub == nil
        guard let date else { return }
        hub = date - moment.steady
        future = nil
    }

    /// Receives the times of records.
    ///
    /// An array, because a generic function of another module allocates for every element.
    ///
    /// - Parameter areNew: the records were appended just now.
    package mutating func read(_ records: [SourceRecord], areNew: Bool = false, at moment: Moment) {
        guard let hub else {
            for case let time? in records.lazy.map(\.timestamp) {
                let offset = time - moment.steady
                if time - moment.wall > Self.tolerance {
                    future = (offset, moment.steady + Self.futureLasts)
                } else {
                    newest = max(newest ?? offset, offset)
                }
            }
            if areNew { appended = records.compactMap(\.timestamp).max().map { $0 - moment.steady } ?? appended }
            return
        }
        guard !recordsAgreeWithHub else { return }
        // While the clocks agree, one record of each batch is enough.
        for record in difference(from: hub, at: moment) == nil ? records.suffix(1) : records[...] {
            guard let time = record.timestamp, Self.areClose(time - moment.steady, hub) else { continue }
            newest = time - moment.steady
        }
    }

    /// Forgets all evidence, because the monotonic clock may have stood still.
    package mutating func forget() { self = ClockWitnesses() }

    package func finding(at moment: Moment) -> Finding? {
        if let hub {
            return difference(from: hub, at: moment).map {
                Finding(witness: recordsAgreeWithHub ? .both : .hub, difference: $0)
            }
        }
        let offset = future.flatMap { moment.steady < $0.until ? $0.offset : nil } ?? appended
        if let offset, let difference = difference(from: offset, at: moment) {
            return Finding(witness: .records, difference: difference)
        }
        return isHubWithoutTime ? Finding(witness: .missing, difference: .zero) : nil
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
        guard let hub, recordsAgreeWithHub else { return nil }
        let theirs = moment.steady + hub
        return moment.wall - theirs > Self.tolerance ? theirs : nil
    }

    /// A record had the hub's time when it was read.
    private var recordsAgreeWithHub: Bool {
        guard let hub, let newest else { return false }
        return Self.areClose(newest, hub)
    }

    /// Our clock minus one with that difference from the monotonic clock; `nil` within the tolerance.
    private func difference(from offset: Duration, at moment: Moment) -> Duration? {
        let ours = moment.wall - moment.steady
        return Self.areClose(ours, offset) ? nil : ours - offset
    }

    private static func areClose(_ one: Duration, _ other: Duration) -> Bool {
        max(one - other, other - one) <= tolerance
    }
}
