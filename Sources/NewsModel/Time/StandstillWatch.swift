/// Notices that the process stood still: it was frozen, its machine was suspended, or it got no processor time for seconds.
///
/// The owner calls `look` at least ten times a second, and before it acts on anything that waited for it. What a process believes
/// about the rest of the world is old after a standstill: others may have taken over its partitions, or stopped the hub.
package struct StandstillWatch: Sendable {
    /// A longer gap between two looks is a standstill. Loaded machines have gaps of a second.
    package static let gapMin = Duration.seconds(3)

    private var lookedAt: Instant?

    package init() {}

    /// - Parameter now: by a clock that goes on while the machine is suspended, such as `CLOCK_BOOTTIME`.
    /// - Returns: how long the process stood still since the last look; `nil` if it did not.
    package mutating func look(_ now: Instant) -> Duration? {
        defer { lookedAt = now }
        guard let lookedAt, now - lookedAt >= Self.gapMin else { return nil }
        return now - lookedAt
    }
}
