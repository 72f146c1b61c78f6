/// The wait of a reader for open transactions that hide records from it.
public struct TransactionWait: Sendable {
    private let topic: String
    private var deadline: ContinuousClock.Instant?

    /// The longest wait. Short, because a command answers within five seconds.
    public static let longest = Duration.seconds(3)

    public init(topic: String) { self.topic = topic }

    /// Notes the state of the reader after each read.
    ///
    /// - Parameters:
    ///   - hasRead: true if the read has brought records on the way to the end.
    ///   - isHeldUp: true if an open transaction hides records.
    /// - Throws: an error once a transaction has hidden records for the longest wait, and nothing else was left to read.
    public mutating func note(
        hasRead: Bool, isHeldUp: Bool, at now: ContinuousClock.Instant
    ) throws(KafkaFailure) {
        guard isHeldUp, !hasRead else { return deadline = nil }
        let deadline = self.deadline ?? now + Self.longest
        self.deadline = deadline
        if deadline <= now { throw .heldUp(topic: topic) }
    }
}
