import NewsModel

/// The processes that follow the control topic, known by their beats.
///
/// Clocks of two machines are never compared. Every beat carries the time of the log: how much time the processes have counted
/// since the topic began, each by its monotonic clock and on top of the latest time that it has read. A process counts as living
/// until the time of the log has moved on without it. While no process beats, that time stands still, and so does this judgement.
public struct LifeSigns: Sendable, Hashable {
    /// The latest time of the log on any beat; `nil` before a beat carries one.
    public private(set) var time: Duration?
    private var signs: [String: Sign] = [:]
    /// Processes whose last beat carries no time of the log, and is followed by no beat that does.
    private var undated: Set<String> = []
    private let capacity: Int

    private struct Sign: Sendable, Hashable {
        var beat: ControlRecord.Beat
        /// The time of the log when the beat was written; `nil` while it is undated.
        var heardAt: Duration?
    }

    /// A process that has fallen silent, and has not said that it ended.
    public struct Silent: Sendable, Hashable {
        public var beat: ControlRecord.Beat
        /// The time of the log since its last beat.
        public var since: Duration
    }

    /// - Parameter capacity: Beats of more processes are not kept.
    public init(capacity: Int) { self.capacity = capacity }

    /// Takes a beat that was read from the topic, in the order of the topic.
    public mutating func heard(_ beat: ControlRecord.Beat) {
        guard signs[beat.replica] != nil || signs.count < capacity else { return }
        guard let time = beat.logTime else {
            // It stands before the next beat, whose time is not too early for it.
            signs[beat.replica] = Sign(beat: beat)
            undated.insert(beat.replica)
            return
        }
        // A process that was suspended may write an old time. Its place on the topic says more.
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

    /// The last beats of the processes that count as living, in the order of their names.
    public var living: [ControlRecord.Beat] {
        signs.values.filter { silence(of: $0) <= ControlRecord.Beat.countsFor }.map(\.beat)
            .sorted { $0.replica < $1.replica }
    }

    /// The processes that do not count as living any more, in the order of their names.
    public var silent: [Silent] {
        signs.values.map { Silent(beat: $0.beat, since: silence(of: $0)) }
            .filter { $0.since > ControlRecord.Beat.countsFor }.sorted { $0.beat.replica < $1.beat.replica }
    }

    private func silence(of sign: Sign) -> Duration {
        guard let time, let heardAt = sign.heardAt else { return .zero }
        return time - heardAt
    }
}

/// The time of the log as one process counts it on.
struct LogClock: Sendable {
    private var known: (time: Duration, at: Instant)?

    /// Goes on from the time on a beat if it is ahead. Reading takes time, so the result is never too late.
    mutating func heard(_ time: Duration, _ now: Moment) {
        if let ours = self.time(now), ours >= time { return }
        known = (time, now.steady)
    }

    /// Begins with zero on a topic that has no time yet.
    mutating func begin(_ now: Moment) { known = known ?? (.zero, now.steady) }

    /// The time now, in whole milliseconds; `nil` before anything is known.
    func time(_ now: Moment) -> Duration? {
        known.map { $0.time + .milliseconds(max(.zero, now.steady - $0.at).nanoseconds / 1_000_000) }
    }
}
