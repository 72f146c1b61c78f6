import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// Answers to orders, and recalls by events.
@Suite struct ControlStateOrderTests {
    // MARK: Answers

    @Test func `an order is answered once, with the sum of all shards' effects`() {
        var state = TestControlState(shards: 2)
        state.start()
        state.write(.stands(Order(recall: "a", id: "7")))
        state.read()
        state.take(.applied(AppliedOrder(order: "7", waiting: 3, inFlight: 1), shard: ShardID(0)))
        #expect(state.audited == [])
        state.take(.applied(AppliedOrder(order: "7", waiting: 4), shard: ShardID(1)))
        #expect(state.audited.map(\.applied) == [AppliedOrder(order: "7", waiting: 7, inFlight: 1)])
        #expect(state.audited.map(\.replica) == ["us"])
        state.take(.applied(AppliedOrder(order: "7"), shard: ShardID(1)))
        #expect(state.audited.count == 1)
    }

    @Test func `a held event that every shard reports is counted once`() {
        var state = TestControlState(shards: 2)
        state.start()
        state.write(.stands(Order(recall: "a", id: "7")))
        state.read()
        for shard in 0..<2 { state.take(.applied(AppliedOrder(order: "7", held: 1), shard: ShardID(shard))) }
        #expect(state.audited.map(\.applied) == [AppliedOrder(order: "7", held: 1)])
    }

    @Test func `the later of two editors' orders is in force, and both are answered`() {
        var state = TestControlState()
        state.start()
        state.write(.stands(Order(stop: .hub, id: "1")))
        state.write(.stands(Order(stop: .hub, id: "2")))
        state.write(.lifted(.stop(.hub)))
        state.read()
        for name in ["1", "2", "stop/hub"] { state.take(.applied(AppliedOrder(order: name), shard: ShardID(0))) }
        #expect(state.audited.map(\.action) == [.stop, .stop, .resume])
        #expect(state.status.standing.isEmpty)
    }

    @Test func `a lift of an order that is not in force is confirmed at once`() {
        var state = TestControlState()
        state.start()
        state.write(.lifted(.recall(story: "a")))
        state.read()
        #expect(state.audited.map(\.action) == [.lift])
        #expect(state.told == [])
    }

    @Test func `no audit entries are written without an audit topic`() {
        var state = TestControlState()
        state.take(.audit(.missing))
        state.start()
        state.write(.stands(Order(recall: "a", id: "7")))
        state.read()
        state.take(.applied(AppliedOrder(order: "7"), shard: ShardID(0)))
        #expect(state.audited == [])
    }

    // MARK: Recalls by events

    @Test func `a recall by an event becomes an order unless one is in force`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "b")))
        state.start()
        state.take(.recalled(.of("a")))
        state.take(.recalled(.of("a")))
        state.take(.recalled(.of("b")))
        let written = state.written.compactMap { if case .stands(let order) = $0 { order } else { nil } }
        #expect(written.map(\.scope) == [.recall(story: "a")])
        #expect(written.map(\.by) == ["event e-a"])
        #expect(state.told.count == 2)
    }

    @Test func `the effect of a recall by an event is reported under the id that all processes share`() {
        var state = TestControlState()
        state.start()
        let recall = EventRecall.of("a")
        state.take(.recalled(recall))
        state.take(.applied(AppliedOrder(order: recall.orderID, waiting: 3, inFlight: 1), shard: ShardID(0)))
        #expect(state.audited.map(\.order) == [recall.orderID, recall.orderID])
        #expect(state.audited.map(\.applied) == [nil, AppliedOrder(order: recall.orderID, waiting: 3, inFlight: 1)])
    }

    @Test func `a recall by an event is settled once it is written or the topic is missing`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.take(.recalled(.of("a")))
        #expect(state.told.count == 1)
        #expect(state.settled == [], "the shards obey it, and the topic does not have it")
        state.answerWrites()
        #expect(state.settled == ["a"])
        state.take(.recalled(.of("a")))
        #expect(state.settled == ["a", "a"], "it stands")
        state.take(.recalled(.of("b")))
        #expect(state.settled == ["a", "a"])
        state.take(.missing)
        #expect(state.settled == ["a", "a", "b"], "there is no topic any more")
    }

    @Test func `a recall by an event that was lifted since is not restored`() {
        var state = TestControlState()
        state.start()
        state.pass(.seconds(31))
        state.write(.lifted(.recall(story: "a")))
        state.read()
        state.take(.recalled(.of("a")))
        #expect(state.told == [.lifted(.recall(story: "a"))])
        #expect(state.recalled.contains("a") == false)
    }

    @Test func `a recall by an event survives the end of an older order`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        state.answerWrites()
        state.take(.recalled(.of("a")))
        // The lift was in flight when the event was read.
        state.write(.lifted(.recall(story: "a")))
        state.read()
        #expect(state.recalled == ["a"])
        #expect(state.written.suffix(1).map(\.key) == ["recall/story/a"])
        state.echo()
        state.write(.lifted(.recall(story: "a")))
        state.read()
        #expect(state.recalled == [])
    }

    @Test func `a recall by an event stays in force while the topic is read again up to a place before it`() throws {
        var state = TestControlState()
        state.now.wall = state.now.wall - .seconds(14)
        state.write(.stands(Order(recall: "a")))
        state.write(.lifted(.recall(story: "a")))
        state.now.wall = state.now.wall + .seconds(14)
        state.start()
        state.answerWrites()
        state.take(.recalled(.of("a")))
        state.answerWrites()
        state.readAll()
        #expect(state.recalled == ["a"] && state.settled == ["a"])
        state.write(try #require(state.written.last { $0.key == "recall/story/a" }))
        state.write(.lifted(.recall(story: "a")))
        state.read()
        #expect(state.recalled == [])
    }

    @Test func `of two events that recall behind a lift in flight, the newer one counts, whichever is read first`() {
        for isOlderFirst in [true, false] {
            var state = TestControlState()
            state.write(.stands(Order(recall: "a")))
            state.start()
            state.answerWrites()
            let recalls = [EventRecall.of("a", at: state.now.wall - .seconds(86_400)), .of("a", at: state.now.wall)]
            for recall in isOlderFirst ? recalls : recalls.reversed() { state.take(.recalled(recall)) }
            state.write(.lifted(.recall(story: "a")))
            state.read()
            #expect(state.recalled == ["a"], "the older one first: \(isOlderFirst)")
        }
    }

    @Test func `a recall by an event ends with the order that covers it if that is lifted later`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        state.take(.recalled(.of("a")))
        state.pass(.seconds(40))
        state.write(.lifted(.recall(story: "a")))
        state.read()
        #expect(state.recalled == [])
    }

    @Test func `an event that is read again does not restore a lifted recall`() {
        var state = TestControlState()
        state.start()
        state.take(.recalled(.of("a")))
        state.write(.lifted(.recall(story: "a")))
        state.read()
        state.take(.recalled(.of("a")))
        #expect(state.recalled == [])
    }

    @Test func `a recall by an event stays in force while older orders of the topic are read late`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.take(.recalled(.of("a")))
        state.answerWrites()
        state.write(.stands(Order(recall: "a", id: "older")))
        state.write(.stands(Order(recall: "a", id: "lapsed", until: Instant(milliseconds: 1))))
        state.read()
        #expect(state.recalled == ["a"])
        #expect(!state.told.contains(.lifted(.recall(story: "a"))))
    }

    @Test(arguments: ["stored", "in flight", "failed"])
    func `a recall by an event stays in force if an older order lapses before our record is read`(write: String) {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.take(.recalled(.of("a")))
        if write != "in flight" { state.answerWrites(write == "failed" ? TestControlState.failure : nil) }
        state.write(.stands(Order(recall: "a", id: "older", until: state.now.wall + .seconds(10))))
        state.read()
        state.pass(.seconds(20))
        #expect(state.recalled == ["a"] && state.told.last == state.told.first)
        #expect(state.log.count { $0 == "tell" } == 3, "the end and the order after it reach the shards together")
        state.answerWrites()
        #expect(state.settled == ["a"])
    }

    @Test(arguments: [true, false])
    func `a recall by an event stays in force if an order that has lapsed is read later, whatever its date`(
        isStored: Bool
    ) {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.take(.recalled(.of("a")))
        if isStored { state.answerWrites() }
        var older = Order(recall: "a", id: "older", until: state.now.wall - .seconds(1))
        older.at = state.now.wall + .seconds(40)
        state.write(.stands(older))
        state.read()
        #expect(state.recalled == ["a"])
    }

    @Test func `the tombstone of our order ends it before its record is read back, although our clock is behind`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        let recall = EventRecall.of("a")
        state.take(.recalled(recall))
        state.answerWrites()
        state.write(.lapsed(.recall(story: "a"), order: recall.orderID, until: state.now.wall + Order.recallLasts))
        state.read()
        #expect(state.recalled == [])
    }

    @Test func `a recall by an event that is newer than a lift is obeyed although our clock is hours behind`() {
        var state = TestControlState()
        state.start()
        state.write(.lifted(.recall(story: "a")))
        state.read()
        let liftedAt = state.now.wall
        state.now.wall = liftedAt - .seconds(9_000)
        state.take(.recalled(.of("a", at: liftedAt - .seconds(60))))
        #expect(state.recalled == [], "it is older")
        state.take(.recalled(.of("a", at: liftedAt + .seconds(9))))
        #expect(state.recalled == ["a"])
    }

    @Test func `a recall by an event whose timestamp is hours ahead of a right clock ends with the next lift`() {
        var state = TestControlState()
        state.start()
        state.take(.recalled(.of("a", at: state.now.wall + .seconds(9_000))))
        #expect(state.recalled == ["a"])
        state.write(.lifted(.recall(story: "a")))
        state.read()
        #expect(state.recalled == [])
    }

    @Test func `a recall by an event is obeyed although its clock is slightly behind that of a lift`() {
        var state = TestControlState()
        state.start()
        state.pass(.seconds(20))
        state.write(.lifted(.recall(story: "a")))
        state.read()
        state.take(.recalled(.of("a")))
        #expect(state.recalled == ["a"])
    }

    @Test func `a recall by an event waits until the orders are known`() {
        var state = TestControlState()
        state.take(.recalled(.of("a")))
        #expect(state.told == [])
        state.start()
        #expect(state.told.map(\.scope) == [.recall(story: "a")])
    }

    @Test func `an order that could not be written is written later`() {
        var state = TestControlState()
        state.take(.missing)
        state.take(.recalled(.of("a")))
        #expect(state.written == [])
        #expect(state.recalled.contains("a") == true)
        state.start()
        #expect(state.written.map(\.key) == ["beat/us", "recall/story/a"])
        state.answerWrites(TestControlState.failure)
        state.pass(.seconds(6))
        #expect(state.written.count { $0.key == "recall/story/a" } == 2)
    }

    @Test func `a backfill of recalls leaves half of the room to the live lane`() {
        var state = TestControlState()
        state.start()
        for number in 0..<9_000 {
            var recall = EventRecall.of("old \(number)")
            recall.isOfFirstLane = false
            state.take(.recalled(recall))
            state.answerWrites()
        }
        #expect((state.status.standing.count, state.status.counts.unordered) == (4_500, 4_500))
        for number in 0..<4_500 {
            state.take(.recalled(.of("\(number)")))
            state.answerWrites()
        }
        #expect((state.status.standing.count, state.status.counts.unordered) == (9_000, 4_500))
    }

    @Test func `a backfill of recalls that are read before the orders leaves half of the room to the live lane`() {
        var state = TestControlState()
        for number in 0..<5_000 {
            var recall = EventRecall.of("old \(number)")
            recall.isOfFirstLane = false
            state.take(.recalled(recall))
        }
        state.take(.recalled(.of("live")))
        state.start()
        #expect(state.recalled.contains("live") == true && state.status.counts.unordered == 2_500)
    }

    @Test func `an archive of recalls leaves room for editors`() {
        var state = TestControlState()
        state.start()
        for number in 0..<StandingOrders.capacity {
            state.take(.recalled(.of("\(number)")))
            state.answerWrites()
        }
        state.write(.stands(Order(recall: "editor")))
        state.read()
        #expect(state.recalled.contains("editor") == true)
        #expect(state.status.counts.unordered == 1_000)
        #expect(state.status.alarms == [.unordered(1_000)])
    }
}
