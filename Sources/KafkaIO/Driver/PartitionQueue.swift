import CRdkafka
import KafkaModel
import NewsModel

/// The queue of one assigned partition. `ConsumerState` decides how much is read.
final class PartitionQueue {
    let partition: TopicPartition
    private let queue: RdQueue
    /// Number of bytes taken since fetching was last nudged.
    var taken = 0

    init?(_ partition: TopicPartition, _ client: RdClient, _ wakeUp: WakeUp) {
        guard let queue = RdQueue.detached(partition, client) else { return nil }
        self.partition = partition
        self.queue = queue
        queue.wake(wakeUp)
    }

    /// Reads the available records without waiting.
    func read(_ batch: RdBatch, limit: Int) -> [ConsumerState.Reading] {
        var readings: [ConsumerState.Reading] = []
        var records: [SourceRecord] = []
        _ = batch.read(queue, limit: limit) { message in
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR:
                let record = SourceRecord(message)
                taken += record.byteCount
                // Offsets that restart belong to another incarnation. A list contains only one incarnation.
                if let last = records.last, record.offset <= last.offset { flush(&records, &readings) }
                records.append(record)
            case RD_KAFKA_RESP_ERR__PARTITION_EOF:
                flush(&records, &readings)
                readings.append(.end(offset: message.pointee.offset))
            default:
                flush(&records, &readings)
                readings.append(.failed(KafkaFailure(reading: partition, message)))
            }
        }
        flush(&records, &readings)
        return readings
    }

    private func flush(_ records: inout [SourceRecord], _ readings: inout [ConsumerState.Reading]) {
        guard !records.isEmpty else { return }
        readings.append(.records(records))
        records = []
    }
}
