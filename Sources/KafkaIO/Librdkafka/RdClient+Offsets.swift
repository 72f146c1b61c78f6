import CRdkafka
import KafkaModel
import NewsModel

/// First and last offsets of partitions. Asked for by time, because `rd_kafka_query_watermark_offsets` of librdkafka 2.0.2
/// waits far beyond its time limit for a broker that does not answer.
extension RdClient {
    /// The first offset kept and the one after the last, of partitions that one broker leads; those that cannot be told are
    /// absent.
    func ranges(
        _ partitions: [TopicPartition], milliseconds: Int32
    ) throws(KafkaFailure) -> [TopicPartition: Range<Int64>] {
        guard let first = partitions.first else { return [:] }
        let lists = [RD_KAFKA_OFFSET_BEGINNING, RD_KAFKA_OFFSET_END].map { which in
            RdPartitionList(partitions.map { PartitionOffset($0, Int64(which)) })
        }
        for list in lists {
            let error = list.withPointer { rd_kafka_offsets_for_times(handle, $0, milliseconds) }
            if error != RD_KAFKA_RESP_ERR_NO_ERROR {
                throw explained(error, detail: "The offsets of \(first) could not be read")
            }
        }
        var ranges: [TopicPartition: Range<Int64>] = [:]
        for (low, high) in zip(lists[0].elements, lists[1].elements)
        where low.error == RD_KAFKA_RESP_ERR_NO_ERROR && high.error == RD_KAFKA_RESP_ERR_NO_ERROR {
            let start = max(low.offset, 0)
            ranges[low.partition] = start..<max(start, high.offset)
        }
        return ranges
    }

    func watermarks(_ partition: TopicPartition, milliseconds: Int32) throws(KafkaFailure) -> Range<Int64> {
        guard let range = try ranges([partition], milliseconds: milliseconds)[partition] else {
            throw KafkaFailure(
                RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, detail: "The offsets of \(partition) could not be read")
        }
        return range
    }
}
