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

    @Test func `a note stays within what a broker accepts`() throws {
        let many = (0..<1_000).map { progress(Int64($0)) }
        let note = try #require(consumer().note(for: PartitionOffset(partition, 0, progress: many)))
        #expect(note.utf8.count <= 4_096)
        let kept = CommitNote.progress(in: note)
        #expect(kept.count > 50 && kept == Array(many.prefix(kept.count)))
    }

    @Test(arguments: [
        "", "sent", " sent ", "nw1 3 0 sent ,,,", " sent 5", " sent 5:fcmv1:0:0:00000000c0ffee00",
        " sent -5:fcmv1:1:0:00000000c0ffee00", " sent 5:pager:1:0:00000000c0ffee00",
        " sent 5:fcmv1:99999:0:00000000c0ffee00", " sent 5:fcmv1:1:1:00000000c0ffee00",
        " sent 5:fcmv1:1:0:c0ffee", " sent 99999999999999999999:fcmv1:1:0:00000000c0ffee00",
    ])
    func `garbage is no progress`(note: String) { #expect(CommitNote.progress(in: note).isEmpty) }
}
