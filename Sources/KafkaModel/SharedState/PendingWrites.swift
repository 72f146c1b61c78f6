/// Writes of several records each that the broker has not answered for.
public struct PendingWrites: Sendable {
    private struct Write: Sendable {
        var left: Int
        var failure: KafkaFailure?
    }

    private var writes: [UInt64: Write] = [:]

    public init() {}

    public var isEmpty: Bool { writes.isEmpty }

    /// - Parameter records: how many answers there will be.
    /// - Returns: the end of a write without records.
    public mutating func begin(_ write: UInt64, records: Int) -> SharedStateEvent? {
        guard records > 0 else { return .written(write) }
        writes[write] = Write(left: records)
        return nil
    }

    /// One record was stored, or not.
    ///
    /// - Returns: the end of the write, with its first failure, once all its records are answered for.
    public mutating func answered(_ write: UInt64, _ failure: KafkaFailure?) -> SharedStateEvent? {
        guard var pending = writes[write] else { return nil }
        pending.left -= 1
        pending.failure = pending.failure ?? failure
        writes[write] = pending.left > 0 ? pending : nil
        if pending.left > 0 { return nil }
        return pending.failure.map { .notWritten(write, $0) } ?? .written(write)
    }

    /// Nobody will answer any more.
    ///
    /// - Returns: the ends of all writes.
    public mutating func abandon(_ failure: KafkaFailure) -> [SharedStateEvent] {
        defer { writes = [:] }
        return writes.keys.sorted().map { .notWritten($0, writes[$0]?.failure ?? failure) }
    }
}
