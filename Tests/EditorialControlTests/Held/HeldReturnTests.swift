import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The times and the pace at which held events return to their lanes.
@Suite struct HeldReturnTests {
    @Test func `an event returns when it is due, and not a nanosecond earlier`() {
        var play = PlayedHeldState()
        #expect(play.hold(0, "a").returns.isEmpty)
        #expect(play.state.wakeAt == Instant(milliseconds: 3_600_000))
        #expect(play.wait(.seconds(3_600) - .nanoseconds(1)).returns.isEmpty)
        #expect(play.wait(.nanoseconds(1)).returns == [0: .due])
    }

    @Test
    func `only the partition's owner returns an event, and a new owner who has read everything returns it at once`() {
        var play = PlayedHeldState(owning: [])
        _ = play.hold(0, "a")
        #expect(play.wait(.seconds(4_000)).returns.isEmpty)
        #expect(play.take(.owned(LaneID(1), ShardID(2), [PlayedHeldState.source])).returns == [0: .due])
    }

    @Test func `a partition taken over by another shard stays ours until both have lost it`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a")
        _ = play.take(.owned(LaneID(0), ShardID(1), [PlayedHeldState.source]))
        _ = play.take(.owned(LaneID(0), ShardID(0), []))
        #expect(play.state.ours == 1)
        _ = play.take(.owned(LaneID(0), ShardID(1), []))
        #expect(play.state.ours == 0)
        #expect(play.wait(.seconds(4_000)).returns.isEmpty)
    }

    @Test func `nothing returns before its partition was read to the end, because a tombstone may follow`() {
        var play = PlayedHeldState()
        play.ends = [3: 2]
        _ = play.take(.began)
        #expect(play.hold(0, "a", due: .zero).returns.isEmpty)
        _ = play.read(1, .erased(story: "a", upTo: 0))
        #expect(play.state.count == 0)
        #expect(play.state.behindSince == nil)
    }

    @Test func `a lane that fails writes is skipped for a while, and does not delay other lanes`() {
        var play = PlayedHeldState(owning: [PlayedHeldState.source, TopicPartition(topic: "archive", partition: 3)])
        _ = play.hold(0, "a", due: .zero)
        #expect(play.take(.ended([.failed(HeldPlace(3, 0))])).returns.isEmpty)
        #expect(
            play.hold(1, "b", due: .zero, from: TopicPartition(topic: "archive", partition: 3)).returns == [1: .due])
        _ = play.take(.ended([.putBack(HeldPlace(3, 1), story: "b")]))
        #expect(play.wait(.seconds(5)).returns == [0: .due])
    }

    @Test func `a failed tombstone causes a second copy, not a lost event`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", due: .zero)
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        _ = play.take(.ended([.failed(HeldPlace(3, 0))]))
        #expect(play.wait(.seconds(5)).returns == [0: .due])
    }

    @Test func `an event waits for the hub's time if our clock is ahead of it`() {
        var play = PlayedHeldState()
        _ = play.take(.hubTime(Moment(steady: play.now.steady, wall: play.now.wall - .seconds(3_600))))
        #expect(play.hold(0, "a", due: .seconds(60)).returns.isEmpty)
        #expect(play.wait(.seconds(3_599)).returns.isEmpty)
        #expect(play.state.wakeAt.map { $0 - play.now.steady } == .seconds(61))
        #expect(play.wait(.seconds(61)).returns == [0: .due])
    }

    @Test func `an event missing on the topic is forgotten, and the pass continues`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", due: .zero)
        _ = play.take(.ended([.gone(HeldPlace(3, 0))]))
        #expect(play.state.count == 0)
        #expect(play.hold(1, "b", due: .zero).returns == [1: .due])
    }

    @Test func `a pass ends although another version replaced the one it reads`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "1", due: .zero)
        _ = play.hold(1, "a", version: "2", due: .zero)
        let actions = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(actions.returns == [1: .due])
    }

    @Test func `after a step of the clock nothing returns by the new time alone for a minute`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a")
        play.now.wall = play.now.wall + .seconds(7_200)
        #expect(play.take(.alarm).returns.isEmpty)
        #expect(play.wait(.seconds(59)).returns.isEmpty)
        #expect(play.wait(.seconds(1)).returns == [0: .due])
    }

    @Test func `the hub's time counts after a step of our clock`() {
        var play = PlayedHeldState()
        _ = play.take(.hubTime(Moment(steady: play.now.steady, wall: play.now.wall)))
        _ = play.hold(0, "a", due: .seconds(4_200))
        play.now.wall = play.now.wall + .seconds(7_200)
        _ = play.take(.alarm)
        #expect(play.wait(.seconds(4_199)).returns.isEmpty)
        #expect(play.wait(.seconds(1)).returns == [0: .due])
    }

    @Test func `nothing returns before the hub has told its time`() {
        var play = PlayedHeldState(asksHub: true)
        play.now.wall = play.now.wall + .seconds(7_200)
        #expect(play.hold(0, "a", due: .seconds(4_200)).returns.isEmpty)
        #expect(play.hold(1, "b", due: .seconds(4_200)).returns.isEmpty)
        #expect(play.wait(.seconds(600)).returns.isEmpty)
        #expect(play.state.wakeAt == nil)
        #expect(play.take(.bringBack(story: "b", .recalled)).returns == [1: .recalled], "a recall does not wait")
        _ = play.take(.ended([.gone(HeldPlace(3, 1))]))
        let hub = Moment(steady: play.now.steady, wall: play.now.wall - .seconds(7_200))
        #expect(play.take(.hubTime(hub)).returns.isEmpty)
        #expect(play.wait(.seconds(3_599)).returns.isEmpty)
        #expect(play.wait(.seconds(1)).returns == [0: .due])
    }

    @Test func `events return by our clock if the hub's replies have no time`() {
        var play = PlayedHeldState(asksHub: true)
        #expect(play.hold(0, "a", due: .zero).returns.isEmpty)
        #expect(play.take(.hubTime(nil)).returns == [0: .due])
    }

    @Test
    func `delayed news returns at the due times over which the engine has spread it`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", due: .seconds(3_600), because: .quietHours)
        _ = play.hold(1, "b", due: .seconds(4_199), because: .quietHours)
        #expect(play.wait(.seconds(3_600) - .nanoseconds(1)).returns.isEmpty)
        #expect(play.wait(.nanoseconds(1)).returns == [0: .due])
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(play.wait(.seconds(598)).returns.isEmpty)
        #expect(play.wait(.seconds(1)).returns == [1: .due])
    }

    @Test func `returns are limited to a second of the pace, and more follow as these are settled`() {
        var play = PlayedHeldState()
        play.pace = 100
        _ = play.settle(0)
        for offset in 0..<1_000 { _ = play.hold(Int64(offset), "s\(offset)", due: .seconds(60)) }
        var unsettled = 0
        var returned: [Int64] = []
        func put(_ actions: [HeldState.Action], _ play: inout PlayedHeldState) {
            var actions = actions
            while case let places = actions.returns.keys.sorted(), !places.isEmpty {
                unsettled += places.count
                returned += places
                actions = play.take(.ended(places.map { .putBack(HeldPlace(3, $0), story: "s\($0)") }))
            }
            #expect(unsettled <= 100)
        }
        put(play.wait(.seconds(60)), &play)
        #expect(unsettled == 100)
        // A pass for a few events costs as much as one for many.
        unsettled -= 24
        put(play.settle(24), &play)
        #expect(unsettled == 76)
        while unsettled > 0 {
            let settled = min(unsettled, 25)
            unsettled -= settled
            put(play.settle(settled), &play)
        }
        #expect(returned == Array(0..<1_000))
    }

    @Test func `an event of a deleted partition returns to another partition of its topic through that one's owner`() {
        var play = PlayedHeldState(owning: [TopicPartition(topic: "news", partition: 1)])
        _ = play.hold(0, "a", version: "1", due: .seconds(60))
        #expect(play.take(.counts(["news": 4])).isEmpty)
        #expect(play.wait(.seconds(60)).returns.isEmpty)
        let returned = play.take(.counts(["news": 2]))
        #expect(returned == [.putBack([.init(HeldPlace(3, 0), .due, to: 1)])])
        // The same applies to events read only now and to superseded ones.
        let newer = play.hold(1, "a", version: "2") + play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(newer.returns.isEmpty)
        let newest = play.hold(2, "a", version: "3")
        #expect(newest.contains(.putBack([.init(HeldPlace(3, 1), .superseded, to: 1)])))
        _ = play.take(.ended([.putBack(HeldPlace(3, 1), story: "a")]))
        // The partitions are back, and so are their owners.
        #expect(play.take(.counts(["news": 4])).isEmpty)
        #expect(play.state.ours == 0)
    }

    @Test func `events of the live lane do not wait for those of a backfill that are due with them`() {
        let backfill = TopicPartition(topic: "archive", partition: 3)
        var play = PlayedHeldState()
        play.pace = 100
        _ = play.take(.owned(LaneID(1), ShardID(0), [backfill]))
        _ = play.settle(0)
        for offset in 0..<1_000 { _ = play.hold(Int64(offset), "s\(offset)", due: .seconds(60), from: backfill) }
        _ = play.hold(1_000, "live", due: .seconds(60))
        let first = play.wait(.seconds(60)).returns
        #expect(first.count == 100 && first[1_000] == .due)
        for place in first.keys.sorted() {
            let story = place == 1_000 ? "live" : "s\(place)"
            #expect(play.take(.ended([.putBack(HeldPlace(3, place), story: story)])).returns.isEmpty)
        }
        // The backfill is stopped, so nothing is settled.
        #expect(play.hold(1_001, "more", due: .seconds(60)).returns == [1_001: .due])
    }

    private static let other = TopicPartition(topic: "archive", partition: 3)

    private func event(
        _ id: String, _ version: String?, _ source: TopicPartition, since: Int64? = nil
    ) -> HeldRecord.Reading {
        let event = HeldEvent(
            eventID: id, story: "s", version: version.map { .init($0) }, due: PlayedHeldState.noon + .seconds(60),
            because: .embargo, lane: "live", source: .init(partition: source, offset: 5),
            identity: RecordIdentity(eventID: id))
        return .held(event, since: since)
    }

    @Test func `of two events of a story without an order between them, both leave`() {
        var play = PlayedHeldState(owning: [PlayedHeldState.source, Self.other])
        #expect(play.read(0, event("a", nil, PlayedHeldState.source)).returns.isEmpty)
        // On its lane it waits for its time.
        #expect(play.read(1, event("b", nil, Self.other)).returns == [0: .due])
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "s")]))
        #expect(play.wait(.seconds(60)).returns == [1: .due])
    }

    /// The older version makes the state write the newer one again, and a third event, which has no order with it, takes its place.
    @Test(arguments: [false, true])
    func `an event that loses its place while it is written again returns after that`(fails: Bool) {
        var play = PlayedHeldState(owning: [PlayedHeldState.source, Self.other])
        _ = play.read(0, event("a", "9", PlayedHeldState.source))
        #expect(play.read(1, event("old", "6", PlayedHeldState.source)).again == [0])
        _ = play.take(.ended([.putBack(HeldPlace(3, 1), story: "s")]))
        #expect(play.read(2, event("b", nil, Self.other)).returns.isEmpty)
        let place = HeldPlace(3, 0)
        let returns = play.take(.ended([fails ? .failed(place) : .written(place)])).returns
        #expect(returns == (fails ? [:] : [0: .due]))
        if fails { #expect(play.wait(.seconds(5)).returns == [0: .due]) }
        _ = play.take(.ended([.putBack(place, story: "s")]))
        // Its copy, which arrives late, endangers the third event.
        #expect(play.read(3, event("a", "9", PlayedHeldState.source, since: 0)).again == [2])
        _ = play.take(.ended([.written(HeldPlace(3, 2))]))
        _ = play.read(4, event("b", nil, Self.other, since: 2))
        #expect(play.wait(.seconds(60)).returns == [4: .due])
    }

    @Test func `an event that has lost its place returns again if that fails`() {
        var play = PlayedHeldState(owning: [PlayedHeldState.source, Self.other])
        _ = play.read(0, event("a", nil, PlayedHeldState.source))
        #expect(play.read(1, event("b", nil, Self.other)).returns == [0: .due])
        #expect(play.take(.ended([.failed(HeldPlace(3, 0))])).returns.isEmpty)
        #expect(play.state.hasRequests && play.state.failingSince == play.now.steady)
        #expect(play.wait(.seconds(5)).returns == [0: .due])
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "s")]))
        #expect(!play.state.hasRequests && play.state.failingSince == nil)
    }

    /// Makes a state in which an event has lost its place and failed to return.
    private func displaced() -> PlayedHeldState {
        var play = PlayedHeldState(owning: [PlayedHeldState.source, Self.other])
        _ = play.read(0, event("a", nil, PlayedHeldState.source))
        _ = play.read(1, event("b", nil, Self.other))
        _ = play.take(.ended([.failed(HeldPlace(3, 0))]))
        return play
    }

    private func original(_ id: String) -> HeldOriginal? { HeldOriginal(offset: 5, identity: .init(eventID: id)) }

    @Test func `an event that has lost its place returns once after the topic was away`() {
        var play = displaced()
        #expect(play.take(.lost).returns.isEmpty && play.wait(.seconds(5)).returns.isEmpty)
        play.ends = [3: 2, 4: 0]
        #expect(play.take(.began).returns.isEmpty)
        #expect(play.read(0, event("a", nil, PlayedHeldState.source)).returns.isEmpty)
        #expect(play.read(1, event("b", nil, Self.other)).returns == [0: .due])
        #expect(play.take(.ended([.putBack(HeldPlace(3, 0), story: "s")])).erasures.isEmpty)
        #expect(!play.state.hasRequests)
        #expect(play.wait(.seconds(60)).returns == [1: .due])
    }

    @Test func `an event that has lost its place is written to its lane again after compaction has removed it`() {
        var play = displaced()
        #expect(play.wait(.seconds(5)).returns == [0: .due])
        let restores = play.take(.ended([.gone(HeldPlace(3, 0))])).restores
        #expect(restores.map(\.original) == [original("a")])
    }

    @Test(arguments: [false, true])
    func `an event that has lost its place is written again after the topic was recreated`(
        isPlaceTaken: Bool
    ) throws {
        var play = displaced()
        _ = play.take(.lost)
        _ = play.wait(.seconds(5))
        play.ends = [3: isPlaceTaken ? 1 : 0, 4: 0]
        var actions = play.take(.began)
        if isPlaceTaken {
            actions += play.hold(0, "x", due: .zero)
            #expect(actions.contains(.putBack([.init(HeldPlace(3, 0), .due)])))
            #expect(play.take(.ended([.putBack(HeldPlace(3, 0), story: "x")])).erasures.map(\.story) == ["x"])
        } else {
            #expect(actions.returns == [0: .due])
            #expect(play.take(.ended([.gone(HeldPlace(3, 0))])).restores.isEmpty)
        }
        #expect(actions.restores.map(\.original) == [original("b")])
        let id = try #require(actions.restores.first?.id)
        #expect(play.take(.restored([.restored(id)])).restores.map(\.original) == [original("a")])
    }

    @Test func `an event that has lost its place is written again if its topic has fewer partitions now`() {
        var play = displaced()
        _ = play.take(.lost)
        play.ends = [4: 0]
        let restores = play.take(.began).restores + play.wait(.seconds(2)).restores
        #expect(restores.map(\.original) == [original("b")])
        #expect(play.take(.restored(restores.map { .restored($0.id) })).restores.map(\.original) == [original("a")])
    }

    @Test func `an event that has lost its place returns once although the topic holds it alone now`() {
        var play = displaced()
        _ = play.take(.lost)
        _ = play.wait(.seconds(5))
        play.ends = [3: 1, 4: 0]
        _ = play.take(.began)
        let actions = play.read(0, event("a", nil, PlayedHeldState.source, since: 0))
        #expect(actions.contains(.putBack([.init(HeldPlace(3, 0), .due)])))
        #expect(play.wait(.seconds(60)).returns.isEmpty)
        let ended = play.take(.ended([.putBack(HeldPlace(3, 0), story: "s")]))
        #expect(ended.erasures.map(\.place) == [HeldPlace(3, 0)] && ended.returns.isEmpty)
    }

    @Test func `of two events of a story with the same version, one leaves`() {
        let other = TopicPartition(topic: "archive", partition: 3)
        var play = PlayedHeldState(owning: [PlayedHeldState.source, other])
        for (offset, source) in [PlayedHeldState.source, other].enumerated() {
            let event = HeldEvent(
                eventID: "e", story: "s", version: NewsEvent.Version("2"), due: PlayedHeldState.noon + .seconds(60),
                because: .embargo, lane: "live", source: .init(partition: source, offset: 5),
                identity: RecordIdentity(eventID: "e\(offset)"))
            #expect(play.read(Int64(offset), .held(event, since: nil)).returns.isEmpty)
        }
        #expect(play.wait(.seconds(60)).returns == [1: .due])
    }

    @Test func `an event requested back takes no room and returns although no room is left`() {
        var play = PlayedHeldState()
        play.pace = 1
        _ = play.settle(0)
        for (offset, story) in ["a", "b", "c"].enumerated() { _ = play.hold(Int64(offset), story, due: .seconds(1)) }
        #expect(play.wait(.seconds(1)).returns == [0: .due])
        #expect(play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")])).returns.isEmpty)
        #expect(play.take(.bringBack(story: "c", .superseded)).returns == [2: .superseded])
        #expect(play.take(.ended([.putBack(HeldPlace(3, 2), story: "c")])).returns.isEmpty)
        #expect(play.settle(1).returns == [1: .due])
    }

    @Test func `events settled elsewhere or never do not block the others forever`() {
        var play = PlayedHeldState()
        play.pace = 1
        _ = play.settle(0)
        for (offset, story) in ["a", "b"].enumerated() { _ = play.hold(Int64(offset), story, due: .seconds(1)) }
        _ = play.wait(.seconds(1))
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(play.state.wakeAt == Instant(milliseconds: 11_000))
        #expect(play.wait(.seconds(10) - .nanoseconds(1)).returns.isEmpty)
        #expect(play.wait(.nanoseconds(1)).returns == [1: .due])
    }

    @Test func `an event that could not return takes no room`() {
        var play = PlayedHeldState(owning: [PlayedHeldState.source, TopicPartition(topic: "archive", partition: 3)])
        play.pace = 1
        _ = play.settle(0)
        _ = play.hold(0, "a", due: .zero)
        _ = play.hold(1, "b", due: .zero, from: TopicPartition(topic: "archive", partition: 3))
        #expect(play.take(.ended([.failed(HeldPlace(3, 0))])).returns == [1: .due])
    }

    @Test func `a hundred thousand events due at once return in bounded passes, in order of arrival`() {
        var play = PlayedHeldState()
        for start in stride(from: 0, to: 100_000, by: 1_000) {
            let records = (start..<start + 1_000).map { offset in
                let event = HeldEvent(
                    eventID: "e\(offset)", story: "s\(offset)", version: nil, due: PlayedHeldState.noon + .seconds(60),
                    because: .embargo, lane: "live", source: .init(partition: PlayedHeldState.source, offset: 0))
                return (Int64(offset), HeldRecord.Reading.held(event, since: nil))
            }
            _ = play.take(.read(partition: 3, records.map { (offset: $0.0, at: nil, reading: $0.1) }))
        }
        var actions = play.wait(.seconds(60))
        var returned = 0
        while case let places = actions.returns.keys.sorted(), !places.isEmpty {
            #expect(places.count <= 500)
            // The events that arrived first.
            #expect(places.first == Int64(returned))
            returned += places.count
            actions = play.take(.ended(places.map { .putBack(HeldPlace(3, $0), story: "s\($0)") }))
        }
        #expect(returned == 100_000)
    }
}
