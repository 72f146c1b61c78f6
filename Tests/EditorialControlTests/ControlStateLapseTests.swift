import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The end of orders by time, and the tombstones of their records.
@Suite struct ControlStateLapseTests {
    @Test func `an order lapses at its time, and its record is removed later`() {
        var state = TestControlState()
        let end = state.now.wall + .seconds(100)
        state.write(.stands(Order(recall: "a", until: end)))
        state.start()
        state.pass(.seconds(99))
        #expect(state.recalled.contains("a") == true)
        state.pass(.seconds(2))
        #expect(state.told.last == .lifted(.recall(story: "a")))
        #expect(!state.removes("a"))
        state.pass(.seconds(120), echoes: true)
        #expect(state.written.count { $0 == .lapsed(.recall(story: "a"), order: "1", until: end) } == 1)
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
        #expect(!state.removes("a"))
        state.write(.stands(Order(recall: "a", id: "2")))
        state.read()
        state.pass(.seconds(200), echoes: true)
        #expect(state.recalled == ["a"] && !state.removes("a"))
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
        #expect(!state.removes("a"))
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
        #expect(!state.removes("a"))
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

    // MARK: Tombstones

    private static let recall = ControlScope.recall(story: "a")

    /// A process that has read order 1, its renewal 2, and the tombstone of order 1 behind that.
    private func renewed() -> TestControlState {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(100))))
        state.start()
        state.pass(.seconds(101), echoes: true)
        state.write(.stands(Order(recall: "a", id: "2")))
        state.write(.lapsed(Self.recall, order: "1"))
        state.read()
        return state
    }

    @Test func `a renewal that the tombstone of the lapsed order follows stays in force and is written again`() {
        var state = renewed()
        #expect(state.recalled == ["a"] && state.told.last == .stands(Order(recall: "a", id: "2")))
        #expect(state.written.last == .stands(Order(recall: "a", id: "2")))
        state.answerWrites()
        state.write(.stands(Order(recall: "a", id: "2")))
        state.compact()
        state.readAll()
        #expect(state.recalled == ["a"])
        state.pass(.seconds(200), echoes: true)
        #expect(!state.removes("a"))
    }

    @Test func `a process that starts behind the tombstone of an older order obeys the renewal and writes it again`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", id: "2")))
        state.write(.lapsed(Self.recall, order: "1"))
        state.start()
        #expect(state.told == [.stands(Order(recall: "a", id: "2"))])
        #expect(state.written.contains(.stands(Order(recall: "a", id: "2"))))
    }

    @Test func `a renewal that compaction has removed is written again when the topic is read again`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", id: "2")))
        state.start()
        state.deleteTopic()
        state.write(.lapsed(Self.recall, order: "1"))
        state.readAll()
        #expect(state.recalled == ["a"])
        #expect(state.written.last == .stands(Order(recall: "a", id: "2")))
    }

    @Test
    func `an event's recall that is read back before its write is answered is written again behind a tombstone`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.take(.recalled(.of("a")))
        guard let order = state.status.standing[Self.recall] else {
            Issue.record("the event does not recall")
            return
        }
        state.write(.stands(order))
        state.write(.lapsed(Self.recall, order: "1"))
        state.read()
        #expect(state.written.count { $0 == .stands(order) } == 2)
        #expect(state.recalled == ["a"] && state.settled == [])
        state.answerWrites()
        #expect(state.settled == ["a"])
    }

    @Test func `a lapse ends the order for a process whose clock is behind, and needs no confirmation`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(900))))
        state.start()
        state.write(.lapsed(Self.recall, order: "1"))
        state.read()
        state.take(.applied(AppliedOrder(order: Self.recall.key), shard: ShardID(0)))
        #expect(state.told.last == .lifted(Self.recall))
        #expect(state.recalled == [] && state.audited == [])
    }

    @Test func `an order that has lapsed before the end of the topic is never reported`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.write(.lapsed(Self.recall, order: "1"))
        state.start()
        #expect(state.told == [])
    }

    @Test func `a lapse is no lift, so an earlier event that is read later recalls its story`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", until: state.now.wall + .seconds(10))))
        state.start()
        state.pass(.seconds(60), echoes: true)
        state.write(.lapsed(Self.recall, order: "1"))
        state.read()
        state.take(.recalled(.of("a", at: state.now.wall - .seconds(40))))
        #expect(state.recalled == ["a"])
        #expect(state.written.last?.key == "recall/story/a")
    }

    @Test func `a tombstone of an older version, which names no order, lifts whatever is in force`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a", id: "2")))
        state.start()
        state.write(.lifted(Self.recall))
        state.read()
        #expect(state.recalled == [])
    }

    @Test func `a command sees a renewal in force although the tombstone of the lapsed order follows it`() {
        var view = ControlView()
        var offset: Int64 = 0
        func apply(_ record: ControlRecord) {
            let produced = record.record(on: "control")
            view.apply(
                SourceRecord(offset: offset, key: produced.key, value: produced.value, headers: produced.headers))
            offset += 1
        }
        apply(.stands(Order(recall: "a")))
        apply(.stands(Order(recall: "a", id: "2")))
        apply(.lapsed(Self.recall, order: "1"))
        #expect(view.orders[Self.recall]?.id == "2")
        apply(.lapsed(Self.recall, order: "2"))
        #expect(view.orders[Self.recall] == nil)
    }
}

extension TestControlState {
    /// Returns true if the process has written a tombstone for an order that recalls the story.
    fileprivate func removes(_ story: String) -> Bool {
        written.contains { $0.key == "recall/story/\(story)" && $0.value == nil }
    }
}
