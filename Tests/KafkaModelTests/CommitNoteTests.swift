import KafkaModel
import NewsModel
import NotificationHub
import Testing

struct CommitNoteTests {
    private let partition = TopicPartition(topic: "news", partition: 0)

    /// A consumer that has read a record, so that it knows an anchor.
    private func consumer() -> ConsumerState {
        var events = ShardEvents(shards: 1)
        var state = ConsumerState(lane: LaneID(0), shards: 1, patience: .seconds(30))
        state.assigned([partition], &events)
        let anchor = IncarnationAnchor(offset: 3, identity: RecordIdentity(hash: 7))
        state.found(IncarnationNotes(generation: state.generation, notes: [(partition, anchor.note)]))
        return state
    }

    private func progress(_ offset: Int64) -> SendProgress {
        SendProgress(offset: offset, platform: .fcmv1, sends: 12, refused: 1, hash: 0xC0FF_EE00)
    }

    @Test func `a note names the incarnation and the progress of deliveries`() throws {
        let note = try #require(
            consumer().note(for: PartitionOffset(partition, 5, progress: [progress(5), progress(9)])))
        #expect(
            note == "nw1 3 0000000000000007 sent 5:fcmv1:12:1:00000000c0ffee00,9:fcmv1:12:1:00000000c0ffee00")
        #expect(CommitNote.progress(in: note) == [progress(5), progress(9)])
    }

    @Test func `a note without progress is the anchor alone, as earlier versions write and read it`() {
        #expect(consumer().note(for: PartitionOffset(partition, 5)) == "nw1 3 0000000000000007")
        #expect(CommitNote.progress(in: "nw1 3 0000000000000007").isEmpty)
    }

    @Test func `the next owner finds the anchor in a note with progress`() throws {
        let note = try #require(consumer().note(for: PartitionOffset(partition, 5, progress: [progress(5)])))
        var events = ShardEvents(shards: 1)
        var next = ConsumerState(lane: LaneID(0), shards: 1, patience: .seconds(30))
        next.assigned([partition], &events)
        next.found(IncarnationNotes(generation: next.generation, notes: [(partition, note)]))
        #expect(next.note(for: PartitionOffset(partition, 5)) == "nw1 3 0000000000000007")
    }

    @Test func `a note counts how often the topic was created again, from owner to owner`() throws {
        var events = ShardEvents(shards: 1)
        var state = consumer()
        var notes: [String] = []
        for _ in 1...2 {
            state.restarted(partition, state.generation, &events)
            guard case .restarted(_, _, _, let incarnation)? = events.lists[0].last else { break }
            #expect(incarnation == notes.count + 1)
            let isRewound = state.rewind(partition, state.generation)
            #expect(isRewound)
            // A crash before the first record forgets nothing.
            #expect(state.note(for: PartitionOffset(partition, 0)) == "nw1 in \(incarnation)")
            state.resume(partition, state.generation)
            state.grant(records: 10, bytes: 10_000, shard: ShardID(0))
            _ = state.read(batch: 10, &events) { _, _ in [.records([SourceRecord(offset: 0, value: [1])])] }
            let note = try #require(state.note(for: PartitionOffset(partition, 0, progress: [progress(5)])))
            #expect(CommitNote.incarnation(in: note) == incarnation && CommitNote.progress(in: note) == [progress(5)])
            notes.append(note)
            state = ConsumerState(lane: LaneID(0), shards: 1, patience: .seconds(30))
            state.assigned([partition], &events)
            state.found(IncarnationNotes(generation: state.generation, notes: [(partition, note)]))
            #expect(state.note(for: PartitionOffset(partition, 0)).map(CommitNote.incarnation) == incarnation)
        }
        #expect(notes.count == 2)
    }

    @Test(arguments: [
        "", "nw1 3 0000000000000007", " in ", " in x", " in -1", " in 99999999999999999999", " sent  in 3",
    ])
    func `a note without a number tells of no earlier incarnation`(note: String) {
        #expect(CommitNote.incarnation(in: note) == 0)
    }

    @Test func `a note stays within what a broker accepts`() throws {
        let many = (0..<1_000).map { progress(Int64($0)) }
        let note = try #require(consumer().note(for: PartitionOffset(partition, 0, progress: many)))
        #expect(note.utf8.count <= 4_096)
        let kept = CommitNote.progress(in: note)
        #expect(kept.count > 64 && kept == Array(many.prefix(kept.count)))
    }

    @Test(arguments: [
        "", "sent", " sent ", "nw1 3 0 sent ,,,", " sent 5", " sent 5:fcmv1:0:0:00000000c0ffee00",
        " sent -5:fcmv1:1:0:00000000c0ffee00", " sent 5:pager:1:0:00000000c0ffee00",
        " sent 5:fcmv1:99999:0:00000000c0ffee00", " sent 5:fcmv1:1:1:00000000c0ffee00",
        " sent 5:fcmv1:1:0:c0ffee", " sent 99999999999999999999:fcmv1:1:0:00000000c0ffee00",
    ])
    func `garbage is no progress`(note: String) { #expect(CommitNote.progress(in: note).isEmpty) }
}
