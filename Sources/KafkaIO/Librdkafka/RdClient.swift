import CRdkafka
import Foundation
import KafkaModel
import NewsModel

/// One librdkafka instance: its threads, connections and queues, destroyed with this object.
///
/// librdkafka's functions are thread-safe on one handle.
final class RdClient: @unchecked Sendable {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    // Consumers are closed by their owners in the order that the shards need, or were never in a group. Destroying joins
    // librdkafka's threads. Version 2.0.2 sometimes waited forever after a topic was recreated twice. Therefore, no thread of
    // ours waits for it, in particular at shutdown.
    deinit {
        let address = UInt(bitPattern: handle)
        Thread.detachNewThread {
            rd_kafka_destroy_flags(OpaquePointer(bitPattern: address), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
        }
    }

    /// Sends logs to the main queue as events.
    func takeLogs() { rd_kafka_set_log_queue(handle, nil) }

    /// Makes a failure. librdkafka reports a fatal error with its own code and its cause separately.
    func failure(
        _ error: rd_kafka_resp_err_t, during action: String? = nil, text: String? = nil
    ) -> KafkaFailure {
        guard error == RD_KAFKA_RESP_ERR__FATAL else { return KafkaFailure(error, during: action, text: text) }
        var text = [CChar](repeating: 0, count: 512)
        let cause = rd_kafka_fatal_error(handle, &text, text.count)
        return KafkaFailure(cause, during: action, text: String(rd: text), fatal: true)
    }

    /// - Parameter timeout: the longest wait for an answer, in milliseconds.
    func isAnyBrokerThere(timeout: Int32) -> Bool {
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let error = rd_kafka_metadata(handle, 0, nil, &metadata, timeout)
        if let metadata { rd_kafka_metadata_destroy(metadata) }
        return error == RD_KAFKA_RESP_ERR_NO_ERROR
    }

    /// Makes the failure for a record that the broker did not store.
    func notStored(_ error: rd_kafka_resp_err_t, on topic: String) -> KafkaFailure {
        failure(error, during: "A record was not stored on \(topic)")
    }
}

extension rd_kafka_message_t {
    /// The name of its topic; empty without a topic.
    var topic: String { rkt.flatMap { rd_kafka_topic_name($0) }.map { String(cString: $0) } ?? "" }
}

/// First and last offsets of partitions. They are requested by time, because `rd_kafka_query_watermark_offsets` of librdkafka
/// 2.0.2 waits far beyond its timeout for a broker that does not answer.
extension RdClient {
    /// Returns the first offset kept and the offset after the last one, for partitions with the same leader. Partitions with
    /// unknown offsets are absent.
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
                throw explained(error, during: "The offsets of \(first) could not be read")
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
                RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, during: "The offsets of \(partition) could not be read")
        }
        return range
    }
}
