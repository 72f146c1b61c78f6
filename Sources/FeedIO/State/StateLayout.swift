package import KafkaIO
package import KafkaModel
import NewsModel

/// The number of partitions over which feeds are distributed: that of the state topic when it was first used. It is
/// stored in the topic itself, because otherwise a growing topic would separate feeds from their stored state.
package struct StateLayout: Sendable, Hashable {
    package var partitions: Int32
}

extension StateLayout {
    /// The key of the layout record, which is in partition 0.
    package static let key = "layout"

    package var value: [UInt8] { JSONWriter.object { $0.field("partitions", Int(partitions)) } }

    package init?(value: [UInt8]) {
        let parser = JSONParser(sizeMax: 1_024)
        var found: Int32?
        value.withUnsafeBufferPointer { bytes in
            guard let object = try? parser.object(in: bytes) else { return }
            for member in object where member.name == "partitions" {
                if case .integer(let count) = member.value { found = Int32(exactly: count) }
            }
        }
        guard let found, found > 0 else { return nil }
        self.init(partitions: found)
    }

    /// Returns the layout in force, and writes one if it is missing. Blocks while partition 0 is read.
    ///
    /// - Parameter count: the topic's current number of partitions.
    package static func inForce(
        _ settings: KafkaSettings, topic: String, count: Int
    ) throws(KafkaFailure) -> StateLayout {
        if let layout = try read(settings, topic: topic) { return layout }
        let publisher = try RecordPublisher(settings: settings)
        let fresh = StateLayout(partitions: Int32(clamping: count))
        try publisher.publish(fresh.record(topic: topic))
        try publisher.flush()
        // Another process may have written first.
        return try read(settings, topic: topic) ?? fresh
    }

    package func record(topic: String) -> ProducedRecord {
        ProducedRecord(topic: topic, partition: 0, key: Array(Self.key.utf8), value: value)
    }

    /// Blocks while partition 0 is read.
    package static func read(_ settings: KafkaSettings, topic: String) throws(KafkaFailure) -> StateLayout? {
        // The layout is never in a transaction, but may stand behind one that is open.
        let reader = try TopicReader(settings: settings, topic: topic, partitions: [0], readsUncommitted: true)
        var layout: StateLayout?
        while !reader.isAtEnd {
            for read in try reader.next() where read.record.key == Array(key.utf8) {
                layout = read.record.value.flatMap(StateLayout.init(value:)) ?? layout
            }
        }
        return layout
    }
}
