import NewsModel
import Testing

@testable import KafkaModel

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

    private func retry(_ record: ProducedRecord, _ delivery: UInt64 = 1, alone: Bool) -> RefusedRecords.Retry {
        RefusedRecords.Retry(key: key(delivery), record: record, isAlone: alone)
    }

    @Test(arguments: ["MSG_SIZE_TOO_LARGE", "INVALID_RECORD"])
    func `a record whose batch was refused is tried alone at once, unchanged`(code: String) {
        var refused = RefusedRecords()
        let failure = KafkaFailure(code: code, detail: "refused")
        for delivery in 1...2 {
            refused.refused(record, key(UInt64(delivery)), failure, wasAlone: false, at: start, smallest: smallest)
        }
        #expect(refused.reasons.isEmpty)
        #expect(refused.due(at: start) == [retry(record, 1, alone: true), retry(record, 2, alone: true)])
        refused.stored(key(1))
        refused.refused(record, key(2), offline, wasAlone: true, at: start, smallest: smallest)
        #expect(refused.reasons.map(\.records) == [1])
        #expect(refused.due(at: start + .seconds(15)) == [retry(record, 2, alone: true)])
    }

    @Test func `a record that is too large alone is tried at once in its smallest form, then ever more slowly`() throws
    {
        var refused = RefusedRecords()
        refused.refused(record, key(1), tooLarge, wasAlone: false, at: start, smallest: smallest)
        #expect(refused.due(at: start) == [retry(record, alone: true)])
        refused.refused(record, key(1), tooLarge, wasAlone: true, at: start, smallest: smallest)
        #expect(refused.due(at: start) == [retry(smallest(record), alone: true)])
        var now = start
        var rest = Duration.zero
        for _ in 0..<12 {
            refused.refused(smallest(record), key(1), tooLarge, wasAlone: true, at: now, smallest: smallest)
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
            refused.refused(record, key(UInt64(delivery)), offline, wasAlone: false, at: start, smallest: smallest)
        }
        #expect(refused.due(at: start).isEmpty)
        #expect(refused.due(at: start + .seconds(1)) == (1...3).map { retry(record, $0, alone: false) })
        #expect(refused.keys == [key(1), key(2), key(3)])
        let wasRefused = refused.stored(key(9))
        #expect(!wasRefused && refused.reasons.first?.records == 3)
    }

    @Test func `a record for which the producer has no room is not lost`() {
        var refused = RefusedRecords()
        refused.refused(record, key(1), offline, wasAlone: false, at: start, smallest: smallest)
        let later = start + .seconds(1)
        for due in refused.due(at: later) { refused.postpone(due, at: later) }
        #expect(refused.due(at: later).isEmpty)
        #expect(refused.due(at: later + .seconds(1)).map(\.record) == [record])
    }
}
