import CRdkafka
import NewsModel

/// Consecutive records of one partition, gathered into one event; an end or an error between them splits it.
struct RecordRun {
    let lane: Int
    let generation: Int
    let partition: TopicPartition
    private(set) var records = 0
    private(set) var bytes = 0
    private var waiting: [SourceRecord] = []

    init(lane: Int, generation: Int, partition: TopicPartition) {
        self.lane = lane
        self.generation = generation
        self.partition = partition
    }

    mutating func add(_ message: UnsafePointer<rd_kafka_message_t>, _ shard: Int, _ outbox: inout Outbox) {
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            let record = SourceRecord(message)
            records += 1
            bytes += record.byteCount
            waiting.append(record)
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            finish(shard, &outbox)
            let offset = message.pointee.offset
            outbox.add(
                .endReached(lane: lane, generation: generation, partition: partition, offset: offset), shard: shard)
        default:
            finish(shard, &outbox)
            let text = rd_kafka_message_errstr(message).map { String(cString: $0) } ?? ""
            outbox.add(.trouble(KafkaFailure(message.pointee.err, detail: "\(partition): \(text)")), shard: 0)
        }
    }

    mutating func finish(_ shard: Int, _ outbox: inout Outbox) {
        guard !waiting.isEmpty else { return }
        outbox.add(
            .records(lane: lane, generation: generation, partition: partition, records: waiting), shard: shard)
        waiting = []
    }
}
