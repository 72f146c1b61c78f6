import KafkaModel
import NewsModel
import Testing

struct RefusedRecordsTests {
    private let start = Instant(milliseconds: 1_000)
    private let record = ProducedRecord(topic: "results", value: [1], headers: [.init("ce_x", "large")])
    private let tooLarge = KafkaFailure(code: "MSG_SIZE_TOO_LARGE", detail: "too large")
    private let offline = KafkaFailure(code: "NOT_ENOUGH_REPLICAS", isRetriable: true, detail: "offline")

    private func key(_ delivery: UInt64) -> RefusedRecords.Key {
        RefusedRecords.Key(shard: ShardID(0), delivery: DeliveryID(rawValue: delivery), kind: .result)
    }

    private func smallest(_ record: ProducedRecord) -> ProducedRecord {
        ProducedRecord(topic: record.topic, value: record.value)
    }

    @Test func `a record that is too large is tried at once in its smallest form, then ever more slowly`() throws {
        var refused = RefusedRecords()
        refused.refused(record, key(1), tooLarge, at: start, smallest: smallest)
        let first = refused.due(at: start)
        #expect(first.map(\.record) == [smallest(record)])
        var now = start
        var rest = Duration.zero
        for _ in 0..<12 {
            refused.refused(smallest(record), key(1), tooLarge, at: now, smallest: smallest)
            let due = try #require(refused.nextDue)
            #expect(due - now >= rest && due - now <= .seconds(15))
            rest = due - now
            now = due
            #expect(refused.due(at: now).count == 1)
        }
        #expect(rest == .seconds(15))
        #expect(refused.reasons == [.init(topic: "results", records: 1, since: start, failure: tooLarge)])
        let wasRefused = refused.stored(key(1))
        #expect(wasRefused && refused.isEmpty && refused.reasons.isEmpty && refused.nextDue == nil)
    }

    @Test func `a record refused for another reason is tried again unchanged`() {
        var refused = RefusedRecords()
        for delivery in 1...3 {
            refused.refused(record, key(UInt64(delivery)), offline, at: start, smallest: smallest)
        }
        #expect(refused.due(at: start).isEmpty)
        let due = refused.due(at: start + .seconds(1))
        #expect(due.map(\.record) == [record, record, record] && due.map(\.key) == [key(1), key(2), key(3)])
        #expect(refused.keys == [key(1), key(2), key(3)])
        let wasRefused = refused.stored(key(9))
        #expect(!wasRefused && refused.reasons.first?.records == 3)
    }

    @Test func `a record for which the producer has no room is not lost`() {
        var refused = RefusedRecords()
        refused.refused(record, key(1), offline, at: start, smallest: smallest)
        let later = start + .seconds(1)
        for due in refused.due(at: later) { refused.postpone(due.record, due.key, at: later) }
        #expect(refused.due(at: later).isEmpty)
        #expect(refused.due(at: later + .seconds(1)).map(\.record) == [record])
    }
}
