import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// What a new owner of a partition has to read before it puts anything back.
@Suite struct HeldReachTests {
    /// A desk that has read the empty topic, whose test answers for the brokers.
    private func desk(owning partitions: [TopicPartition]) -> PlayedDesk {
        var play = PlayedDesk(owning: partitions)
        play.ends = nil
        return play
    }

    private func ends(_ play: PlayedDesk, _ ends: [Int32: Int64], untold: [Int32] = []) -> HeldDesk.Input {
        .ends(look: play.look, ends, untold: untold)
    }

    @Test func `what the former owner has put back and erased does not come back again`() {
        var play = desk(owning: [])
        _ = play.hold(0, "a", due: .zero)
        #expect(play.take(.owned(LaneID(0), ShardID(0), [PlayedDesk.source])).returns.isEmpty)
        // Its tombstone stands already, and was not read yet.
        #expect(play.take(ends(play, [3: 2, 4: 0])).returns.isEmpty)
        #expect(play.wait(.seconds(1)).returns.isEmpty)
        #expect(play.read(1, .erased(story: "a", upTo: 0)).returns.isEmpty)
        #expect(play.desk.count == 0)
        #expect(play.desk.behindSince == nil)
    }

    @Test func `what stands at the end goes back as soon as that is read`() {
        var play = desk(owning: [])
        _ = play.hold(0, "a", due: .zero)
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedDesk.source]))
        #expect(play.take(ends(play, [3: 2, 4: 0])).returns.isEmpty)
        #expect(play.hold(1, "b", due: .zero).returns == [0: .due, 1: .due])
    }

    @Test func `an answer that was on its way when a partition changed hands says too little`() {
        var play = desk(owning: [])
        _ = play.hold(0, "a", due: .zero)
        _ = play.take(.owned(LaneID(0), ShardID(0), [TopicPartition(topic: "other", partition: 3)]))
        let early = ends(play, [3: 1, 4: 0])
        _ = play.take(.owned(LaneID(0), ShardID(1), [PlayedDesk.source]))
        #expect(play.take(early).returns.isEmpty)
        #expect(play.take(ends(play, [3: 1, 4: 0])).returns == [0: .due])
    }

    @Test func `a partition that is assigned anew may have been another's meanwhile`() {
        var play = desk(owning: [PlayedDesk.source])
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedDesk.source]))
        #expect(play.hold(0, "a", due: .zero).returns.isEmpty)
        #expect(play.take(ends(play, [3: 1, 4: 0])).returns == [0: .due])
    }

    @Test func `one partition that cannot be read holds up no other, is looked at again, and is named`() {
        var play = desk(owning: [])
        _ = play.hold(0, "a", due: .zero)
        let archive = TopicPartition(topic: "archive", partition: 4)
        _ = play.hold(0, "b", due: .zero, from: archive)
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedDesk.source, archive]))
        let since = play.now.steady
        let returned = play.take(ends(play, [4: 1], untold: [3]))
        #expect(returned == [.putBack([.init(HeldPlace(4, 0), .due)])])
        #expect(play.desk.behind == [3])
        #expect(play.desk.behindSince == since)
        _ = play.take(.ended([.putBack(HeldPlace(4, 0), story: "b")]))
        play.look = 0
        _ = play.wait(.seconds(2))
        #expect(play.look != 0, "it asks again")
        #expect(play.take(ends(play, [3: 1, 4: 1])).returns == [0: .due])
        #expect(play.desk.behind.isEmpty && play.desk.behindSince == nil)
    }

    @Test func `offsets without records count as read when the end is reported behind them`() {
        var play = desk(owning: [PlayedDesk.source])
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedDesk.source]))
        _ = play.hold(0, "a", due: .zero)
        #expect(play.take(ends(play, [3: 5, 4: 0])).returns.isEmpty)
        #expect(play.take(.endReached(partition: 3, offset: 5)).returns == [0: .due])
    }

    @Test func `an end that is not reached is looked up again: the topic may have been cut back`() {
        var play = desk(owning: [PlayedDesk.source])
        _ = play.take(.owned(LaneID(0), ShardID(0), [PlayedDesk.source]))
        _ = play.hold(0, "a", due: .zero)
        #expect(play.take(ends(play, [3: 9, 4: 0])).returns.isEmpty)
        _ = play.wait(.seconds(2))
        #expect(play.take(ends(play, [3: 1, 4: 0])).returns == [0: .due])
    }

    @Test func `a partition that was added to the topic is looked up too`() {
        var play = PlayedDesk()
        let added = TopicPartition(topic: "news", partition: 7)
        _ = play.take(.owned(LaneID(0), ShardID(0), [added]))
        play.ends?[7] = 0
        #expect(play.hold(0, "a", due: .zero, from: added).returns == [0: .due])
    }

    @Test func `nothing is asked for while the topic is away, and nothing of it is known`() {
        var play = PlayedDesk()
        _ = play.hold(0, "a", due: .zero)
        play.ends = nil
        _ = play.take(.lost)
        play.look = 0
        #expect(play.take(.owned(LaneID(0), ShardID(0), [PlayedDesk.source])).isEmpty)
        #expect(play.wait(.seconds(60)).isEmpty)
        #expect((play.look, play.desk.count) == (0, 0))
        #expect(play.desk.behindSince == nil && play.desk.wakeAt == nil)
        play.ends = [3: 1, 4: 0]
        _ = play.take(.began)
        #expect(play.hold(0, "a", due: .zero).returns == [0: .due])
    }
}
