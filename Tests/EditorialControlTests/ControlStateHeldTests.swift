import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The content of the held topic, as the control topic remembers it.
struct ControlStateHeldTests {
    @Test func `the former content of the held topic is reported only after the first reading`() {
        let totals = (1...3).map { HeldTotals(count: $0, last: HeldMark(HeldPlace(0, Int64($0)), identity: 5)) }
        var state = TestControlState()
        state.write(.heldTotals(totals[0]))
        state.write(.heldTotals(totals[1]))
        state.take(.began(reading: state.reading, start: 0))
        state.read()
        #expect(state.formerlyHeld.isEmpty)
        state.start()
        #expect(state.formerlyHeld.map { $0?.count } == [totals[1].count])
        state.write(.heldTotals(totals[2]))
        state.readAll()
        #expect(state.formerlyHeld.count == 1)
    }

    @Test
    func `the content of another group's held topic does not count, and a record without a topic only before ours`() {
        let totals = (0...3).map { HeldTotals(count: $0, last: nil) }
        for (records, expected) in [
            ([(1, "sport.held")], nil), ([(1, nil), (2, "sport.held")], 1),
            ([(1, nil), (2, "news.held"), (3, nil)], 2),
        ] as [([(Int, String?)], Int?)] {
            var state = TestControlState()
            for (count, topic) in records { state.write(.heldTotals(totals[count], topic: topic)) }
            state.start()
            #expect(state.formerlyHeld.map { $0?.count } == [expected])
        }
    }

    @Test func `without a control topic, the former content of the held topic is unknown`() {
        var state = TestControlState()
        state.take(.unreadable(TestControlState.failure))
        #expect(state.formerlyHeld.isEmpty)
        state.take(.missing)
        #expect(state.formerlyHeld == [nil])
    }

    @Test func `the content of the held topic is written again if its record has left the control topic`() {
        var state = TestControlState()
        state.start()
        let totals = HeldTotals(count: 1, last: nil)
        state.take(.held(totals))
        state.pass(.seconds(1))
        state.write(.heldTotals(totals, topic: "news.held"))
        state.readAll()
        state.pass(.seconds(20))
        #expect(state.written.count { $0 == .heldTotals(totals, topic: "news.held") } == 1)
        state.deleteTopic()
        state.readAll()
        state.pass(.seconds(20))
        #expect(state.written.count { $0 == .heldTotals(totals, topic: "news.held") } > 1)
    }

    @Test func `the content of the held topic is written once for each change, and at most every ten seconds`() {
        var state = TestControlState()
        state.start()
        var written: [HeldTotals] {
            state.written.compactMap { if case .heldTotals(let totals, _) = $0 { totals } else { nil } }
        }
        let totals = (1...3).map { HeldTotals(count: $0, last: nil) }
        state.take(.held(totals[0]))
        state.take(.held(totals[1]))
        state.pass(.seconds(1))
        #expect(written == [totals[1]])
        state.write(.heldTotals(totals[1], topic: "news.held"))
        state.read()
        state.pass(.seconds(20))
        #expect(written == [totals[1]])
        state.take(.held(totals[2]))
        state.pass(.seconds(1))
        state.take(.held(totals[0]))
        state.pass(.seconds(9))
        #expect(written == [totals[1], totals[2]])
        state.take(.held(nil))
        state.pass(.seconds(20))
        #expect(written == [totals[1], totals[2]], "while it is unknown, nothing is written")
    }
}
