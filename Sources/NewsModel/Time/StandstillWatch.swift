/// Detects that the process stood still: it was frozen or suspended, or it got no processor time for seconds.
///
/// The owner calls `look` at least ten times a second, and before it acts on anything that waited for it. After a
/// standstill its knowledge is outdated: others may own its partitions, or the hub may be stopped.
package struct StandstillWatch: Sendable {
    /// A longer gap between two calls of `look` is a standstill. Loaded machines have gaps of a second.
    package static let gapMin = Duration.seconds(3)

    private var lookedAt: Instant?

    package init() {}

    /// - Parameter now: the time of a clock that runs while the machine is suspended, such as `CLOCK_BOOTTIME`.
    /// - Returns: the length of the standstill since the last call; `nil` without one.
    package mutating func look(_ now: Instant) -> Duration? {
        defer { lookedAt = now }
        guard let lookedAt, now - lookedAt >= Self.gapMin else { return nil }
        return now - lookedAt
    }
}
