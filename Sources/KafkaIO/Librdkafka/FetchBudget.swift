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
