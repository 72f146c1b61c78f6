import CRdkafka
import NewsModel

/// A reference to one of a client's queues. The client must outlive it.
final class RdQueue {
    let handle: OpaquePointer
    private let client: RdClient

    private init(_ handle: OpaquePointer, _ client: RdClient) {
        self.handle = handle
        self.client = client
    }

    deinit {
        // The queue may persist inside librdkafka, but must not keep our descriptor.
        rd_kafka_queue_io_event_enable(handle, -1, nil, 0)
        rd_kafka_queue_destroy(handle)
    }

    static func main(_ client: RdClient) -> RdQueue? {
        rd_kafka_queue_get_main(client.handle).map { RdQueue($0, client) }
    }

    static func consumer(_ client: RdClient) -> RdQueue? {
        rd_kafka_queue_get_consumer(client.handle).map { RdQueue($0, client) }
    }

    static func new(_ client: RdClient) -> RdQueue? {
        rd_kafka_queue_new(client.handle).map { RdQueue($0, client) }
    }

    /// Returns the partition's own queue, detached from the consumer's.
    static func detached(_ partition: TopicPartition, _ client: RdClient) -> RdQueue? {
        guard let handle = rd_kafka_queue_get_partition(client.handle, partition.topic, partition.partition) else {
            return nil
        }
        rd_kafka_queue_forward(handle, nil)
        return RdQueue(handle, client)
    }

    private static let one = {
        let byte = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        byte.initialize(to: 1)
        return UInt(bitPattern: byte)
    }()

    func wake(_ wakeUp: WakeUp) {
        rd_kafka_queue_io_event_enable(handle, wakeUp.descriptor, UnsafeRawPointer(bitPattern: Self.one), 8)
    }
}

/// A reusable array for `rd_kafka_consume_batch_queue`.
final class RdBatch {
    static let capacity = 256
    private let messages: UnsafeMutablePointer<UnsafeMutablePointer<rd_kafka_message_t>?>

    init() {
        messages = .allocate(capacity: Self.capacity)
        messages.initialize(repeating: nil, count: Self.capacity)
    }

    deinit { messages.deallocate() }

    /// Reads at most `limit` messages, waiting up to `milliseconds` for the first ones. Passes each to `body` and destroys it.
    /// Returns the number of messages.
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
