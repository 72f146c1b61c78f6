import CRdkafka
import KafkaModel
import NewsModel
import Synchronization

/// Makes librdkafka before 2.2 fetch again as soon as a queue has room.
///
/// Those versions stop fetching when queues are full. They check again only after a second, or when something else wakes the
/// broker's thread. If the queues hold less than a second's records, the consumer starves. Any request to the broker wakes its
/// thread, so this requests an offset that is not needed. Newer versions have `fetch.queue.backoff.ms` instead and need no
/// nudge.
final class FetchNudge: Sendable {
    private struct State {
        var waiting: [(client: RdClient, partitions: [TopicPartition])] = []
        var isClosing = false
    }

    private let wakeUp: WakeUp
    private let state = Mutex(State())

    static var isNeeded: Bool { rd_kafka_version() < 0x0202_0000 }

    /// Returns `nil` if the library needs no nudge.
    static func ifNeeded() throws(KafkaFailure) -> FetchNudge? { isNeeded ? try FetchNudge() : nil }

    /// Wakes the threads of the partitions' brokers. Waits for their answer and ignores it.
    static func nudge(_ client: RdClient, _ partitions: [TopicPartition]) {
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition, Int64(RD_KAFKA_OFFSET_END)) }
        _ = list.withPointer { rd_kafka_offsets_for_times(client.handle, $0, 1_000) }
    }

    private init() throws(KafkaFailure) { wakeUp = try WakeUp() }

    /// Requests a nudge without blocking. While the thread is busy, further requests of a client are merged.
    func request(_ client: RdClient, _ partitions: [TopicPartition]) {
        state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0.client === client }) {
                for partition in partitions where !state.waiting[index].partitions.contains(partition) {
                    state.waiting[index].partitions.append(partition)
                }
            } else {
                state.waiting.append((client, partitions))
            }
        }
        wakeUp.signal()
    }

    func close() {
        state.withLock { $0.isClosing = true }
        wakeUp.signal()
    }

    func run() {
        while true {
            let (waiting, isClosing) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isClosing)
            }
            if isClosing { return }
            if waiting.isEmpty { wakeUp.wait(milliseconds: 60_000) }
            for (client, partitions) in waiting { Self.nudge(client, partitions) }
        }
    }
}

/// Divides a consumer's share of memory among the queues of its partitions. The sizes of fetches count compressed bytes, and
/// librdkafka unpacks a whole answer, so compressed records may need a multiple of the share (see the guide Operations).
struct FetchBudget {
    var bytes: Int
    var partitions: Int

    private var share: Int { bytes / max(partitions, 1) }

    /// Bytes that a partition's queue may hold before fetching stops: half of its share. The other half is for the response in
    /// flight.
    var queued: Int { min(max(share / 2, 64 << 10), 64 << 20) }

    var properties: [(String, String)] {
        let fetch = min(max(share / 2, 64 << 10), 1 << 20)
        return [
            ("queued.max.messages.kbytes", String(queued >> 10)),
            // The overhead of a small record exceeds its size.
            ("queued.min.messages", String(min(max(queued / 512, 200), 100_000))),
            ("fetch.message.max.bytes", String(fetch)), ("fetch.max.bytes", String(max(bytes / 2, 1 << 20))),
            // From 2.2 on, a full queue is checked again only after a second by default.
            ("fetch.queue.backoff.ms", "5"),
        ]
    }
}
