import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The conditions under which a process knows the orders in force.
@Suite struct ControlStateTests {
    // MARK: Known orders

    @Test func `orders are known once the topic was read and our own beat was read back`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.take(.began(reading: state.reading, start: 0))
        #expect(state.beats == 1)
        state.read()
        state.take(.reachedEnd)
        #expect(!state.isKnown)
        state.writeBeat()
        state.read()
        #expect(state.isKnown)
        #expect(state.told == [.stands(Order(recall: "a"))])
    }

    @Test func `a beat that timed out is written again, and nothing is sent before it is read back`() {
        var state = TestControlState()
        state.readAll()
        state.answerWrites(KafkaFailure(code: "_MSG_TIMED_OUT", isRetriable: true, detail: "away"))
        #expect(!state.isKnown)
        state.pass(.seconds(10))
        #expect(!state.isKnown && state.beats == 2)
        state.writeBeat()
        state.read()
        #expect(state.isKnown)
    }

    @Test func `nothing is sent while an order of an unknown kind is on the topic, because it may be a stop`() {
        var state = TestControlState()
        state.write("stop/region/eu", #"{"do":"stop"}"#)
        state.readAll()
        state.writeBeat()
        state.read()
        #expect(!state.isKnown)
        #expect(state.status.alarms == [.unknownOrders(["stop/region/eu"])])
        state.write("stop/region/eu", nil)
        state.read()
        #expect(state.isKnown)
        #expect(state.status.alarms.isEmpty)
        state.write("hold/story/a", #"{"do":"hold"}"#)
        state.read()
        #expect(!state.isKnown)
    }

    @Test func `a process without write permission continues without its beat`() {
        var state = TestControlState()
        state.readAll()
        state.answerWrites(TestControlState.failure)
        #expect(state.isKnown)
    }

    @Test(arguments: ControlState.OnStale.allCases)
    func `a beat that is never read back is waited for until staleAfter`(policy: ControlState.OnStale) {
        var state = TestControlState(onStale: policy)
        state.readAll()
        state.pass(.seconds(59))
        #expect(!state.isKnown)
        state.pass(.seconds(2))
        #expect(state.isKnown == (policy == .continue))
    }

    @Test func `an order given before our beat is in force before anything is sent`() {
        var state = TestControlState()
        state.take(.began(reading: state.reading, start: 0))
        state.take(.reachedEnd)
        state.write(.stands(Order(stop: .hub)))
        state.writeBeat()
        state.read()
        #expect(state.log == ["tell", "known"])
    }

    @Test func `an order lifted before the end of the topic is never reported`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.write(.lifted(.recall(story: "a")))
        state.start()
        #expect(state.told == [])
    }

    @Test func `a topic that cannot be read at the start blocks all sending`() {
        var state = TestControlState()
        state.take(.unreadable(TestControlState.failure))
        state.pass(.seconds(600))
        #expect(!state.isKnown)
        #expect(state.status.alarms == [.unreadable(TestControlState.failure)])
        state.answerWrites()
        state.start()
        #expect(state.isKnown)
        #expect(state.status.alarms == [])
    }

    @Test func `a process without write permission knows the orders present at the start`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.take(.began(reading: state.reading, start: 0))
        state.read()
        state.take(.reachedEnd)
        state.answerWrites(TestControlState.failure)
        #expect(state.isKnown)
        #expect(state.status.alarms == [.notWritten(TestControlState.failure)])
    }

    // MARK: Standstills

    @Test func `after a standstill a shard is answered once the topic was read to its present end`() {
        var state = TestControlState()
        state.start()
        state.write(.stands(Order(stop: .hub)))
        state.take(.confirm(7, shard: ShardID(0)))
        #expect(state.rereads == 1)
        state.readAll(reading: 0)
        #expect(state.confirmed == [], "a reading from before may end at an old end")
        state.readAll()
        #expect(state.confirmed == [7])
        #expect(state.told.contains(.stands(Order(stop: .hub))))
    }

    @Test func `after a standstill without a topic no further orders are expected`() {
        var state = TestControlState()
        state.take(.missing)
        state.take(.confirm(1, shard: ShardID(0)))
        #expect(state.confirmed == [1])
    }

    // MARK: Missing topics

    @Test func `without a topic sending continues, and a topic created later is followed`() {
        var state = TestControlState()
        state.take(.missing)
        #expect(state.isKnown)
        #expect(state.status.alarms == [])
        state.write(.stands(Order(stop: .hub)))
        state.start()
        #expect(state.isKnown)
        #expect(state.told == [.stands(Order(stop: .hub))])
    }

    @Test func `with onStale stop, nothing is sent until a topic that was missing at the start is read`() {
        var state = TestControlState(onStale: .stop)
        state.take(.missing)
        state.pass(.seconds(600))
        #expect(!state.isKnown)
        #expect(state.status.alarms == [.neverThere])
        // A recall by an event waits for the topic instead of being reported as done.
        #expect(state.status.keepsRecalls)
        state.take(.recalled(.of("a")))
        #expect(state.settled == [])
        state.write(.stands(Order(stop: .category("Sports"))))
        state.start()
        #expect(state.log == ["tell", "tell", "known"] && state.isKnown)
        #expect(state.told.first == .stands(Order(stop: .category("Sports"))))
        state.answerWrites()
        #expect(state.settled == ["a"])
        #expect(state.status.alarms == [])
    }

    @Test func `with onStale stop, a deleted topic stops sending like a silent one`() {
        var state = TestControlState(onStale: .stop)
        state.start()
        state.take(.missing)
        #expect(state.isKnown && state.status.alarms == [.gone])
        state.pass(.seconds(61))
        #expect(!state.isKnown)
        #expect(state.status.alarms == [.gone, .stale(.seconds(61), stops: true)])
    }

    @Test func `an audit topic that is hidden, missing or was deleted raises an alarm`() {
        var state = TestControlState()
        state.take(.audit(.missing))
        #expect(state.status.alarms == [], "without a control topic, there are no orders to record")
        state.start()
        #expect(state.status.alarms == [.auditGone])
        state.take(.audit(.refused(TestControlState.failure)))
        #expect(state.status.alarms == [.notAudited(TestControlState.failure)])
        state.take(.audit(.there))
        #expect(state.status.alarms == [])
        state.take(.audit(.missing))
        #expect(state.status.alarms == [.auditGone])
        state.write(.stands(Order(recall: "a")))
        state.read()
        state.take(.applied(AppliedOrder(order: "1"), shard: ShardID(0)))
        #expect(state.audited.map(\.action) == [.start] && state.recalled == ["a"])
    }

    @Test func `a process writes its start to the audit topic, once while the topic takes its records`() throws {
        var state = TestControlState()
        state.start()
        #expect(state.audited == [], "the topic was not found yet")
        state.take(.audit(.there))
        let line = try #require(state.audited.first)
        #expect((line.scope, line.action, line.replica) == ("process/us", .start, "us"))
        #expect(try AuditEntry(decoding: line.encode()) == line)
        state.answerWrites()
        state.take(.audit(.there))
        state.pass(.seconds(100), echoes: true)
        #expect(state.audited.count == 1 && state.status.alarms == [])
        state.take(.audit(.missing))
        state.take(.audit(.there))
        #expect(state.audited.count == 2, "a topic made again may refuse records")
    }

    @Test
    func `an audit topic that refuses records is noticed before the first order, and orders are obeyed all the same`() {
        var state = TestControlState()
        state.start()
        state.take(.audit(.there))
        state.answerWrites(TestControlState.failure)
        #expect(state.status.alarms.contains(.notAudited(TestControlState.failure)))
        #expect(state.status.counts.unaudited == 0, "no line about an order is missing")
        state.write(.stands(Order(stop: .hub)))
        state.read()
        #expect(state.told.count == 1 && state.isKnown)
        let lines = state.audited.count
        state.pass(.seconds(29))
        #expect(state.audited.count == lines)
        state.pass(.seconds(2))
        #expect(state.audited.count == lines + 1)
        state.answerWrites()
        #expect(state.status.alarms == [])
    }

    @Test func `a process that only reads orders writes nothing to the audit topic`() {
        var state = TestControlState(replica: nil)
        state.start()
        state.take(.audit(.there))
        #expect(state.audited == [])
    }

    // MARK: Open transactions

    @Test func `nothing is sent while an open transaction hides records present at the start`() {
        var state = TestControlState()
        state.take(.began(reading: state.reading, start: 0))
        state.take(.heldUp(true))
        state.pass(.seconds(20))
        #expect(!state.isKnown)
        #expect(state.status.alarms == [.heldUp(.seconds(20), stops: true)])
        state.take(.heldUp(false))
        state.write(.stands(Order(recall: "a")))
        state.writeBeat()
        state.read()
        state.take(.reachedEnd)
        #expect(state.isKnown && state.recalled == ["a"] && state.status.alarms == [])
    }

    @Test func `a beat behind an open transaction is waited for because orders may precede it`() {
        var state = TestControlState()
        state.take(.began(reading: state.reading, start: 0))
        state.take(.reachedEnd)
        state.take(.heldUp(true))
        state.pass(.seconds(70))
        #expect(!state.isKnown)
        state.take(.heldUp(false))
        state.writeBeat()
        state.read()
        #expect(!state.isKnown, "it is so old that no order behind it has waited for us")
        state.answerWrites()
        state.pass(.seconds(1), echoes: true)
        #expect(state.isKnown)
    }

    @Test func `a transaction that stays open later raises an alarm, and known orders stay in force`() {
        var state = TestControlState()
        state.start()
        state.take(.heldUp(true))
        state.pass(.seconds(4))
        #expect(state.status.alarms == [])
        state.pass(.seconds(2))
        #expect(state.isKnown)
        #expect(state.status.alarms == [.heldUp(.seconds(6), stops: false)])
        state.take(.heldUp(false))
        #expect(state.status.alarms == [])
    }

    // MARK: Staleness

    @Test(arguments: ControlState.OnStale.allCases)
    func `a silent topic raises an alarm, and stops sending if configured`(policy: ControlState.OnStale) {
        var state = TestControlState(onStale: policy)
        state.start()
        state.pass(.seconds(59))
        #expect(state.isKnown && state.status.alarms == [])
        #expect(state.rereads > 0)
        state.pass(.seconds(2))
        #expect(state.isKnown == (policy == .continue))
        #expect(state.status.alarms == [.stale(.seconds(61), stops: policy == .stop)])
        state.answerWrites()
        state.pass(.seconds(1), echoes: true)
        #expect(state.isKnown && state.status.alarms == [])
    }

    @Test
    func `with onStale stop, nothing is sent after a silence until a recent beat is read back`() {
        var state = TestControlState(onStale: .stop)
        state.start()
        state.answerWrites()
        state.pass(.seconds(9), echoes: true)
        state.pass(.seconds(61))
        #expect(!state.isKnown)
        // Written before the silence. Senders of orders given behind it since then did not wait for us.
        state.writeBeat()
        state.read()
        #expect(!state.isKnown)
        state.write(.stands(Order(stop: .hub)))
        state.answerWrites()
        state.pass(.seconds(1), echoes: true)
        #expect(state.isKnown && state.status.standing[.stop(.hub)] != nil)
        #expect(state.log.suffix(2) == ["tell", "known"])
    }

    @Test func `an order found when the topic is read again is answered whatever its clock says`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.take(.unreadable(TestControlState.failure))
        state.write(.stands(Order(recall: "a")))
        state.compact()
        state.readAll()
        state.take(.applied(AppliedOrder(order: "1"), shard: ShardID(0)))
        #expect(state.audited.map(\.order) == ["1"])
    }

    @Test func `the last orders stay in force while the topic cannot be read`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        state.take(.unreadable(TestControlState.failure))
        state.pass(.seconds(5))
        #expect(state.recalled.contains("a") == true)
        #expect(state.isKnown && state.status.alarms == [])
    }
}
