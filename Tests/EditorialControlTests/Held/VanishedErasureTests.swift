import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// A process has written an event that vanished from the held topic to its lane again, and tells the others.
struct VanishedErasureTests {
    private static let other = TopicPartition(topic: "news", partition: 4)

    private func event(_ story: String, at offset: Int64) -> HeldRecord.Reading {
        .held(
            HeldEvent(
                eventID: story, story: story, version: nil, due: PlayedHeldState.noon + .seconds(60),
                because: .embargo, lane: "live", source: .init(partition: PlayedHeldState.source, offset: offset),
                identity: RecordIdentity(hash: 9)),
            since: nil)
    }

    /// Returns an event's tombstone as others read it.
    private func tombstone(_ vanished: HeldState.Vanished) -> HeldRecord.Reading {
        let record = HeldRecord.tombstone(vanished, topic: "held")
        return HeldRecord.read(key: record.key, hasValue: false, headers: record.headers)
    }

    /// Makes an owner that holds the event `a` at offset 7, finds at its due time that the record was removed, and writes the original to
    /// its lane again.
    private func owner() throws -> (state: PlayedHeldState, erasure: HeldState.Vanished) {
        var state = PlayedHeldState()
        _ = state.read(7, event("a", at: 40))
        #expect(state.wait(.seconds(60)).returns == [7: .due])
        let restore = try #require(state.take(.ended([.gone(HeldPlace(3, 7))])).restores.first)
        let erasures = state.take(.restored([.restored(restore.id)])).vanished
        #expect(erasures.map(\.place) == [HeldPlace(3, 7)] && erasures.map(\.original.offset) == [40])
        return (state, try #require(erasures.first))
    }

    /// It may have been sent, or canceled by a recall that was lifted since.
    @Test func `a new owner writes no event to its lane that its predecessor wrote there`() throws {
        let (_, erasure) = try owner()
        var next = PlayedHeldState(owning: [Self.other])
        _ = next.read(7, event("a", at: 40))
        _ = next.read(8, tombstone(erasure))
        #expect(next.state.count == 0)
        #expect(next.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).returns.isEmpty)
        let later = next.wait(.seconds(60))
        #expect(later.returns.isEmpty && later.restores.isEmpty)
    }

    @Test func `a tombstone that is read after the takeover stops the second copy`() throws {
        let (_, erasure) = try owner()
        var next = PlayedHeldState()
        _ = next.read(7, event("a", at: 40))
        #expect(next.wait(.seconds(60)).returns == [7: .due])
        next.ends = nil
        _ = next.take(.ended([.gone(HeldPlace(3, 7))]))
        _ = next.read(8, tombstone(erasure))
        #expect(next.take(.ends(look: next.look, [3: 9, 4: 0], unreported: [])).restores.isEmpty)
        #expect(next.wait(.seconds(120)).restores.isEmpty)
    }

    @Test func `an event of a recreated topic is not written again by those who read its tombstone`() throws {
        let (_, erasure) = try owner()
        var other = PlayedHeldState(owning: [Self.other])
        _ = other.read(7, event("a", at: 40))
        _ = other.read(8, event("b", at: 41))
        other.ends = [3: 0, 4: 0]
        _ = other.take(.began)
        _ = other.read(0, tombstone(erasure))
        #expect(other.wait(.seconds(120)).restores.map(\.original.offset) == [41])
    }

    @Test(arguments: [(40, 3), (41, 7)] as [(Int64, Int64)])
    func `the same event at another place, and another event at its place, stay held`(
        original: Int64, place: Int64
    ) throws {
        let (_, erasure) = try owner()
        var other = PlayedHeldState(owning: [Self.other])
        _ = other.read(place, event("a", at: original))
        let actions = other.read(8, tombstone(erasure))
        #expect(other.state.count == 1 && actions.again.isEmpty)
    }

    @Test func `a tombstone that does not appear on the topic is written again`() throws {
        var (state, erasure) = try owner()
        #expect(state.state.wakeAt == state.now.steady + .seconds(30))
        #expect(state.wait(.seconds(29)).vanished.isEmpty)
        _ = state.take(.lost)
        #expect(state.wait(.seconds(1)).vanished.isEmpty, "the write would create the topic")
        state.ends = [3: 0, 4: 0]
        #expect(state.take(.began).vanished == [erasure])
        _ = state.read(8, tombstone(erasure))
        #expect(state.wait(.seconds(30)).vanished.isEmpty && state.state.wakeAt == nil)
    }

    @Test func `no tombstone is written to a partition that the recreated topic does not have`() throws {
        var (state, _) = try owner()
        _ = state.take(.lost)
        state.ends = [4: 0]
        #expect(state.take(.began).vanished.isEmpty)
        #expect(state.wait(.seconds(30)).vanished.isEmpty && state.state.wakeAt == nil)
    }
}
