import NewsModel

/// The processes that follow the control topic, known by their beats.
///
/// Clocks of two machines are never compared. Every beat carries the time of the log: the time counted by the processes since
/// the topic began. Each process adds its monotonic clock to the latest time that it has read. A process counts as living until
/// that time has advanced past its last beat. Without beats, the time of the log stops, and no process's status changes.
public struct LifeSigns: Sendable, Hashable {
    /// The latest time of the log on any beat; `nil` before a beat carries one.
    public private(set) var time: Duration?
    private var signs: [String: Sign] = [:]
    /// Processes whose last beat carries no time of the log and was not followed by any beat that carries one.
    private var undated: Set<String> = []
    /// The time of the log at the last beat of each consumer group, of ended processes too; `nil` if the beat carried none.
    private var groupsHeardAt: [String: Duration?] = [:]
    private let capacity: Int

    private struct Sign: Sendable, Hashable {
        var beat: ControlRecord.Beat
        /// The time of the log when the beat was written; `nil` while it is unknown.
        var heardAt: Duration?
    }

    /// A process that has fallen silent without reporting its end.
    public struct Silent: Sendable, Hashable {
        public var beat: ControlRecord.Beat
        /// The time of the log since its last beat.
        public var since: Duration
    }

    /// - Parameter capacity: Beats of further processes are not kept.
    public init(capacity: Int) { self.capacity = capacity }

    /// Handles a beat read from the topic. Beats must arrive in topic order.
    public mutating func heard(_ beat: ControlRecord.Beat) {
        guard signs[beat.replica] != nil || signs.count < capacity else { return }
        note(beat.process?.group, at: beat.logTime.map { max(time ?? $0, $0) })
        guard let time = beat.logTime else {
            // It gets the time of the next beat that has one. That beat follows it on the topic, so the time is not too early.
            signs[beat.replica] = Sign(beat: beat)
            undated.insert(beat.replica)
            return
        }
        // A process that was suspended may write an old time. The position on the topic is more accurate.
        let latest = max(self.time ?? time, time)
        self.time = latest
        undated.remove(beat.replica)
        for replica in undated { signs[replica]?.heardAt = latest }
        undated = []
        signs[beat.replica] = Sign(beat: beat, heardAt: latest)
    }

    public mutating func ended(_ replica: String) {
        signs[replica] = nil
        undated.remove(replica)
    }

    private mutating func note(_ group: String?, at time: Duration?) {
        guard let group, groupsHeardAt[group] != nil || groupsHeardAt.count < capacity else { return }
        groupsHeardAt.updateValue(time, forKey: group)
    }

    /// The consumer groups that were heard, those of ended processes too.
    var groups: Set<String> { Set(groupsHeardAt.keys) }

    /// The consumer groups that were heard, but not for as long as a recall lasts. They were renamed or given up.
    var formerGroups: Set<String> {
        guard let time else { return [] }
        return Set(
            groupsHeardAt.lazy.filter { $0.value.map { time - $0 > Order.recallLasts } ?? false }.map(\.key))
    }

    /// The last beats of the processes that count as living, sorted by name.
    public var living: [ControlRecord.Beat] { unordered.sorted { $0.replica < $1.replica } }

    /// If the clocks agree, a living process's beat is at most this much older than the time at which it is evaluated.
    private static let timeTolerance = ControlRecord.Beat.countsFor + ClockWitnesses.tolerance

    /// The time by which orders lapse: the given wall clock, unless it is ahead of the beat of another living process. Then the
    /// earliest of the wall clock times on such beats counts.
    func lapseClock(_ wall: Instant, besides replica: String? = nil) -> Instant {
        let others = unordered.lazy.filter { $0.replica != replica }.map(\.at).min()
        guard let others, wall - others > Self.timeTolerance else { return wall }
        return others
    }

    private var unordered: [ControlRecord.Beat] {
        signs.values.filter { silence(of: $0) <= ControlRecord.Beat.countsFor }.map(\.beat)
    }

    /// The processes that no longer count as living, sorted by name.
    public var silent: [Silent] {
        signs.values.map { Silent(beat: $0.beat, since: silence(of: $0)) }
            .filter { $0.since > ControlRecord.Beat.countsFor }.sorted { $0.beat.replica < $1.beat.replica }
    }

    private func silence(of sign: Sign) -> Duration {
        guard let time, let heardAt = sign.heardAt else { return .zero }
        return time - heardAt
    }
}

/// The time of the log as counted by one process.
struct LogClock: Sendable {
    private var known: (time: Duration, at: Instant)?

    /// Continues from the time on a beat if it is ahead. Reading takes time, so the result is never too late.
    mutating func heard(_ time: Duration, _ now: Moment) {
        if let ours = self.time(now), ours >= time { return }
        known = (time, now.steady)
    }

    /// Begins with zero on a topic without a time.
    mutating func begin(_ now: Moment) { known = known ?? (.zero, now.steady) }

    /// The current time of the log in whole milliseconds; `nil` while it is unknown.
    func time(_ now: Moment) -> Duration? {
        known.map { $0.time + .milliseconds(max(.zero, now.steady - $0.at).nanoseconds / 1_000_000) }
    }
}
