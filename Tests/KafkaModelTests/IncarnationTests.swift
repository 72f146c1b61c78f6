import KafkaModel
import NewsModel
import Testing

/// One partition and the state that watches its incarnations.
private struct Reader {
    let partition = TopicPartition(topic: "news", partition: 0)
    var consumer = ConsumerState(lane: LaneID(0), shards: 1, patience: .seconds(1))
    var events = ShardEvents(shards: 1)

    init(note: String?, isUncommitted: Bool = false, committed: Int64? = nil) {
        consumer.assigned([partition], &events)
        consumer.resume(partition, consumer.generation)
        consumer.grant(records: 10_000, bytes: 1 << 20, shard: ShardID(0))
        consumer.found(
            IncarnationNotes(
                generation: consumer.generation, notes: [(partition, note)],
                uncommitted: isUncommitted ? [partition] : [], committed: committed.map { [partition: $0] } ?? [:]))
    }

    mutating func read(_ offsets: Range<Int64>, of text: String) {
        let records = offsets.map { SourceRecord(offset: $0, value: Array("\(text)\($0)".utf8)) }
        _ = consumer.read(batch: 256, &events) { _, _ in [.records(records)] }
    }

    mutating func answer(_ finding: IncarnationAnchor.Finding) {
        for check in consumer.incarnationChecks() { consumer.checked(check, finding, &events) }
    }

    var hasRead: Bool { events.lists[0].contains { if case .records = $0 { true } else { false } } }

    var hasRestarted: Bool { events.lists[0].contains { if case .restarted = $0 { true } else { false } } }
}

private func anchor(_ offset: Int64, of text: String) -> IncarnationAnchor {
    IncarnationAnchor(SourceRecord(offset: offset, value: Array("\(text)\(offset)".utf8)))
}

struct IncarnationTests {
    @Test func `another record at the anchor is another incarnation, although offsets went on`() {
        var reader = Reader(note: nil)
        reader.read(0..<50, of: "old")
        reader.answer(.record(anchor(0, of: "old")))
        #expect(reader.consumer.incarnationChecks().isEmpty)
        reader.read(50..<250, of: "new")
        #expect(reader.consumer.incarnationChecks().map(\.anchor) == [anchor(0, of: "old")])
        reader.answer(.record(anchor(0, of: "new")))
        #expect(reader.hasRestarted)
        let isRewound = reader.consumer.rewind(reader.partition, reader.consumer.generation)
        #expect(isRewound)
        #expect(reader.consumer.note(for: PartitionOffset(reader.partition, 0)) == "nw1 in 1")
        #expect(reader.consumer.incarnationChecks().isEmpty)
    }

    @Test func `the same record at the anchor moves it to a record that was read before the check`() {
        var reader = Reader(note: nil)
        reader.read(0..<50, of: "a")
        reader.read(50..<60, of: "a")
        reader.read(60..<70, of: "a")
        #expect(reader.consumer.note(for: PartitionOffset(reader.partition, 0)) == anchor(0, of: "a").note)
        reader.answer(.record(anchor(0, of: "a")))
        #expect(reader.consumer.note(for: PartitionOffset(reader.partition, 0)) == anchor(50, of: "a").note)
        #expect(reader.consumer.incarnationChecks().isEmpty)
        #expect(!reader.hasRestarted)
    }

    @Test func `nothing is read before the former owner's anchor was checked`() {
        var reader = Reader(note: anchor(49, of: "old").note)
        reader.read(50..<60, of: "new")
        #expect(!reader.hasRead)
        reader.answer(.unknown)
        reader.read(50..<60, of: "new")
        #expect(!reader.hasRead)
        reader.answer(.record(anchor(49, of: "new")))
        #expect(reader.hasRestarted)
        var same = Reader(note: anchor(49, of: "old").note)
        same.answer(.record(anchor(49, of: "old")))
        same.read(50..<60, of: "old")
        #expect(same.hasRead)
    }

    private static let refused = KafkaFailure(code: "TOPIC_AUTHORIZATION_FAILED", detail: "refused")

    @Test func `a partition whose reading failed is unreadable until a record or an end arrives`() {
        let readings: [ConsumerState.Reading] = [
            .records([SourceRecord(offset: 0, value: [1])]), .end(offset: 0),
        ]
        for reading in readings {
            var reader = Reader(note: nil)
            _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [.failed(Self.refused)] }
            #expect(reader.consumer.unreadable == [reader.partition: Self.refused])
            _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [] }
            #expect(reader.consumer.unreadable == [reader.partition: Self.refused])
            _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [reading] }
            #expect(reader.consumer.unreadable.isEmpty)
        }
    }

    @Test func `a partition is unreadable while its former owner's anchor may not be read`() throws {
        var reader = Reader(note: anchor(49, of: "old").note)
        let first = try #require(reader.consumer.incarnationChecks().first)
        reader.consumer.failed(first, Self.refused)
        #expect(reader.consumer.unreadable == [reader.partition: Self.refused])
        // librdkafka reports a refusal only once. Silence after it proves nothing.
        reader.answer(.unknown)
        #expect(!reader.consumer.unreadable.isEmpty)
        reader.answer(.record(anchor(49, of: "old")))
        #expect(reader.consumer.unreadable.isEmpty)
    }

    @Test func `an unreadable partition without an anchor is examined until it can be read`() throws {
        var reader = Reader(note: nil)
        #expect(reader.consumer.incarnationChecks(includingIdle: true).isEmpty)
        _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [.end(offset: 7), .failed(Self.refused)] }
        #expect(reader.consumer.incarnationChecks().map(\.anchor.offset) == [7])
        reader.answer(.nothing(end: 7))
        #expect(reader.consumer.unreadable.isEmpty && !reader.hasRestarted)
        #expect(reader.consumer.incarnationChecks().isEmpty)
    }

    @Test func `an answer to a check from before the failure leaves the partition unreadable`() throws {
        var reader = Reader(note: nil)
        reader.read(0..<5, of: "a")
        let early = try #require(reader.consumer.incarnationChecks(includingIdle: true).first)
        _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [.failed(Self.refused)] }
        reader.consumer.checked(early, .record(anchor(0, of: "a")), &reader.events)
        #expect(!reader.consumer.unreadable.isEmpty)
        _ = reader.consumer.revoked(lost: true, at: Instant(nanoseconds: 0), &reader.events)
        #expect(reader.consumer.unreadable.isEmpty)
        // librdkafka does not report the refusal again.
        reader.consumer.assigned([reader.partition], &reader.events)
        #expect(!reader.consumer.unreadable.isEmpty)
    }

    @Test func `an idle partition is checked on request`() {
        var reader = Reader(note: anchor(49, of: "old").note)
        reader.answer(.record(anchor(49, of: "old")))
        #expect(reader.consumer.incarnationChecks().isEmpty)
        for check in reader.consumer.incarnationChecks(includingIdle: true) {
            reader.consumer.checked(check, .record(anchor(49, of: "new")), &reader.events)
        }
        #expect(reader.hasRestarted)
    }

    @Test func `records read during a check ask for another one`() {
        var reader = Reader(note: nil)
        reader.read(0..<50, of: "old")
        let check = reader.consumer.incarnationChecks()[0]
        reader.read(50..<60, of: "new")
        reader.consumer.checked(check, .record(anchor(0, of: "old")), &reader.events)
        #expect(reader.consumer.incarnationChecks().map(\.anchor) == [anchor(0, of: "old")])
    }

    @Test func `a record removed by retention or compaction does not mean another incarnation`() {
        var reader = Reader(note: nil)
        reader.read(0..<50, of: "a")
        reader.read(50..<60, of: "a")
        reader.answer(.record(anchor(55, of: "a")))
        #expect(!reader.hasRestarted)
        #expect(reader.consumer.note(for: PartitionOffset(reader.partition, 0)) == anchor(50, of: "a").note)
    }

    @Test func `a partition that ends before the anchor counts as another incarnation only if it stays so`() {
        var reader = Reader(note: nil)
        reader.read(0..<50, of: "a")
        reader.read(50..<60, of: "a")
        reader.answer(.nothing(end: 0))
        reader.answer(.unknown)
        reader.answer(.nothing(end: 0))
        #expect(!reader.hasRestarted)
        reader.answer(.nothing(end: 0))
        #expect(reader.hasRestarted)
    }

    @Test func `a partition that retention has emptied is the same incarnation`() {
        var reader = Reader(note: nil)
        reader.read(0..<50, of: "a")
        reader.read(50..<60, of: "a")
        for _ in 0..<5 { reader.answer(.nothing(end: 60)) }
        #expect(!reader.hasRestarted)
    }

    @Test func `the next owner recognises the incarnation by the note of the last one`() {
        var reader = Reader(note: anchor(49, of: "old").note)
        reader.read(60..<70, of: "new")
        reader.answer(.record(anchor(49, of: "new")))
        #expect(reader.hasRestarted)
    }

    @Test
    func `nothing is committed, but reading begins behind records: the group's offset was an older incarnation's`() {
        var reader = Reader(note: nil, isUncommitted: true)
        _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [.end(offset: 1)] }
        for check in reader.consumer.incarnationChecks(includingIdle: true) {
            reader.consumer.checked(check, .record(anchor(0, of: "new")), &reader.events)
        }
        #expect(reader.hasRestarted)
    }

    @Test func `the next owner also checks for records before the first one that was read`() {
        var former = Reader(note: nil, isUncommitted: true)
        former.read(3..<5, of: "a")
        var reader = Reader(note: former.consumer.note(for: PartitionOffset(former.partition, 0)))
        _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [.end(offset: 5)] }
        for check in reader.consumer.incarnationChecks(includingIdle: true) {
            reader.consumer.checked(check, .record(anchor(0, of: "new")), &reader.events)
        }
        #expect(reader.hasRestarted)
    }

    @Test func `nothing is committed, and reading begins behind records removed by retention`() throws {
        var reader = Reader(note: nil, isUncommitted: true)
        reader.read(40..<50, of: "a")
        let note = try #require(reader.consumer.note(for: PartitionOffset(reader.partition, 0)))
        #expect(note.hasPrefix("nw1 from 40 "))
        #expect(IncarnationAnchor(note: note)?.note == note)
        #expect(IncarnationAnchor(note: note)?.verdict(.record(anchor(40, of: "b"))) == .another)
        reader.answer(.record(anchor(40, of: "a")))
        #expect(!reader.hasRestarted)
        #expect(reader.consumer.note(for: PartitionOffset(reader.partition, 0)) == anchor(40, of: "a").note)
    }

    @Test func `a partition that was created again, and is empty behind gaps, is recognised all the same`() {
        var reader = Reader(note: anchor(5, of: "old").note)
        reader.read(6..<10, of: "new")
        reader.answer(.record(anchor(5, of: "new")))
        let isRewound = reader.consumer.rewind(reader.partition, reader.consumer.generation)
        #expect(isRewound)
        reader.events = ShardEvents(shards: 1)
        reader.consumer.resume(reader.partition, reader.consumer.generation)
        _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [.end(offset: 3)] }
        for check in reader.consumer.incarnationChecks(includingIdle: true) {
            reader.consumer.checked(check, .nothing(end: 0), &reader.events)
            #expect(!reader.hasRestarted)
            reader.consumer.checked(check, .record(anchor(0, of: "newer")), &reader.events)
        }
        #expect(reader.hasRestarted)
    }

    @Test(arguments: [
        ConsumerState.Reading.records([SourceRecord(offset: 3, value: [1])]), .end(offset: 3),
    ])
    func `a partition that begins below the committed offset is another incarnation`(first: ConsumerState.Reading) {
        var reader = Reader(note: anchor(0, of: "old").note, committed: 10)
        // Its first offset is 3, as if compaction had removed the record at the anchor.
        reader.answer(.record(anchor(3, of: "new")))
        _ = reader.consumer.read(batch: 256, &reader.events) { _, _ in [first] }
        #expect(reader.hasRestarted && !reader.hasRead)
        let isRewound = reader.consumer.rewind(reader.partition, reader.consumer.generation)
        #expect(isRewound)
        reader.consumer.resume(reader.partition, reader.consumer.generation)
        reader.read(3..<5, of: "new")
        #expect(reader.hasRead, "the former offset does not count")
    }

    @Test func `nothing is committed, and reading begins at the first record`() {
        var reader = Reader(note: nil, isUncommitted: true)
        reader.read(0..<50, of: "a")
        #expect(reader.consumer.note(for: PartitionOffset(reader.partition, 0)) == anchor(0, of: "a").note)
    }

    @Test func `drained records are committed with the former anchor`() {
        var reader = Reader(note: nil)
        reader.read(0..<50, of: "a")
        _ = reader.consumer.revoked(lost: false, at: .distantPast, &reader.events)
        #expect(reader.consumer.note(for: PartitionOffset(reader.partition, 0)) == anchor(0, of: "a").note)
        #expect(reader.consumer.incarnationChecks().isEmpty)
    }

    @Test(arguments: [
        "", "nw1", "nw1 5", "nw1 -1 0123456789abcdef", "nw1 5 0123", "nw2 5 0123456789abcdef", "x y z",
        "nw1 from -1 0123456789abcdef", "nw1 from 5",
    ])
    func `a note of another program is not an anchor`(_ note: String) {
        #expect(IncarnationAnchor(note: note) == nil)
    }

    @Test func `a note round-trips its anchor`() {
        let anchor = IncarnationAnchor(offset: .max, identity: RecordIdentity(hash: 0xAB))
        #expect(anchor.note == "nw1 9223372036854775807 00000000000000ab")
        #expect(IncarnationAnchor(note: anchor.note) == anchor)
    }
}
