/// Writes of several records each that the broker has not fully acknowledged.
public struct PendingWrites: Sendable {
    /// The broker's answer about one record.
    public enum Answer: Sendable, Hashable {
        case stored
        /// The record will never be stored, for its own fault; other records may be.
        case refused(KafkaFailure)
        case failed(KafkaFailure)
    }

    private struct Write: Sendable {
        var left: Int
        var failure: KafkaFailure?
        var refused: [Int] = []
        var refusal: KafkaFailure?
    }

    private var writes: [UInt64: Write] = [:]

    public init() {}

    public var isEmpty: Bool { writes.isEmpty }

    /// - Parameter records: the number of expected answers.
    /// - Returns: the end of a write without records.
    public mutating func begin(_ write: UInt64, records: Int) -> SharedStateEvent? {
        guard records > 0 else { return .written(write) }
        writes[write] = Write(left: records)
        return nil
    }

    /// - Parameter record: its index in the write.
    /// - Returns: the end of the write, once all its records have answers.
    public mutating func answered(_ write: UInt64, record: Int, _ answer: Answer) -> SharedStateEvent? {
        guard var pending = writes[write] else { return nil }
        pending.left -= 1
        switch answer {
        case .stored: break
        case .refused(let failure):
            pending.refused.append(record)
            pending.refusal = pending.refusal ?? failure
        case .failed(let failure): pending.failure = pending.failure ?? failure
        }
        writes[write] = pending.left > 0 ? pending : nil
        if pending.left > 0 { return nil }
        if let failure = pending.failure { return .notWritten(write, failure) }
        if let refusal = pending.refusal { return .refused(write, records: pending.refused.sorted(), refusal) }
        return .written(write)
    }

    /// Ends all writes, because no more answers will come.
    ///
    /// - Returns: the ends of all writes.
    public mutating func abandon(_ failure: KafkaFailure) -> [SharedStateEvent] {
        defer { writes = [:] }
        return writes.keys.sorted().map { .notWritten($0, writes[$0]?.failure ?? failure) }
    }
}
