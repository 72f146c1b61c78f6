import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// Events that recall a story shortly before the recall in force lapses.
@Suite struct ControlStateExtensionTests {
    private static let recall = ControlScope.recall(story: "a")

    /// The editor's recall, which lapses soon.
    private static let known = Order(
        id: "1", scope: recall, at: Instant(milliseconds: 1_795_000_000_000), by: "editor", reason: "wrong name",
        until: Instant(milliseconds: 1_795_428_100_000), replacement: "Corrected")

    /// The same recall, which lasts as long as that of an event read at the start of the test.
    private static var extended: Order {
        var order = known
        order.until = Instant(milliseconds: 1_795_428_000_000) + Order.recallLasts
        return order
    }

    /// A process that follows a topic with these records.
    private func following(_ records: ControlRecord...) -> TestControlState {
        var state = TestControlState()
        for record in records { state.write(record) }
        state.start()
        state.answerWrites()
        return state
    }

    @Test func `an event's recall of a recalled story puts off the end on the topic, and is settled when stored`() {
        var state = following(.stands(Self.known))
        state.take(.recalled(.of("a")))
        #expect(state.written.last == .stands(Self.extended))
        #expect(state.told.last == .stands(Self.extended))
        #expect(state.audited.last?.order == "1" && state.audited.last?.by == "event e-a")
        #expect(state.settled == [])
        state.answerWrites()
        #expect(state.settled == ["a"])
    }

    @Test func `a process that starts after an end was put off obeys the recall beyond its former end`() {
        var state = following(.stands(Self.known))
        state.take(.recalled(.of("a")))
        var restarted = TestControlState()
        restarted.write(.stands(Self.known))
        for record in state.written where record.key == Self.recall.key { restarted.write(record) }
        restarted.start()
        restarted.pass(.seconds(200), echoes: true)
        #expect(restarted.recalled == ["a"])
    }

    @Test func `an event's recall that cannot be stored is not settled and is written again`() {
        var state = following(.stands(Self.known))
        state.take(.recalled(.of("a")))
        state.answerWrites(TestControlState.failure)
        state.pass(.seconds(6))
        #expect(state.settled == [])
        #expect(state.written.count { $0 == .stands(Self.extended) } == 2)
        state.pass(.seconds(200), echoes: true)
        #expect(state.recalled == ["a"] && state.settled == ["a"])
    }

    @Test func `an event that is read again after its recall was stored is settled at once`() {
        var state = following(.stands(Self.known), .stands(Self.extended))
        state.pass(.seconds(60), echoes: true)
        state.take(.recalled(.of("a")))
        #expect(state.settled == ["a"])
        #expect(!state.written.contains { $0.key == Self.recall.key })
    }

    @Test func `an event older than the lift before the recall in force does not put off its end`() {
        var state = following(.lifted(Self.recall), .stands(Self.known))
        state.take(.recalled(.of("a", at: state.now.wall - .seconds(60))))
        #expect(state.settled == ["a"])
        #expect(!state.written.contains { $0.key == Self.recall.key })
    }

    // MARK: Lifts

    @Test func `a lift that is read before the later end is stored ends the recall and settles the event`() {
        var state = following(.stands(Self.known))
        state.take(.recalled(.of("a")))
        state.answerWrites(TestControlState.failure)
        state.pass(.seconds(40))
        state.answerWrites(TestControlState.failure)
        state.write(.lifted(Self.recall))
        state.read()
        #expect(state.recalled == [] && state.settled == ["a"])
        let writes = state.written.count
        state.pass(.seconds(60))
        #expect(!state.written[writes...].contains { $0.key == Self.recall.key })
    }

    @Test func `an event's recall that survives a lift in flight is settled only when its own order is stored`() {
        var state = following(.stands(Self.known))
        state.take(.recalled(.of("a")))
        state.answerWrites(TestControlState.failure)
        state.write(.lifted(Self.recall))
        state.read()
        #expect(state.recalled == ["a"] && state.settled == [])
        state.answerWrites()
        #expect(state.settled == ["a"])
    }

    @Test func `a later end that is stored behind a lift is in force until the next lift`() {
        var state = following(.stands(Self.known))
        state.take(.recalled(.of("a")))
        state.pass(.seconds(40))
        state.write(.lifted(Self.recall))
        state.write(.stands(Self.extended))
        state.read()
        state.answerWrites()
        #expect(state.recalled == ["a"])
        let writes = state.written.count
        state.write(.lifted(Self.recall))
        state.read()
        state.pass(.seconds(60), echoes: true)
        #expect(state.recalled == [] && state.settled == ["a"])
        #expect(!state.written[writes...].contains { $0.key == Self.recall.key })
    }

    // MARK: Records of the former end

    /// Another process removes the order, or writes it again, before it has read the later end.
    static let former: [ControlRecord] = [.lapsed(recall, order: "1", until: known.until), .stands(known)]

    @Test(arguments: former, [false, true])
    func `a record of the former end does not end a recall, which is written again`(
        record: ControlRecord, isPast: Bool
    ) {
        var state = following(.stands(Self.known), .stands(Self.extended))
        if isPast { state.pass(.seconds(200), echoes: true) }
        state.write(record)
        state.read()
        #expect(state.recalled == ["a"] && state.status.standing[Self.recall] == Self.extended)
        #expect(state.written.last == .stands(Self.extended))
    }

    @Test(arguments: former, [false, true])
    func `a process that starts behind a record of the former end obeys the recall and writes it again`(
        record: ControlRecord, isPast: Bool
    ) {
        var state = TestControlState()
        if isPast { state.now.wall = state.now.wall + .seconds(200) }
        for record in [.stands(Self.known), .stands(Self.extended), record] { state.write(record) }
        state.start()
        #expect(state.status.standing[Self.recall] == Self.extended)
        #expect(state.written.contains(.stands(Self.extended)))
    }

    @Test(arguments: former, [false, true])
    func `a recall whose later end compaction has removed is written again when the topic is read again`(
        record: ControlRecord, isPast: Bool
    ) {
        var state = following(.stands(Self.known), .stands(Self.extended))
        if isPast { state.pass(.seconds(200), echoes: true) }
        state.deleteTopic()
        state.write(record)
        state.readAll()
        #expect(state.status.standing[Self.recall] == Self.extended)
        #expect(state.written.last == .stands(Self.extended))
    }

    @Test func `the tombstone of the later end ends the recall`() {
        var state = following(.stands(Self.extended))
        state.write(.lapsed(Self.recall, order: "1", until: Self.extended.until))
        state.read()
        #expect(state.recalled == [])
    }

    @Test func `an end that another process has put off a little less counts as ours`() {
        var state = following(.stands(Self.extended))
        var other = Self.extended
        other.until = other.until.map { $0 - .seconds(1) }
        state.write(.stands(other))
        state.read()
        #expect(state.status.standing[Self.recall] == other)
        #expect(!state.written.contains { $0.key == Self.recall.key })
    }

    @Test func `a command sees the later end although the tombstone of the former end follows it`() {
        var view = ControlView()
        let records: [ControlRecord] = [.stands(Self.known), .stands(Self.extended), Self.former[0]]
        for (offset, record) in records.enumerated() {
            let produced = record.record(on: "control")
            view.apply(
                SourceRecord(
                    offset: Int64(offset), key: produced.key, value: produced.value, headers: produced.headers))
        }
        #expect(view.orders[Self.recall] == Self.extended)
    }

    @Test func `the tombstone of a former end does not hide the order that an instruction replaces`() {
        var answers = OrderAnswers(
            to: Instruction(id: "2", scope: Self.recall, at: .distantPast, by: "editor"), inPlaceOf: Self.extended)
        answers.apply(Self.former[0], LifeSigns(capacity: 10))
        #expect(answers.former == Self.extended)
    }
}
