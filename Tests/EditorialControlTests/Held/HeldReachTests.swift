import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The records that a new owner of a partition must read before it returns any event.
@Suite struct HeldReachTests {
    /// Makes a state that has read the empty topic. The test answers for the brokers.
    private func state(owning partitions: [TopicPartition]) -> PlayedHeldState {
        var play = PlayedHeldState(owning: partitions)
        play.ends = nil
        return play
    }

    private func ends(_ play: PlayedHeldState, _ ends: [Int32: Int64], unreported: [Int32] = []) -> HeldState.Input {
        .ends(look: play.look, ends, unreported: unreported)
    }

    @Test func `an event that the former owner returned and erased does not return again`() {
        var play = state(owning: [])
        _ = play.hold(0, "a", due: .zero)
        #expect(play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).returns.isEmpty)
        // Its tombstone is on the topic but was not read yet.
        #expect(play.take(ends(play, [3: 2, 4: 0])).returns.isEmpty)
        #expect(play.wait(.seconds(1)).returns.isEmpty)
        #expect(play.read(1, .erased(story: "a", upTo: 0)).returns.isEmpty)
        #expect(play.state.count == 0)
        #expect(play.state.behindSince == nil)
    }

    @Test func `an event at the end of the topic returns as soon as it is read`() {
        var play = state(owning: [])
        _ = play.hold(0, "a", due: .zero)
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source]))
        #expect(play.take(ends(play, [3: 2, 4: 0])).returns.isEmpty)
        #expect(play.hold(1, "b", due: .zero).returns == [0: .due, 1: .due])
    }

    @Test func `an answer sent before a partition changed hands is ignored`() {
        var play = state(owning: [])
        _ = play.hold(0, "a", due: .zero)
        _ = play.take(.owned(LaneID(0), ShardID(0), [TopicPartition(topic: "other", partition: 3)]))
        let early = ends(play, [3: 1, 4: 0])
        _ = play.take(.owned(LaneID(0), ShardID(1), [PlayedHeldState.source]))
        #expect(play.take(early).returns.isEmpty)
        #expect(play.take(ends(play, [3: 1, 4: 0])).returns == [0: .due])
    }

    @Test func `a partition that is assigned again may have belonged to another process meanwhile`() {
        var play = state(owning: [PlayedHeldState.source])
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source]))
        #expect(play.hold(0, "a", due: .zero).returns.isEmpty)
        #expect(play.take(ends(play, [3: 1, 4: 0])).returns == [0: .due])
    }

    @Test func `an unreadable partition delays no other, is polled again, and is reported as behind`() {
        var play = state(owning: [])
        _ = play.hold(0, "a", due: .zero)
        let archive = TopicPartition(topic: "archive", partition: 4)
        _ = play.hold(0, "b", due: .zero, from: archive)
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source, archive]))
        let since = play.now.steady
        let returned = play.take(ends(play, [4: 1], unreported: [3]))
        #expect(returned == [.putBack([.init(HeldPlace(4, 0), .due)])])
        #expect(play.state.behind == [3])
        #expect(play.state.behindSince == since)
        _ = play.take(.ended([.putBack(HeldPlace(4, 0), story: "b")]))
        play.look = 0
        _ = play.wait(.seconds(2))
        #expect(play.look != 0, "it asks again")
        #expect(play.take(ends(play, [3: 1, 4: 1])).returns == [0: .due])
        #expect(play.state.behind.isEmpty && play.state.behindSince == nil)
    }

    @Test func `offsets without records count as read when the end behind them is reported`() {
        var play = state(owning: [PlayedHeldState.source])
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source]))
        _ = play.hold(0, "a", due: .zero)
        #expect(play.take(ends(play, [3: 5, 4: 0])).returns.isEmpty)
        #expect(play.take(.endReached(partition: 3, offset: 5)).returns == [0: .due])
    }

    @Test func `an end that is not reached is looked up again because the topic may have been truncated`() {
        var play = state(owning: [PlayedHeldState.source])
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source]))
        _ = play.hold(0, "a", due: .zero)
        #expect(play.take(ends(play, [3: 9, 4: 0])).returns.isEmpty)
        _ = play.wait(.seconds(2))
        #expect(play.take(ends(play, [3: 1, 4: 0])).returns == [0: .due])
    }

    @Test func `the end of a partition added to the topic is looked up too`() {
        var play = PlayedHeldState()
        let added = TopicPartition(topic: "news", partition: 7)
        _ = play.take(.owned(LaneID(0), ShardID(0), [added]))
        play.ends?[7] = 0
        #expect(play.hold(0, "a", due: .zero, from: added).returns == [0: .due])
    }

    @Test func `a missing topic causes no requests, and its events are forgotten`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", due: .zero)
        play.ends = nil
        _ = play.take(.lost)
        play.look = 0
        #expect(play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).isEmpty)
        #expect(play.wait(.seconds(60)).isEmpty)
        #expect((play.look, play.state.count) == (0, 0))
        #expect(play.state.behindSince == nil && play.state.wakeAt == nil)
        play.ends = [3: 1, 4: 0]
        _ = play.take(.began)
        #expect(play.hold(0, "a", due: .zero).returns == [0: .due])
    }
}
