import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// Answers to orders, recalls by events, and lapses.
@Suite struct ControlStateOrderTests {
    // MARK: The held topic

    @Test func `the former content of the held topic is reported only after the first reading`() {
        let totals = (1...3).map { HeldTotals(count: $0, last: HeldMark(HeldPlace(0, Int64($0)), identity: 5)) }
        var desk = TestControlState()
        desk.write(.heldTotals(totals[0]))
        desk.write(.heldTotals(totals[1]))
        desk.take(.began(reading: desk.reading))
        desk.read()
        #expect(desk.formerlyHeld.isEmpty)
        desk.start()
        #expect(desk.formerlyHeld == [totals[1]])
        desk.write(.heldTotals(totals[2]))
        desk.readAll()
        #expect(desk.formerlyHeld.count == 1)
    }

    @Test func `without a control topic, the former content of the held topic is unknown`() {
        var desk = TestControlState()
        desk.take(.unreadable(TestControlState.failure))
        #expect(desk.formerlyHeld.isEmpty)
        desk.take(.missing)
        #expect(desk.formerlyHeld == [nil])
    }

    @Test func `the content of the held topic is written once for each change, and at most every ten seconds`() {
        var desk = TestControlState()
        desk.start()
        var written: [HeldTotals] {
            desk.written.compactMap { if case .heldTotals(let totals) = $0 { totals } else { nil } }
        }
        let totals = (1...3).map { HeldTotals(count: $0, last: nil) }
        desk.take(.held(totals[0]))
        desk.take(.held(totals[1]))
        desk.pass(.seconds(1))
        #expect(written == [totals[1]])
        desk.write(.heldTotals(totals[1]))
        desk.read()
        desk.pass(.seconds(20))
        #expect(written == [totals[1]])
        desk.take(.held(totals[2]))
        desk.pass(.seconds(1))
        desk.take(.held(totals[0]))
        desk.pass(.seconds(9))
        #expect(written == [totals[1], totals[2]])
        desk.take(.held(nil))
        desk.pass(.seconds(20))
        #expect(written == [totals[1], totals[2]], "while it is unknown, nothing is written")
    }

    // MARK: Answers

    @Test func `an order is answered once, with the sum of all shards' effects`() {
        var desk = TestControlState(shards: 2)
        desk.start()
        desk.write(.stands(Order(recall: "a", id: "7")))
        desk.read()
        desk.take(.applied(AppliedOrder(order: "7", waiting: 3, inFlight: 1), shard: ShardID(0)))
        #expect(desk.audited == [])
        desk.take(.applied(AppliedOrder(order: "7", waiting: 4), shard: ShardID(1)))
        #expect(desk.audited.map(\.applied) == [AppliedOrder(order: "7", waiting: 7, inFlight: 1)])
        #expect(desk.audited.map(\.replica) == ["us"])
        desk.take(.applied(AppliedOrder(order: "7"), shard: ShardID(1)))
        #expect(desk.audited.count == 1)
    }

    @Test func `a held event that every shard reports is counted once`() {
        var desk = TestControlState(shards: 2)
        desk.start()
        desk.write(.stands(Order(recall: "a", id: "7")))
        desk.read()
        for shard in 0..<2 { desk.take(.applied(AppliedOrder(order: "7", held: 1), shard: ShardID(shard))) }
        #expect(desk.audited.map(\.applied) == [AppliedOrder(order: "7", held: 1)])
    }

    @Test func `the later of two editors' orders is in force, and both are answered`() {
        var desk = TestControlState()
        desk.start()
        desk.write(.stands(Order(stop: .hub, id: "1")))
        desk.write(.stands(Order(stop: .hub, id: "2")))
        desk.write(.lifted(.stop(.hub)))
        desk.read()
        for name in ["1", "2", "stop/hub"] { desk.take(.applied(AppliedOrder(order: name), shard: ShardID(0))) }
        #expect(desk.audited.map(\.action) == [.stop, .stop, .resume])
        #expect(desk.status.standing.isEmpty)
    }

    @Test func `a lift of an order that is not in force is confirmed at once`() {
        var desk = TestControlState()
        desk.start()
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        #expect(desk.audited.map(\.action) == [.lift])
        #expect(desk.told == [])
    }

    @Test func `no audit entries are written without an audit topic`() {
        var desk = TestControlState()
        desk.take(.audit(.missing))
        desk.start()
        desk.write(.stands(Order(recall: "a", id: "7")))
        desk.read()
        desk.take(.applied(AppliedOrder(order: "7"), shard: ShardID(0)))
        #expect(desk.audited == [])
    }

    // MARK: Recalls by events

    @Test func `a recall by an event becomes an order unless one is in force`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "b")))
        desk.start()
        desk.take(.recalled(.of("a")))
        desk.take(.recalled(.of("a")))
        desk.take(.recalled(.of("b")))
        let written = desk.written.compactMap { if case .stands(let order) = $0 { order } else { nil } }
        #expect(written.map(\.scope) == [.recall(story: "a")])
        #expect(written.map(\.by) == ["event e-a"])
        #expect(desk.told.count == 2)
    }

    @Test func `the effect of a recall by an event is reported under the id that all processes share`() {
        var desk = TestControlState()
        desk.start()
        let recall = EventRecall.of("a")
        desk.take(.recalled(recall))
        desk.take(.applied(AppliedOrder(order: recall.orderID, waiting: 3, inFlight: 1), shard: ShardID(0)))
        #expect(desk.audited.map(\.order) == [recall.orderID, recall.orderID])
        #expect(desk.audited.map(\.applied) == [nil, AppliedOrder(order: recall.orderID, waiting: 3, inFlight: 1)])
    }

    @Test func `a recall by an event is settled once it is written or the topic is missing`() {
        var desk = TestControlState()
        desk.start()
        desk.answerWrites()
        desk.take(.recalled(.of("a")))
        #expect(desk.told.count == 1)
        #expect(desk.settled == [], "the shards obey it, and the topic does not have it")
        desk.answerWrites()
        #expect(desk.settled == ["a"])
        desk.take(.recalled(.of("a")))
        #expect(desk.settled == ["a", "a"], "it stands")
        desk.take(.recalled(.of("b")))
        #expect(desk.settled == ["a", "a"])
        desk.take(.missing)
        #expect(desk.settled == ["a", "a", "b"], "there is no topic any more")
    }

    @Test func `a recall by an event that was lifted since is not restored`() {
        var desk = TestControlState()
        desk.start()
        desk.pass(.seconds(31))
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        desk.take(.recalled(.of("a")))
        #expect(desk.told == [.lifted(.recall(story: "a"))])
        #expect(desk.recalled.contains("a") == false)
    }

    @Test func `a recall by an event survives the end of an older order`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.answerWrites()
        desk.take(.recalled(.of("a")))
        // The lift was in flight when the event was read.
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        #expect(desk.recalled == ["a"])
        #expect(desk.written.suffix(1).map(\.key) == ["recall/story/a"])
        desk.echo()
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        #expect(desk.recalled == [])
    }

    @Test func `a recall by an event stays in force while the topic is read again up to a place before it`() throws {
        var desk = TestControlState()
        desk.now.wall = desk.now.wall - .seconds(14)
        desk.write(.stands(Order(recall: "a")))
        desk.write(.lifted(.recall(story: "a")))
        desk.now.wall = desk.now.wall + .seconds(14)
        desk.start()
        desk.answerWrites()
        desk.take(.recalled(.of("a")))
        desk.answerWrites()
        desk.readAll()
        #expect(desk.recalled == ["a"] && desk.settled == ["a"])
        desk.write(try #require(desk.written.last { $0.key == "recall/story/a" }))
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        #expect(desk.recalled == [])
    }

    @Test func `a recall by an event ends with the order that covers it if that is lifted later`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.take(.recalled(.of("a")))
        desk.pass(.seconds(40))
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        #expect(desk.recalled == [])
    }

    @Test func `an event that is read again does not restore a lifted recall`() {
        var desk = TestControlState()
        desk.start()
        desk.take(.recalled(.of("a")))
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        desk.take(.recalled(.of("a")))
        #expect(desk.recalled == [])
    }

    @Test func `a recall by an event is obeyed although its clock is slightly behind that of a lift`() {
        var desk = TestControlState()
        desk.start()
        desk.pass(.seconds(20))
        desk.write(.lifted(.recall(story: "a")))
        desk.read()
        desk.take(.recalled(.of("a")))
        #expect(desk.recalled == ["a"])
    }

    @Test func `a recall by an event waits until the orders are known`() {
        var desk = TestControlState()
        desk.take(.recalled(.of("a")))
        #expect(desk.told == [])
        desk.start()
        #expect(desk.told.map(\.scope) == [.recall(story: "a")])
    }

    @Test func `an order that could not be written is written later`() {
        var desk = TestControlState()
        desk.take(.missing)
        desk.take(.recalled(.of("a")))
        #expect(desk.written == [])
        #expect(desk.recalled.contains("a") == true)
        desk.start()
        #expect(desk.written.map(\.key) == ["beat/us", "recall/story/a"])
        desk.answerWrites(TestControlState.failure)
        desk.pass(.seconds(6))
        #expect(desk.written.count { $0.key == "recall/story/a" } == 2)
    }

    @Test func `an archive of recalls leaves room for editors`() {
        var desk = TestControlState()
        desk.start()
        for number in 0..<StandingOrders.capacity {
            desk.take(.recalled(.of("\(number)")))
            desk.answerWrites()
        }
        desk.write(.stands(Order(recall: "editor")))
        desk.read()
        #expect(desk.recalled.contains("editor") == true)
        #expect(desk.status.counts.unordered == 1_000)
    }

    // MARK: Lapses

    @Test func `an order lapses at its time, and its record is removed later`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a", until: desk.now.wall + .seconds(100))))
        desk.start()
        desk.pass(.seconds(99))
        #expect(desk.recalled.contains("a") == true)
        desk.pass(.seconds(2))
        #expect(desk.told.last == .lifted(.recall(story: "a")))
        #expect(!desk.written.contains(.lifted(.recall(story: "a"))))
        desk.pass(.seconds(120))
        #expect(desk.written.count { $0 == .lifted(.recall(story: "a")) } == 1)
        #expect(desk.audited.map(\.action) == [.lapse])
    }

    /// The clock of the process is a week ahead. Another process lives, or the hub tells the time.
    @Test(arguments: [true, false])
    func `an order does not lapse by a clock that is ahead of others`(byHub: Bool) {
        var desk = TestControlState(asksHubForTime: true)
        let truth = desk.now.wall
        desk.write(.stands(Order(recall: "a", until: truth + .seconds(300))))
        if !byHub { desk.write(.beat(.init(replica: "other", at: truth, logTime: .seconds(1)))) }
        desk.now.wall = truth + .seconds(7 * 86_400)
        desk.start()
        desk.pass(.seconds(5))
        #expect(desk.recalled.contains("a"))
        if byHub {
            desk.take(.hubTime(Moment(steady: desk.now.steady, wall: truth + .seconds(5))))
        } else {
            desk.write(.beat(.init(replica: "other", at: truth + .seconds(5), logTime: .seconds(6))))
            desk.read()
        }
        desk.pass(.seconds(20))
        #expect(desk.recalled.contains("a"))
        guard byHub else { return }
        desk.pass(.seconds(280))
        #expect(!desk.recalled.contains("a"))
    }

    /// The clock of the process is days ahead. A beat of its former run, on the same machine, is still on the topic.
    @Test func `an order does not lapse while neither the hub nor another process supports the time`() {
        var desk = TestControlState(asksHubForTime: true)
        let truth = desk.now.wall
        desk.now.wall = truth + .seconds(8 * 86_400)
        desk.write(.stands(Order(recall: "a", until: truth + .seconds(300))))
        desk.write(.beat(.init(replica: "us-before", at: desk.now.wall, logTime: .seconds(1))))
        desk.start()
        desk.pass(.seconds(200))
        #expect(desk.recalled.contains("a"))
        #expect(!desk.written.contains(.lifted(.recall(story: "a"))))
        desk.take(.hubTime(Moment(steady: desk.now.steady, wall: truth + .seconds(200))))
        desk.pass(.seconds(99))
        #expect(desk.recalled.contains("a"))
        desk.pass(.seconds(2))
        #expect(!desk.recalled.contains("a"))
    }

    @Test func `an order lapses by our clock if another living process supports it`() {
        var desk = TestControlState(asksHubForTime: true)
        desk.write(.stands(Order(recall: "a", until: desk.now.wall + .seconds(20))))
        desk.start()
        desk.pass(.seconds(60))
        #expect(desk.recalled.contains("a"))
        desk.write(.beat(.init(replica: "other", at: desk.now.wall, logTime: .seconds(60))))
        desk.read()
        desk.pass(.seconds(1))
        #expect(!desk.recalled.contains("a"))
    }

    @Test func `an order that is renewed in time is not removed`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a", until: desk.now.wall + .seconds(100))))
        desk.start()
        desk.pass(.seconds(110))
        desk.write(.stands(Order(recall: "a", id: "2", until: desk.now.wall + .seconds(1_000))))
        desk.read()
        desk.pass(.seconds(200))
        #expect(!desk.written.contains(.lifted(.recall(story: "a"))))
        #expect(desk.recalled.contains("a") == true)
    }

    @Test func `a clock that is set forward ends no order in the next minute`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a", until: desk.now.wall + .seconds(1_000))))
        desk.start()
        desk.now.wall = desk.now.wall + .seconds(86_400)
        desk.pass(.seconds(59))
        #expect(desk.recalled.contains("a") == true)
        desk.pass(.seconds(2))
        #expect(desk.recalled.contains("a") == false)
    }
}
