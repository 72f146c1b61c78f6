import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The versions, tombstones and recalls of held events.
@Suite struct HeldStateTests {
    @Test func `a due event is counted as overdue after a minute if no lane reads its topic`() {
        var play = PlayedHeldState()
        let removed = TopicPartition(topic: "removed", partition: 4)
        _ = play.hold(0, "ours")
        _ = play.hold(0, "theirs", from: removed)
        _ = play.take(.counts(["news": 8, "removed": 8]))
        _ = play.wait(.seconds(3_700))
        #expect(play.state.overdue(at: play.now) == nil)
        _ = play.take(.counts(["news": 8]))
        #expect(play.state.overdue(at: play.now) == HeldOverdue(count: 1, topic: "removed"))
        play.now.wall = PlayedHeldState.noon + .seconds(3_630)
        #expect(play.state.overdue(at: play.now) == nil)
    }

    @Test func `an event is erased only after it is on its lane again`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", due: .zero)
        let ended = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(ended.erasures == [.init(HeldPlace(3, 0), story: "a")])
        #expect(play.state.count == 1)
        let read = play.read(1, .erased(story: "a", upTo: 0))
        #expect(read.told == [HeldStory(story: "a", isHeld: false)])
        #expect(play.state.count == 0)
    }

    @Test func `a newer version replaces the older one and its due time`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "1", due: .seconds(10))
        _ = play.hold(1, "a", version: "2", due: .seconds(20))
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(play.state.count == 1)
        #expect(play.wait(.seconds(10)).returns.isEmpty)
        #expect(play.wait(.seconds(10)).returns == [1: .due])
    }

    @Test func `an older version returns as superseded and leaves the newer one unchanged`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "1")
        #expect(play.hold(1, "a", version: "2").returns == [0: .superseded])
        #expect(play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")])).isEmpty)
        // An older version that arrives behind the newer one.
        let late = play.hold(2, "a", version: "1")
        #expect(late.returns == [2: .superseded])
        #expect(late.again == [1])
        #expect(play.take(.ended([.putBack(HeldPlace(3, 2), story: "a")])).isEmpty)
        #expect(play.state.count == 1)
    }

    @Test func `a new reader of the topic does not report an older version again`() {
        var play = PlayedHeldState()
        play.ends = [3: 2]
        _ = play.take(.began)
        _ = play.hold(0, "a", version: "1")
        #expect(play.hold(1, "a", version: "2").returns.isEmpty)
        #expect(play.state.behindSince == nil)
    }

    /// An event of the story `a` without a version, which is due in a minute.
    private func event(_ offset: Int64, replacesFormer: Bool = false) -> HeldRecord.Reading {
        var event = HeldEvent(
            eventID: "e", story: "a", version: nil, due: PlayedHeldState.noon + .seconds(60), because: .embargo,
            lane: "live", source: .init(partition: PlayedHeldState.source, offset: offset),
            identity: RecordIdentity(hash: UInt64(offset)))
        event.replacesFormer = replacesFormer
        return .held(event, since: nil)
    }

    @Test func `an event of a recreated topic takes the place of the former one, which returns as superseded`() {
        var play = PlayedHeldState()
        _ = play.read(0, event(9))
        #expect(play.read(1, event(3, replacesFormer: true)).returns == [0: .superseded])
        #expect(play.read(2, event(3, replacesFormer: true)).returns.isEmpty, "it was written again")
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(play.wait(.seconds(60)).returns == [2: .due])
    }

    /// The last one has the same offset on another topic.
    private static let otherEvents: [HeldPart] = [
        .older(upTo: NewsEvent.Version("1")),
        .older([HeldOriginal(offset: 5, identity: RecordIdentity(hash: 5))].compactMap { $0 }),
        .older([HeldOriginal(offset: 9, identity: RecordIdentity(hash: 5))].compactMap { $0 }),
    ]

    @Test(arguments: [false, true], otherEvents)
    func `a request for an event leaves another one without a version`(isRead: Bool, older: HeldPart) {
        var play = PlayedHeldState()
        if isRead { _ = play.read(0, event(9)) }
        #expect(play.take(.bringBack(story: "a", .superseded, older)).returns.isEmpty)
        if !isRead { _ = play.read(0, event(9)) }
        #expect(play.wait(.seconds(60)).returns == [0: .due])
    }

    @Test func `an event that returned and is held again does not supersede itself`() {
        var play = PlayedHeldState()
        _ = play.read(0, event(5))
        #expect(play.wait(.seconds(60)).returns == [0: .due])
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        _ = play.take(.ended([.written(HeldPlace(3, 0))]))
        #expect(play.read(1, event(7)).returns[0] == nil)
    }

    @Test func `a repeated record supersedes nothing`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "1")
        #expect(play.hold(1, "a", version: "1").returns.isEmpty)
        #expect(play.hold(2, "a", version: "1", since: 0).returns.isEmpty)
    }

    @Test func `a version that replaced one being returned gets no tombstone`() {
        var play = PlayedHeldState()
        #expect(play.hold(0, "a", version: "1", due: .zero).returns == [0: .due])
        _ = play.hold(1, "a", version: "2")
        #expect(play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")])).erasures.isEmpty)
        #expect(play.wait(.seconds(3_600)).returns == [1: .due])
    }

    @Test func `a newer version followed by a tombstone of the older one is written again`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "1", due: .zero)
        // Another process wrote the second version before our tombstone arrived.
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        _ = play.hold(1, "a", version: "2")
        #expect(play.read(2, .erased(story: "a", upTo: 0)).again == [1])
        // It is rewritten once, and counts as written when it is read.
        #expect(play.take(.ended([.written(HeldPlace(3, 1))])).again.isEmpty)
        #expect(play.hold(3, "a", version: "2", since: 1).again.isEmpty)
        #expect(play.wait(.seconds(3_600)).returns == [3: .due])
    }

    @Test func `a tombstone from before the topic was recreated erases no other event of the story`() throws {
        func event(at offset: Int64) -> HeldEvent {
            HeldEvent(
                eventID: "id", story: "a", version: nil, due: PlayedHeldState.noon + .seconds(60), because: .embargo,
                lane: "live", source: .init(partition: PlayedHeldState.source, offset: offset),
                identity: RecordIdentity(hash: UInt64(offset)))
        }
        var play = PlayedHeldState()
        let original = try #require(HeldOriginal(of: event(at: 1)))
        _ = play.read(0, .held(event(at: 2), since: nil))
        #expect(play.read(1, .erased(story: "a", upTo: 0, original: original)).again == [0])
        #expect(play.state.count == 1)
        var table = HeldTable()
        table.apply(.held(event(at: 2), since: nil), at: HeldPlace(3, 0))
        table.apply(.erased(story: "a", upTo: 0, original: original), at: HeldPlace(3, 1))
        #expect(table.events.count == 1)
        let same = HeldOriginal(of: event(at: 2))
        _ = play.read(2, .erased(story: "a", upTo: 0, original: same))
        #expect(play.state.count == 0)
    }

    @Test(arguments: [
        (HeldTable.Content(story: "w"), "w", "w"), (HeldTable.Content(story: "w#en"), "w#en", "w#en"),
        (nil, "w#en", "w"),
    ])
    func `a held event is shown with its own story, or else with that of its key, and recalled without the language`(
        content: HeldTable.Content?, story: String, recalled: String
    ) {
        var table = HeldTable()
        let event = HeldEvent(
            eventID: "id", story: HeldKey.key(of: "w#en", readers: 7), version: nil, due: PlayedHeldState.noon,
            because: .embargo, lane: "live", source: .init(partition: PlayedHeldState.source, offset: 1))
        table.apply(.held(event, since: nil), at: HeldPlace(3, 0), content: content)
        #expect(table.rows.map(\.story) == [story])
        #expect(table.rows.map { $0.story(languages: ["fr", "en"]) } == [recalled])
        #expect(table.rows.map { $0.story(languages: []) } == [story])
    }

    @Test func `an older version written behind a newer one does not replace it`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "2", due: .seconds(20))
        #expect(play.hold(1, "a", version: "1", due: .seconds(10)).again == [0])
        _ = play.take(.ended([.putBack(HeldPlace(3, 1), story: "a")]))
        #expect(play.wait(.seconds(10)).returns.isEmpty)
    }

    @Test func `a rewritten record without a version keeps its original position`() {
        var play = PlayedHeldState()
        _ = play.hold(5, "a", due: .seconds(20))
        // An older record, from offset 2, that another process rewrote too late.
        #expect(play.hold(6, "a", due: .seconds(10), since: 2).again == [5])
        #expect(play.wait(.seconds(10)).returns.isEmpty)
    }

    @Test func `a late tombstone of a returned event also removes its rewritten copy`() {
        var play = PlayedHeldState()
        _ = play.hold(5, "a")
        _ = play.hold(6, "a", since: 5)
        _ = play.read(7, .erased(story: "a", upTo: 5))
        #expect(play.state.count == 0)
    }

    @Test func `an endangered record is written again by a later owner`() {
        var play = PlayedHeldState(owning: [])
        _ = play.hold(1, "a", version: "2")
        #expect(play.read(2, .erased(story: "a", upTo: 0)).again.isEmpty)
        #expect(play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).again == [1])
    }

    @Test func `a recalled story returns at once, whether the order or the event was first`() {
        let order = Order(id: "1", scope: .recall(story: "a"), at: PlayedHeldState.noon, by: "editor")
        var eventFirst = PlayedHeldState()
        _ = eventFirst.hold(0, "a")
        _ = eventFirst.hold(1, "b")
        #expect(eventFirst.take(.orders([.stands(order)])).returns == [0: .recalled])
        var orderFirst = PlayedHeldState()
        _ = orderFirst.take(.orders([.stands(order)]))
        #expect(orderFirst.hold(0, "a").returns == [0: .recalled])
    }

    @Test func `a lifted recall restores the due time of an event that has not left`() {
        let order = Order(id: "1", scope: .recall(story: "a"), at: PlayedHeldState.noon, by: "editor")
        var play = PlayedHeldState(owning: [])
        _ = play.hold(0, "a")
        _ = play.take(.orders([.stands(order)]))
        _ = play.take(.orders([.lifted(order.scope)]))
        #expect(play.take(.owned(LaneID(0), ShardID(0), [PlayedHeldState.source])).returns.isEmpty)
        #expect(play.wait(.seconds(3_600)).returns == [0: .due])
    }

    @Test func `an engine's request returns a story from every partition, including those of other owners`() {
        var play = PlayedHeldState(owning: [])
        _ = play.hold(0, "a")
        _ = play.hold(9, "a", from: TopicPartition(topic: "archive", partition: 4))
        #expect(play.take(.bringBack(story: "a", .superseded)).returns == [0: .superseded, 9: .superseded])
    }

    @Test func `a recall request waits for the event just written, and for no later one`() {
        var play = PlayedHeldState()
        _ = play.take(.bringBack(story: "a", .superseded))
        #expect(play.hold(0, "a").returns == [0: .superseded])
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        _ = play.read(1, .erased(story: "a", upTo: 0))
        #expect(play.hold(2, "a").returns.isEmpty)
        _ = play.take(.bringBack(story: "b", .superseded))
        _ = play.wait(.seconds(60))
        #expect(play.hold(3, "b").returns.isEmpty)
    }

    @Test func `a recall request for a version leaves a newer one that was held meanwhile`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "1")
        #expect(play.hold(1, "a", version: "3").returns == [0: .superseded])
        #expect(play.take(.bringBack(story: "a", .superseded, .older(upTo: .init("2")))).returns.isEmpty)
        _ = play.take(.ended([.putBack(HeldPlace(3, 0), story: "a")]))
        #expect(play.take(.bringBack(story: "a", .superseded, .older(upTo: .init("3")))).returns == [1: .superseded])
        // The same request before any event of the story was read.
        _ = play.take(.bringBack(story: "b", .superseded, .older(upTo: .init("2"))))
        #expect(play.hold(2, "b", version: "3").returns.isEmpty)
    }

    @Test func `a story is held as long as one of its events is held`() {
        var play = PlayedHeldState()
        let first = play.hold(0, "a", version: "1")
        let source = ResultRecord.Source(partition: PlayedHeldState.source, offset: 7)
        var told = HeldStory(story: "a", version: .init("1"), source: source, isHeld: true)
        told.eventID = "id-a"
        #expect(first.told == [told])
        _ = play.hold(0, "a", from: TopicPartition(topic: "archive", partition: 4))
        #expect(play.read(1, .erased(story: "a", upTo: nil)).told.isEmpty)
        let last = play.read(1, .erased(story: "a", upTo: nil), partition: 4)
        #expect(last.told == [HeldStory(story: "a", isHeld: false)])
    }

    @Test func `an older version does not take the place of an event without a version that replaced a newer one`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "8", due: .seconds(60))
        _ = play.hold(1, "a", due: .seconds(60))
        #expect(play.hold(2, "a", version: "3", due: .seconds(60)).returns == [2: .superseded])
        _ = play.take(.ended([.putBack(HeldPlace(3, 2), story: "a"), .written(HeldPlace(3, 1))]))
        _ = play.hold(3, "a", due: .seconds(60), since: 1)
        #expect(play.wait(.seconds(60)).returns == [3: .due])
    }

    @Test func `a recreated topic holds none of the former events`() {
        var play = PlayedHeldState()
        _ = play.hold(8, "a")
        _ = play.hold(9, "b")
        _ = play.hold(0, "c")
        #expect(play.state.count == 1)
        #expect(play.wait(.seconds(3_600)).returns.isEmpty, "its end was told as it was before")
        play.ends = [3: 1]
        #expect(play.wait(.seconds(2)).returns == [0: .due])
    }

    @Test func `a request for an event that is being written again is granted after that`() {
        var play = PlayedHeldState()
        _ = play.hold(0, "a", version: "2")
        #expect(play.hold(1, "a", version: "1").again == [0])
        _ = play.take(.ended([.putBack(HeldPlace(3, 1), story: "a")]))
        #expect(play.take(.bringBack(story: "a", .superseded, .older(upTo: .init("2"), []))).returns.isEmpty)
        _ = play.take(.ended([.written(HeldPlace(3, 0))]))
        #expect(play.hold(2, "a", version: "2", since: 0).returns == [2: .superseded])
    }
}
