import NewsModel

/// The age of a lane's news on arrival. If all of it is too old, the clock of the program that writes it is behind, or something
/// delays it on its way.
struct ArrivalAge: Sendable {
    private var last: (age: Duration, at: Instant)?

    /// The time for which a late arrival is shown, unless newer records arrive.
    static let shownFor = Duration.seconds(600)

    /// Receives records that were appended just now. Records without times show nothing.
    ///
    /// - Parameter maxAge: the lane's maximum age.
    mutating func read(_ records: [SourceRecord], maxAge: Duration, _ turn: borrowing Turn) {
        guard let newest = records.lazy.compactMap(\.timestamp).max() else { return }
        let age = turn.expiryClock - newest
        last = age >= maxAge ? (age, turn.now) : nil
    }

    /// The age of the last records on arrival if they were too old; otherwise `nil`.
    ///
    /// - Parameter now: the monotonic time.
    func tooOld(at now: Instant) -> Duration? {
        last.flatMap { now - $0.at <= Self.shownFor ? $0.age : nil }
    }
}
