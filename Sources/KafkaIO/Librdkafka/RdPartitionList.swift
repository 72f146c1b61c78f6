import CRdkafka
import Foundation
import KafkaModel
import NewsModel

/// librdkafka's list of partitions with offsets, freed with this object.
final class RdPartitionList {
    private let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(capacity: Int = 8) {
        pointer = rd_kafka_topic_partition_list_new(Int32(clamping: capacity))
    }

    convenience init(_ offsets: [PartitionOffset]) {
        self.init(capacity: offsets.count)
        for offset in offsets { append(offset.partition, offset.offset) }
    }

    deinit { rd_kafka_topic_partition_list_destroy(pointer) }

    func append(_ partition: TopicPartition, _ offset: Int64 = Int64(RD_KAFKA_OFFSET_INVALID)) {
        rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)?.pointee.offset = offset
    }

    /// Appends an offset with metadata for the broker to store. The list frees its copy.
    func append(_ partition: TopicPartition, _ offset: Int64, metadata: String) {
        let element = rd_kafka_topic_partition_list_add(pointer, partition.topic, partition.partition)
        element?.pointee.offset = offset
        guard !metadata.isEmpty, let copy = strdup(metadata) else { return }
        element?.pointee.metadata = UnsafeMutableRawPointer(copy)
        element?.pointee.metadata_size = metadata.utf8.count
    }

    /// Lends the list for one call.
    func withPointer<R>(_ body: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> R) -> R {
        withExtendedLifetime(self) { body(pointer) }
    }

    var elements: [Element] { Self.elements(pointer) }

    /// An entry of a list that librdkafka filled in.
    struct Element {
        var partition: TopicPartition
        var offset: Int64
        var error: rd_kafka_resp_err_t
        /// The metadata of the committed offset; empty if there is no metadata.
        var metadata = ""
    }

    static func elements(_ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?) -> [Element] {
        guard let list = list?.pointee else { return [] }
        return UnsafeBufferPointer(start: list.elems, count: Int(list.cnt)).map(element)
    }

    private static func element(_ element: rd_kafka_topic_partition_t) -> Element {
        Element(
            partition: TopicPartition(topic: String(cString: element.topic), partition: element.partition),
            offset: element.offset, error: element.err,
            metadata: String(
                decoding: UnsafeRawBufferPointer(start: element.metadata, count: element.metadata_size), as: UTF8.self))
    }
}
