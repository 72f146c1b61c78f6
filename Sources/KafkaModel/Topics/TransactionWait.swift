/// The wait of a reader for open transactions that hide records from it.
public struct TransactionWait: Sendable {
    private let topic: String
    private let longest: Duration
    private var deadline: ContinuousClock.Instant?

    /// The longest wait by default. Short, because a command answers within five seconds.
    public static let longest = Duration.seconds(3)

    public init(topic: String, longest: Duration = Self.longest) {
        self.topic = topic
        self.longest = longest
    }

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
        let deadline = self.deadline ?? now + longest
        self.deadline = deadline
        if deadline <= now { throw .heldUp(topic: topic) }
    }
}
