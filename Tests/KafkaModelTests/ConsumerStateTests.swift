import KafkaModel
import NewsModel
import Testing

private let partition = TopicPartition(topic: "news", partition: 0)

private func records(_ offsets: Range<Int64>) -> [SourceRecord] {
    offsets.map { SourceRecord(offset: $0, value: Array("{}".utf8)) }
}

@Test
func `offsets that start again are another incarnation, which is read after the former one is finished`() {
    var consumer = ConsumerState(lane: LaneID(0), shards: 1, patience: .seconds(1))
    var events = ShardEvents(shards: 1)
    consumer.assigned([partition], &events)
    consumer.resume(partition, consumer.generation)
    consumer.grant(records: 100, bytes: 10_000, shard: ShardID(0))
    _ = consumer.read(batch: 10, &events) { _, _ in [.records(records(0..<5))] }
    _ = consumer.read(batch: 10, &events) { _, _ in [.records(records(0..<3))] }
    guard case .restarted(_, _, partition, _)? = events.lists[0].last else {
        Issue.record("nobody was told: \(events.lists[0])")
        return
    }
    var isRead = false
    _ = consumer.read(batch: 10, &events) { _, _ in
        isRead = true
        return []
    }
    #expect(!isRead)
    let isRewound = consumer.rewind(partition, consumer.generation)
    #expect(isRewound)
    consumer.resume(partition, consumer.generation)
    events.flush { _, _ in }
    _ = consumer.read(batch: 10, &events) { _, _ in [.records(records(0..<3))] }
    guard case .records(_, _, partition, let again)? = events.lists[0].last else {
        Issue.record("the new incarnation is not read")
        return
    }
    #expect(again.map(\.offset) == [0, 1, 2])
}
