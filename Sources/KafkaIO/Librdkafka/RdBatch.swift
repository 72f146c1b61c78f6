import CRdkafka

/// A reusable array for `rd_kafka_consume_batch_queue`.
final class RdBatch {
    static let capacity = 256
    private let messages: UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>

    init() {
        messages = .allocate(capacity: Self.capacity)
        messages.initialize(repeating: nil, count: Self.capacity)
    }

    deinit { messages.deallocate() }

    /// Reads at most `limit` messages, waiting up to `milliseconds` for the first ones, hands each to `body` and
    /// destroys it. Returns how many there were.
    func read(
        _ queue: RdQueue, limit: Int, milliseconds: Int32 = 0, _ body: (UnsafePointer<rd_kafka_message_t>) -> Void
    ) -> Int {
        let count = rd_kafka_consume_batch_queue(queue.handle, milliseconds, messages, min(limit, Self.capacity))
        guard count > 0 else { return 0 }
        for index in 0..<count {
            guard let message = messages[index] else { continue }
            body(UnsafePointer(message))
            rd_kafka_message_destroy(message)
        }
        return count
    }
}
