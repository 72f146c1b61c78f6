import EditorialControl
import NewsModel
import Testing

/// Invalid records, compaction of the control topic, and the number of orders that a process keeps.
@Suite struct ControlStateTopicTests {
    // MARK: Invalid records

    @Test func `a recall whose record was replaced by an invalid one is written again`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        state.write("recall/story/a", "no order")
        state.read()
        #expect(state.written.contains(.stands(Order(recall: "a"))))
        #expect(state.recalled == ["a"])
        let line = state.audited.last
        #expect(line?.order == "1" && line?.replica == "us" && line?.by == nil && line?.applied == nil)
    }

    @Test func `an invalid record behind a recall is noticed at the start too`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.write("recall/story/a", "{}")
        state.start()
        #expect(state.written.contains(.stands(Order(recall: "a"))))
    }

    @Test func `an invalid record raises an alarm as long as it is on the topic`() {
        var state = TestControlState()
        state.write("hold/story/a", "{}")
        state.write("recall/story/b", "no order")
        state.start()
        #expect(state.status.alarms == [.garbage(2)])
        state.write("recall/story/c", "{}")
        state.write("stop/hub", "")
        state.read()
        #expect(state.status.alarms == [.garbage(4)])
        state.write(.stands(Order(recall: "b")))
        state.write("hold/story/a", nil)
        state.write(.lifted(.stop(.hub)))
        state.read()
        #expect(state.status.alarms == [.garbage(1)], "a newer record, or a tombstone, takes its place")
        state.take(.unreadable(TestControlState.failure))
        state.write(.lifted(.recall(story: "c")))
        state.compact()
        state.readAll()
        #expect(state.status.alarms == [])
        #expect(state.status.counts.unreadable == 4, "the count continues")
    }

    @Test func `invalid records are counted and change nothing`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        let told = state.told
        for number in 0..<100 {
            state.take(.records([SourceRecord(offset: Int64(number), key: [UInt8(number)], value: [0xFF])]))
        }
        #expect(state.told == told)
        #expect(state.status.counts.unreadable == 100)
        #expect(state.notes < 20)
        #expect(state.isKnown)
    }

    // MARK: Deletion and compaction

    @Test func `orders of a deleted topic stay in force and are written to the new one`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.write(.stands(Order(stop: .hub)))
        state.start()
        state.take(.missing)
        #expect(state.status.alarms == [.gone])
        state.deleteTopic()
        state.write(.lifted(.stop(.hub)))
        state.take(.began(reading: state.reading, start: 0))
        state.read()
        state.take(.reachedEnd)
        #expect(state.written.suffix(1) == [.stands(Order(recall: "a"))])
        #expect(state.recalled.contains("a") == true)
        #expect(state.status.standing[.stop(.hub)] == nil)
    }

    /// Compaction or an administrator may remove the earlier order's record and leave its end.
    @Test func `an order survives a new reading in which the end of an earlier one comes first`() {
        var state = TestControlState()
        state.start()
        state.write(.lifted(.stop(.hub)))
        state.write(.stands(Order(stop: .hub, id: "2", at: state.now.wall)))
        state.read()
        state.readAll()
        state.write(.stands(Order(stop: .hub, id: "2", at: state.now.wall)))
        state.read()
        state.pass(.seconds(180))
        #expect(state.status.standing[.stop(.hub)]?.id == "2")
        #expect(!state.told.contains(.lifted(.stop(.hub))) && !state.written.contains(.lifted(.stop(.hub))))
    }

    @Test func `an order that was read back before its write was answered can be ended`() {
        var state = TestControlState()
        let order = Order(stop: .hub, at: state.now.wall + .seconds(60))
        state.write(.stands(order))
        state.start()
        state.deleteTopic()
        state.readAll()
        state.write(.stands(order))
        state.read()
        state.answerWrites()
        state.write(.lifted(.stop(.hub)))
        state.read()
        #expect(state.status.standing.isEmpty)
    }

    @Test func `a compacted topic means the same as before`() {
        var whole = TestControlState()
        let records: [ControlRecord] = [
            .stands(Order(recall: "a")), .stands(Order(stop: .hub)), .lifted(.recall(story: "a")),
            .stands(Order(stop: .hub, id: "2")), .stands(Order(recall: "b")),
        ]
        for record in records { whole.write(record) }
        var compacted = TestControlState()
        for record in records[2...] { compacted.write(record) }
        whole.start()
        compacted.start()
        #expect(whole.status.standing == compacted.status.standing)
        #expect(whole.status.standing.count == 2)
    }

    @Test func `an order lifted during an interruption is lifted after the topic is read again`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        state.take(.unreadable(TestControlState.failure))
        state.write(.lifted(.recall(story: "a")))
        state.write(.stands(Order(recall: "b")))
        state.readAll()
        #expect(state.told.suffix(2) == [.lifted(.recall(story: "a")), .stands(Order(recall: "b"))])
    }

    // MARK: Orders that the topic has lost

    /// A beat of another process. It has read the topic up to the record before the beat.
    private func beat(_ orders: Int, after time: Duration, _ state: TestControlState) -> ControlRecord {
        .beat(
            ControlRecord.Beat(
                replica: "other", at: state.now.wall, logTime: .seconds(500) + time, appliedTo: state.end - 1,
                orders: orders))
    }

    /// The topic has lost the orders and their ends while this process stood still.
    @Test(arguments: [(true, 1), (true, 0), (false, 0)])
    func `an order is not written again if a process that had read it obeys it no more`(hadRead: Bool, obeyed: Int) {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        if hadRead { state.write(beat(1, after: .zero, state)) }
        state.read()
        state.now.steady = state.now.steady + .seconds(60)
        state.now.wall = state.now.wall + .seconds(60)
        state.deleteTopic()
        state.write(.ended(replica: "third"))
        state.write(beat(obeyed, after: .seconds(60), state))
        state.readAll()
        let hasEnded = hadRead && obeyed == 0
        #expect(state.recalled == (hasEnded ? [] : ["a"]))
        #expect(state.written.contains(.stands(Order(recall: "a"))) == !hasEnded)
    }

    @Test func `an order that another process does not obey is written again if this one has read all along`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        state.write(beat(1, after: .zero, state))
        state.read()
        state.deleteTopic()
        state.write(.ended(replica: "third"))
        state.write(beat(0, after: .seconds(60), state))
        state.readAll()
        #expect(state.recalled == ["a"] && state.written.contains(.stands(Order(recall: "a"))))
    }

    @Test func `a process waits for an order that another one obeys and that the topic has lost`() {
        var state = TestControlState()
        state.write(beat(1, after: .zero, state))
        state.start()
        #expect(!state.isKnown && state.status.alarms == [.ordersMissing])
        state.write(.stands(Order(stop: .hub)))
        state.write(beat(1, after: .seconds(10), state))
        state.read()
        state.pass(.seconds(10), echoes: true)
        #expect(state.isKnown && state.status.alarms.isEmpty)
        #expect(state.log.suffix(2) == ["tell", "known"])
    }

    @Test func `a process waits a minute for an order that another one obeys, and sends after that`() {
        var state = TestControlState()
        state.write(beat(1, after: .zero, state))
        state.start()
        for second in 1...59 {
            state.pass(.seconds(1), echoes: true)
            if second.isMultiple(of: 10) { state.write(beat(1, after: .seconds(second), state)) }
            state.read()
        }
        let notes = state.notes
        #expect(!state.isKnown)
        state.pass(.seconds(1), echoes: true)
        #expect(state.isKnown && state.notes == notes + 1)
    }

    @Test func `a process does not wait for one that was killed while it obeyed more orders`() {
        var state = TestControlState()
        state.write(beat(1, after: .zero, state))
        state.start()
        #expect(!state.isKnown)
        let notes = state.notes
        state.pass(.seconds(40), echoes: true)
        #expect(state.isKnown && state.notes == notes + 1)
    }

    @Test(arguments: [false, true])
    func `a process says that an order is lost if the one that obeyed it ends`(isWrittenAgain: Bool) {
        var state = TestControlState()
        state.write(beat(1, after: .zero, state))
        state.start()
        #expect(!state.isKnown)
        let notes = state.notes
        if isWrittenAgain { state.write(.stands(Order(recall: "a"))) }
        state.write(.ended(replica: "other"))
        state.read()
        #expect(state.isKnown && state.notes == notes + (isWrittenAgain ? 0 : 1))
    }

    @Test(arguments: [false, true])
    func `on a topic whose records were removed, a process waits to hear the others`(areHeard: Bool) {
        var state = TestControlState()
        state.start(at: 9)
        for second in 1...59 {
            if areHeard, [5, 15, 25].contains(second) { state.write(beat(0, after: .seconds(second), state)) }
            state.pass(.seconds(1), echoes: true)
            #expect(state.isKnown == (areHeard && second >= 25))
        }
        state.pass(.seconds(1), echoes: true)
        #expect(state.isKnown)
    }

    @Test func `a topic whose records were removed long ago delays no process`() {
        var state = TestControlState()
        for second in [0, 10, 20] { state.write(beat(0, after: .seconds(second), state)) }
        state.start(at: 9)
        #expect(state.isKnown)
    }

    /// A process that began on the emptied topic counts from zero. One that ran before has another time, and its beat does not say
    /// how many orders it obeys if it has not applied the last change.
    @Test(arguments: [false, true])
    func `the later time of an older process does not end the wait for the others`(isReadAtStart: Bool) {
        var state = TestControlState()
        state.write(.beat(.init(replica: "new", at: state.now.wall, logTime: .seconds(1), appliedTo: -1, orders: 0)))
        state.write(.lifted(.stop(.hub)))
        if !isReadAtStart { state.start(at: 9) }
        state.write(.beat(.init(replica: "old", at: state.now.wall, logTime: .seconds(500), appliedTo: 0, orders: 1)))
        if isReadAtStart { state.start(at: 9) } else { state.read() }
        #expect(!state.isKnown)
        state.write(.stands(Order(recall: "a")))
        for second in [10, 20] { state.write(beat(1, after: .seconds(second), state)) }
        state.read()
        #expect(state.isKnown && state.recalled.contains("a"))
    }

    // MARK: Bounds

    @Test func `recalls beyond the capacity are refused, but the hub can be stopped`() {
        var state = TestControlState()
        for number in 0...StandingOrders.capacity { state.write(.stands(Order(recall: "\(number)"))) }
        state.write(.stands(Order(stop: .hub)))
        state.start()
        #expect(state.status.standing.count == StandingOrders.capacity + 1)
        #expect(state.status.standing[.stop(.hub)] != nil)
        #expect(state.status.alarms == [.refused(1)])
    }

    @Test func `recalls by events from many processes leave room for editors`() {
        var state = TestControlState()
        let all = StandingOrders.capacity + 500
        for number in 0..<all { state.write(.stands(Order(recall: "\(number)", id: "event news/0/\(number)"))) }
        state.start()
        #expect(state.status.standing.count == 9_000)
        #expect(state.status.counts.unordered == 1_500)
        #expect(state.status.alarms == [.unordered(1_500)])
        state.pass(.seconds(601), echoes: true)
        #expect(state.status.alarms == [], "an archive is no reason to be not ready for a week")
        for number in 0..<1_000 { state.write(.stands(Order(recall: "editor \(number)"))) }
        state.read()
        #expect(state.status.standing.count == StandingOrders.capacity)
        #expect(state.status.alarms == [])
    }

    @Test func `a refused order takes effect when there is room again`() {
        var state = TestControlState()
        for number in 0...StandingOrders.capacity { state.write(.stands(Order(recall: "\(number)"))) }
        state.start()
        state.write(.lifted(.recall(story: "0")))
        state.read()
        #expect(state.told.last == .stands(Order(recall: "\(StandingOrders.capacity)")))
        #expect(state.status.alarms == [])
    }

    @Test func `the hub can be stopped whatever the number of other stops`() {
        var orders = StandingOrders()
        for number in 0...StandingOrders.stopCapacity { orders.apply(.stands(Order(stop: .feed("\(number)")))) }
        #expect(orders.count == StandingOrders.stopCapacity)
        #expect(orders.apply(.stands(Order(stop: .hub))) && orders.stopped.contains(.hub))
    }

    @Test func `orders far beyond the capacity are found again on the topic when there is room`() {
        var state = TestControlState()
        let all = StandingOrders.capacity + 2_000
        for number in 0..<all { state.write(.stands(Order(recall: "\(number)"))) }
        state.start()
        for number in 0..<2_500 { state.write(.lifted(.recall(story: "\(number)"))) }
        state.read()
        let before = state.rereads
        state.pass(.seconds(20))
        #expect(state.rereads > before)
        state.compact()
        state.readAll()
        let count = state.status.standing.count
        #expect(count == all - 2_500)
        #expect(state.status.alarms == [])
    }
}
