package import KafkaIO
import KafkaModel
package import NewsModel

/// A newsroom's topics. Publishes news to the source topic and reads the results.
package struct Topics: Sendable {
    package static let events = "news.events"
    package static let results = "news.results"
    package static let deadLetters = "news.dead-letters"

    package let kafka: KafkaSettings
    /// The number of partitions of every topic.
    package let partitions: Int

    package init(kafka: KafkaSettings, partitions: Int) {
        self.kafka = kafka
        self.partitions = partitions
    }

    /// The topics for `EmbeddedBroker`, with their partitions.
    package static func all(partitions: Int) -> [(String, Int)] {
        [events, results, deadLetters].map { ($0, partitions) }
    }

    /// Publishes records to a topic, one partition after another.
    package func publish(
        _ records: [(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader])], to topic: String = events
    ) throws {
        let publisher = try RecordPublisher(settings: kafka)
        for (index, record) in records.enumerated() {
            try publisher.publish(
                ProducedRecord(
                    topic: topic, partition: Int32(index % partitions), key: record.key, value: record.value,
                    headers: record.headers))
        }
        try publisher.flush()
    }

    package func publish(_ values: [String]) throws {
        try publish(values.map { (nil, Array($0.utf8), []) })
    }

    package func publish(_ events: [NewsEvent]) throws {
        try publish(
            events.map { event in
                var value: [UInt8] = []
                event.encode(into: &value)
                return (Array(event.id.utf8), value, [])
            })
    }

    package func results() throws -> [ResultRecord] {
        try read(Self.results).map { try ResultRecord(decoding: $0.record.value ?? []) }
    }

    package func deadLetters() throws -> [SourceRecord] { try read(Self.deadLetters).map(\.record) }

    /// Reads every record that is on a topic now.
    package func read(_ topic: String) throws -> [TopicReader.ReadRecord] {
        let reader = try TopicReader(settings: kafka, topic: topic)
        var records: [TopicReader.ReadRecord] = []
        while !reader.isAtEnd { records += try reader.next() }
        return records
    }
}
