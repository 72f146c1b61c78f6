import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// Answers to orders, recalls by events, and lapses.
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
    }

    // MARK: Lapses

    @Test func `an order lapses at its time, and its record is removed later`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(100))))
        state.start()
        state.pass(.seconds(99))
        #expect(state.recalled.contains("a") == true)
        state.pass(.seconds(2))
        #expect(state.told.last == .lifted(.recall(story: "a")))
        #expect(!state.written.contains(.lifted(.recall(story: "a"))))
        state.pass(.seconds(120), echoes: true)
        #expect(state.written.count { $0 == .lifted(.recall(story: "a")) } == 1)
        #expect(state.audited.map(\.action) == [.lapse])
    }

    @Test func `a process that stood still removes no lapsed order before it has read whether it was given again`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(100))))
        state.start()
        state.pass(.seconds(101), echoes: true)
        #expect(state.recalled.isEmpty)
        (state.now.steady, state.now.wall) = (state.now.steady + .seconds(200), state.now.wall + .seconds(200))
        state.take(.tick)
        #expect(!state.written.contains(.lifted(.recall(story: "a"))))
        state.write(.stands(Order(recall: "a", id: "2")))
        state.read()
        state.pass(.seconds(200), echoes: true)
        #expect(state.recalled == ["a"] && !state.written.contains(.lifted(.recall(story: "a"))))
    }

    /// The clock of the process is a week ahead. Another process lives, or the hub tells the time.
    @Test(arguments: [true, false])
    func `an order does not lapse by a clock that is ahead of others`(byHub: Bool) {
        var state = TestControlState(asksHubForTime: true)
        let truth = state.now.wall
        state.write(.stands(Order(recall: "a", until: truth + .seconds(300))))
        if !byHub { state.write(.beat(.init(replica: "other", at: truth, logTime: .seconds(1)))) }
        state.now.wall = truth + .seconds(7 * 86_400)
        state.start()
        state.pass(.seconds(5))
        #expect(state.recalled.contains("a"))
        if byHub {
            state.take(.hubTime(Moment(steady: state.now.steady, wall: truth + .seconds(5))))
        } else {
            state.write(.beat(.init(replica: "other", at: truth + .seconds(5), logTime: .seconds(6))))
            state.read()
        }
        state.pass(.seconds(20))
        #expect(state.recalled.contains("a"))
        guard byHub else { return }
        state.pass(.seconds(280))
        #expect(!state.recalled.contains("a"))
    }

    /// The clock of the process is days ahead. A beat of its former run, on the same machine, is still on the topic.
    @Test func `an order does not lapse while neither the hub nor another process supports the time`() {
        var state = TestControlState(asksHubForTime: true)
        let truth = state.now.wall
        state.now.wall = truth + .seconds(8 * 86_400)
        state.write(.stands(Order(recall: "a", until: truth + .seconds(300))))
        state.write(.beat(.init(replica: "us-before", at: state.now.wall, logTime: .seconds(1))))
        state.start()
        state.pass(.seconds(200))
        #expect(state.recalled.contains("a"))
        #expect(!state.written.contains(.lifted(.recall(story: "a"))))
        state.take(.hubTime(Moment(steady: state.now.steady, wall: truth + .seconds(200))))
        state.pass(.seconds(99))
        #expect(state.recalled.contains("a"))
        state.pass(.seconds(2))
        #expect(!state.recalled.contains("a"))
    }

    /// The clock of the process is a week ahead, and the only other process has ended.
    @Test func `a process that has ended supports no time`() {
        var state = TestControlState(asksHubForTime: true)
        let truth = state.now.wall
        state.now.wall = truth + .seconds(7 * 86_400)
        state.start()
        state.write(.beat(.init(replica: "other", at: truth, logTime: .seconds(1))))
        state.write(.ended(replica: "other"))
        state.write(.stands(Order(recall: "a", until: truth + .seconds(300))))
        state.read()
        state.pass(.seconds(5))
        #expect(state.recalled.contains("a"))
    }

    @Test func `an order lapses by our clock if another living process supports it`() {
        var state = TestControlState(asksHubForTime: true)
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(20))))
        state.start()
        state.pass(.seconds(60))
        #expect(state.recalled.contains("a"))
        state.write(.beat(.init(replica: "other", at: state.now.wall, logTime: .seconds(60))))
        state.read()
        state.pass(.seconds(1))
        #expect(!state.recalled.contains("a"))
    }

    @Test func `an order that is renewed in time is not removed`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(100))))
        state.start()
        state.pass(.seconds(110))
        state.write(.stands(Order(recall: "a", id: "2", until: state.now.wall + .seconds(1_000))))
        state.read()
        state.pass(.seconds(200))
        #expect(!state.written.contains(.lifted(.recall(story: "a"))))
        #expect(state.recalled.contains("a") == true)
    }

    @Test func `a clock that is set forward ends no order in the next minute`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(1_000))))
        state.start()
        state.now.wall = state.now.wall + .seconds(86_400)
        state.pass(.seconds(59))
        #expect(state.recalled.contains("a") == true)
        state.pass(.seconds(2))
        #expect(state.recalled.contains("a") == false)
    }
}
