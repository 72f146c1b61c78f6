import KafkaModel
import NewsModel
import Testing

/// Records that retention or an operator removed before they were read.
struct RemovedRecordsTests {
    private let partition = TopicPartition(topic: "news", partition: 0)
    private var events = ShardEvents(shards: 1)
    private var consumer = ConsumerState(lane: LaneID(0), shards: 1, patience: .seconds(1))

    /// Assigns the partition, with the group's committed offset.
    private mutating func assign(committed: Int64?) {
        consumer.assigned([partition], &events)
        consumer.found(
            IncarnationNotes(
                generation: consumer.generation, notes: [(partition, nil)],
                uncommitted: committed == nil ? [partition] : [],
                committed: committed.map { [partition: $0] } ?? [:]))
    }

    private mutating func read(_ offsets: [Int64]) {
        let records = offsets.map { SourceRecord(offset: $0, value: Array("{}".utf8)) }
        consumer.hand([.records(records)], of: 0, &events)
    }

    /// The offsets found to be removed if the partition now begins at `first`.
    private mutating func removed(first: Int64) -> [Range<Int64>] {
        consumer.removalChecks().flatMap { consumer.checked($0, firstOffset: first) }.map(\.offsets)
    }

    @Test mutating func `records removed while no process ran are reported once`() throws {
        assign(committed: 10)
        read([595, 596])
        let check = try #require(consumer.removalChecks().first)
        #expect(consumer.removalChecks() == [check], "an unanswered check is requested again")
        let removed = consumer.checked(check, firstOffset: 595)
        #expect(removed == [RemovedRecords(partition, 10..<595)])
        #expect(removed.map(\.count) == [585])
        #expect(consumer.removalChecks().isEmpty)
        #expect(consumer.checked(check, firstOffset: 595).isEmpty, "the second answer repeats the first")
        read([597])
        #expect(consumer.removalChecks().isEmpty)
    }

    @Test mutating func `a partition whose unread records were all removed is reported at its end`() {
        assign(committed: 10)
        consumer.hand([.end(offset: 600)], of: 0, &events)
        #expect(removed(first: 600) == [10..<600])
    }

    @Test mutating func `records removed while the lane was stopped are reported when reading continues`() {
        assign(committed: 0)
        read([0, 1, 2])
        // Two buffered records precede the first one that is left.
        read([3, 4, 900, 901])
        #expect(removed(first: 900) == [5..<900])
        read([902])
        consumer.hand([.end(offset: 1_500)], of: 0, &events)
        #expect(removed(first: 1_500) == [903..<1_500])
    }

    @Test mutating func `only offsets below the first one are removed records`() {
        assign(committed: 10)
        read([40, 41])
        #expect(removed(first: 30) == [10..<30])
    }

    @Test mutating func `gaps that transactions leave are not reported`() {
        assign(committed: 10)
        read([12, 13, 15])
        consumer.hand([.end(offset: 17)], of: 0, &events)
        #expect(removed(first: 3).isEmpty)
        #expect(consumer.removalChecks().isEmpty, "each gap is checked once")
    }

    @Test mutating func `many small gaps do not hide a large one`() {
        assign(committed: 0)
        read([500])
        for offset in 0..<100 { read([502 + 2 * Int64(offset)]) }
        #expect(removed(first: 500) == [0..<500])
    }

    @Test mutating func `the first start of a group without committed offsets is not a loss`() {
        assign(committed: nil)
        read([595])
        #expect(consumer.removalChecks().isEmpty)
    }

    @Test mutating func `a recreated topic is not reported as a loss`() throws {
        assign(committed: 10)
        read([12])
        let check = try #require(consumer.removalChecks().first)
        // The new incarnation begins at 0.
        read([0])
        #expect(consumer.removalChecks().isEmpty)
        #expect(consumer.checked(check, firstOffset: 12).isEmpty)
        let isRewound = consumer.rewind(partition, consumer.generation)
        #expect(isRewound)
        read([5])
        #expect(consumer.removalChecks().isEmpty, "the former committed offset does not count")
    }

    @Test mutating func `a check that a revoked partition left open is answered once`() throws {
        assign(committed: 10)
        read([12])
        let check = try #require(consumer.removalChecks().first)
        _ = consumer.revoked(lost: false, at: Instant(milliseconds: 0), &events)
        #expect(consumer.removalChecks() == [check], "the next owner begins behind the gap")
        assign(committed: 13)
        #expect(consumer.checked(check, firstOffset: 12) == [RemovedRecords(partition, 10..<12)])
        #expect(consumer.checked(check, firstOffset: 12).isEmpty)
        #expect(consumer.removalChecks().isEmpty)
    }

    @Test mutating func `an open check of a deleted partition ends, and follows those of the present assignment`() {
        assign(committed: 10)
        read([12])
        _ = consumer.revoked(lost: false, at: Instant(milliseconds: 0), &events)
        assign(committed: 20)
        read([25])
        let checks = consumer.removalChecks()
        #expect(checks.map(\.generation) == [consumer.generation, Generation(1)])
        for check in checks { #expect(consumer.checked(check, firstOffset: nil).isEmpty) }
        #expect(consumer.removalChecks() == [checks[0]], "a topic may be unknown to a broker for a moment")
    }

    @Test mutating func `an answer of an earlier assignment does not count for the present one`() throws {
        assign(committed: 10)
        read([12])
        let check = try #require(consumer.removalChecks().first)
        assign(committed: 10)
        #expect(consumer.checked(check, firstOffset: 12).isEmpty)
    }
}
