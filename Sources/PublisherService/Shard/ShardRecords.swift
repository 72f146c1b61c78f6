import DequeModule
import KafkaIO
import KafkaModel
import NewsModel
import PublishEngine

/// Hands a shard's records to the Kafka producer, in order. Records for which the producer has no room wait here. They
/// are bounded by the window, to which the records belong.
struct ShardRecords: ~Copyable {
    private let kafka: KafkaDriver
    private let shard: ShardID
    private let resultsTopic: String
    private let group: String
    private var owner: ResultOwner
    /// The record of the result that is being written. The next result reuses its memory.
    private var draft = RecordDraft()
    private var waiting: Deque<Waiting> = []

    private struct Waiting {
        var record: ProducedRecord
        var delivery: DeliveryID
        var kind: StoredRecord.Kind
    }

    init(_ kafka: KafkaDriver, _ shard: ShardID, resultsTopic: String, group: String) {
        self.kafka = kafka
        self.shard = shard
        self.resultsTopic = resultsTopic
        self.group = group
        owner = ResultOwner(process: UInt32.random(in: .min ... .max))
    }

    mutating func partitionsAssigned() { owner.partitionsAssigned() }

    /// Writes a result.
    ///
    /// - Parameter carried: the headers that it carries on.
    mutating func produce(_ request: StoreRequest, carrying carried: [RecordHeader]) {
        request.resultRecord(in: &draft, topic: resultsTopic, group: group, owner: owner, carrying: carried)
        if waiting.isEmpty, kafka.produce(draft, delivery: request.delivery, kind: .result, shard: shard) { return }
        waiting.append(Waiting(record: ProducedRecord(draft), delivery: request.delivery, kind: .result))
    }

    mutating func produceDeadLetter(_ record: SourceRecord, of request: StoreRequest, topic: String) {
        let letter = request.deadLetterRecord(record, topic: topic, group: group)
        produce(letter, of: request.delivery, as: .deadLetter)
    }

    /// Writes the original of a delivery: a dead letter, or a record for the held topic.
    mutating func produce(_ record: ProducedRecord, of delivery: DeliveryID, as kind: StoredRecord.Kind) {
        let next = Waiting(record: record, delivery: delivery, kind: kind)
        if waiting.isEmpty, hand(next) { return }
        waiting.append(next)
    }

    /// Produces records that waited for room.
    mutating func produceWaiting() {
        while let next = waiting.first, hand(next) { waiting.removeFirst() }
    }

    private func hand(_ next: Waiting) -> Bool {
        kafka.produce(next.record, delivery: next.delivery, kind: next.kind, shard: shard)
    }
}
