import KafkaModel
import NewsModel
import Testing

private let lane = LaneID(1)
private let generation = Generation(1)

private func partition(_ number: Int32) -> TopicPartition { TopicPartition(topic: "news.feeds", partition: number) }

private func record(_ offset: Int64) -> SourceRecord {
    SourceRecord(offset: offset, timestamp: nil, key: nil, value: [1], headers: [])
}

private func assigned(_ numbers: Int32...) -> SharedStateReading {
    var reading = SharedStateReading()
    _ = reading.translate(.assigned(lane, generation, numbers.map(partition)))
    return reading
}

struct SharedStateReadingTests {
    @Test func `a partition is restored once everything before its end was handed over`() {
        var reading = assigned(0, 1)
        #expect(reading.unknownEnds == [0, 1])
        #expect(reading.found([0: 0..<3, 1: 0..<1], to: reading.question).isEmpty)
        let first = [record(0), record(1)]
        #expect(
            reading.translate(.records(lane, generation, partition(0), first)) == [.records(partition: 0, first)])
        #expect(
            reading.translate(.records(lane, generation, partition(0), [record(2)]))
                == [.records(partition: 0, [record(2)]), .restored(partition: 0)])
        #expect(reading.unrestored == [1])
    }

    @Test func `records read before the end is known count`() {
        var reading = assigned(0)
        _ = reading.translate(.records(lane, generation, partition(0), [record(0), record(1)]))
        #expect(reading.found([0: 0..<2], to: reading.question) == [.restored(partition: 0)])
    }

    @Test func `compacted records and markers at the end leave gaps, which the end of the fetch closes`() {
        var reading = assigned(0)
        _ = reading.found([0: 4..<9], to: reading.question)
        _ = reading.translate(.records(lane, generation, partition(0), [record(5)]))
        #expect(reading.translate(.endReached(lane, generation, partition(0), offset: 9)) == [.restored(partition: 0)])
    }

    @Test func `an end that a new leader shows too early restores nothing`() {
        var reading = assigned(0)
        #expect(reading.translate(.endReached(lane, generation, partition(0), offset: 2)).isEmpty)
        #expect(reading.found([0: 0..<3], to: reading.question).isEmpty)
        #expect(reading.unrestored == [0])
    }

    @Test func `an empty partition is restored at once`() {
        var reading = assigned(0)
        #expect(reading.found([0: 0..<0], to: reading.question) == [.restored(partition: 0)])
    }

    @Test func `a partition whose first records were removed says so before it is restored`() {
        var reading = assigned(0)
        #expect(
            reading.found([0: 7..<7], to: reading.question) == [
                .removed(partition: 0, below: 7), .restored(partition: 0),
            ])
        #expect(reading.found([0: 7..<7, 1: 3..<3], to: reading.question).isEmpty)
    }

    @Test func `a restored partition is reported once`() {
        var reading = assigned(0)
        _ = reading.found([0: 0..<1], to: reading.question)
        #expect(reading.translate(.records(lane, generation, partition(0), [record(0)])).count == 2)
        #expect(reading.translate(.records(lane, generation, partition(0), [record(1)])).count == 1)
        #expect(reading.translate(.endReached(lane, generation, partition(0), offset: 2)).isEmpty)
    }

    @Test func `ends requested before a rebalance are ignored after it`() {
        var reading = assigned(0)
        let question = reading.question
        _ = reading.translate(.revoked(lane, generation, [partition(0)], lost: false))
        _ = reading.translate(.assigned(lane, generation.next, [partition(0)]))
        #expect(reading.found([0: 0..<0], to: question).isEmpty)
        #expect(reading.unknownEnds == [0])
        #expect(reading.translate(.records(lane, generation, partition(0), [record(0)])).isEmpty)
    }

    @Test func `partitions that are gone already are lost, others are revoked`() {
        var reading = assigned(0, 2)
        #expect(
            reading.translate(.revoked(lane, generation, [partition(0), partition(2)], lost: true)) == [.lost([0, 2])])
        reading = assigned(1)
        #expect(reading.translate(.revoked(lane, generation, [partition(1)], lost: false)) == [.revoked([1])])
    }

    @Test func `a recreated topic is restored again`() {
        var reading = assigned(0)
        _ = reading.found([0: 0..<0], to: reading.question)
        #expect(
            reading.translate(.restarted(lane, generation, partition(0), incarnation: 1)) == [.restarted(partition: 0)])
        #expect(reading.unknownEnds == [0])
        #expect(reading.found([0: 0..<0], to: reading.question) == [.restored(partition: 0)])
    }

    @Test func `ends requested before the topic was recreated are ignored after it`() {
        var reading = assigned(0)
        let question = reading.question
        _ = reading.translate(.restarted(lane, generation, partition(0), incarnation: 1))
        #expect(reading.found([0: 40..<90], to: question).isEmpty)
        #expect(reading.unknownEnds == [0])
        #expect(reading.found([0: 0..<0], to: reading.question) == [.restored(partition: 0)])
    }

    @Test func `records that are removed from a restored partition are reported once`() {
        var reading = assigned(0, 1)
        _ = reading.found([0: 0..<0, 1: 0..<0], to: reading.question)
        #expect(reading.assigned == [0, 1])
        let ranges: [Int32: Range<Int64>] = [0: 5..<9, 1: 0..<4]
        #expect(reading.found(ranges, to: reading.question) == [.removed(partition: 0, below: 5)])
        #expect(reading.found(ranges, to: reading.question).isEmpty)
        #expect(reading.found([0: 9..<9], to: reading.question) == [.removed(partition: 0, below: 9)])
    }
}

struct PendingWritesTests {
    private let tooLarge = KafkaFailure(code: "MSG_SIZE_TOO_LARGE", detail: "too large")
    private let gone = KafkaFailure(code: "_PURGE_QUEUE", detail: "given up")

    @Test func `a write ends when its last record is answered for`() {
        var writes = PendingWrites()
        #expect(writes.begin(7, records: 2) == nil)
        #expect(writes.answered(7, record: 1, .stored) == nil)
        #expect(writes.answered(7, record: 0, .stored) == .written(7))
        #expect(writes.isEmpty)
    }

    @Test func `refused records are named by their places, the others are stored`() {
        var writes = PendingWrites()
        _ = writes.begin(1, records: 3)
        #expect(writes.answered(1, record: 2, .refused(tooLarge)) == nil)
        #expect(writes.answered(1, record: 0, .refused(tooLarge)) == nil)
        #expect(writes.answered(1, record: 1, .stored) == .refused(1, records: [0, 2], tooLarge))
    }

    @Test func `one failed record fails the write, whatever was refused`() {
        var writes = PendingWrites()
        _ = writes.begin(1, records: 3)
        _ = writes.answered(1, record: 0, .refused(tooLarge))
        _ = writes.answered(1, record: 1, .failed(gone))
        #expect(writes.answered(1, record: 2, .stored) == .notWritten(1, gone))
    }

    @Test func `a write without records ends at once`() {
        var writes = PendingWrites()
        #expect(writes.begin(1, records: 0) == .written(1))
    }

    @Test func `an abandoned write has failed`() {
        var writes = PendingWrites()
        _ = writes.begin(2, records: 1)
        _ = writes.begin(1, records: 2)
        #expect(writes.abandon(gone) == [.notWritten(1, gone), .notWritten(2, gone)])
        #expect(writes.answered(2, record: 0, .stored) == nil)
    }
}
