import CRdkafka
import KafkaModel
import NewsModel
import Synchronization

/// Makes librdkafka before 2.2 fetch again as soon as a queue has room.
///
/// Those versions stop fetching when the queues are full, and look again only when something else wakes the broker's
/// thread, or after a second: with queues that hold less than a second's worth of records the consumer starves. Any
/// request to the broker wakes that thread, so we ask it for an offset that we do not need. Newer versions have
/// `fetch.queue.backoff.ms` instead, and no nudge is made.
final class FetchNudge: Sendable {
    private struct State {
        var waiting: [(client: RdClient, partitions: [TopicPartition])] = []
        var isClosing = false
    }

    private let wakeUp: WakeUp
    private let state = Mutex(State())

    static var isNeeded: Bool { rd_kafka_version() < 0x0202_0000 }

    /// `nil` when the library needs none.
    static func ifNeeded() throws(KafkaFailure) -> FetchNudge? { isNeeded ? try FetchNudge() : nil }

    /// Wakes the threads of the partitions' brokers; waits for their answer, which does not matter.
    static func nudge(_ client: RdClient, _ partitions: [TopicPartition]) {
        let list = RdPartitionList(capacity: partitions.count)
        for partition in partitions { list.append(partition, Int64(RD_KAFKA_OFFSET_END)) }
        _ = list.withPointer { rd_kafka_offsets_for_times(client.handle, $0, 1_000) }
    }

    private init() throws(KafkaFailure) {
        wakeUp = try WakeUp()
    }

    /// Never blocks. While the thread is behind, further requests of a client join the waiting one.
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

/// Divides a consumer's share of memory among the queues of its partitions.
struct FetchBudget {
    var bytes: Int
    var partitions: Int

    private var share: Int { bytes / max(partitions, 1) }

    /// Bytes a partition's queue may hold before fetching stops: half of its share. The other half is for the response
    /// on its way.
    var queued: Int { min(max(share / 2, 64 << 10), 64 << 20) }

    var properties: [(String, String)] {
        let fetch = min(max(share / 2, 64 << 10), 1 << 20)
        return [
            ("queued.max.messages.kbytes", String(queued >> 10)),
            // Small records cost more to keep than they weigh.
            ("queued.min.messages", String(min(max(queued / 512, 200), 100_000))),
            ("fetch.message.max.bytes", String(fetch)), ("fetch.max.bytes", String(max(bytes / 2, 1 << 20))),
            // From 2.2 on, a full queue is not looked at again for a second unless told.
            ("fetch.queue.backoff.ms", "5"),
        ]
    }
}
