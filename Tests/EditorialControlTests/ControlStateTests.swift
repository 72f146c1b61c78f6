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
        state.take(.began(reading: state.reading))
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

    // MARK: Garbage

    @Test func `a recall whose record was replaced by an invalid one is written again`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.start()
        state.write("recall/story/a", "no order")
        state.read()
        #expect(state.written.contains(.stands(Order(recall: "a"))))
        #expect(state.recalled == ["a"])
    }

    @Test func `an invalid record behind a recall is noticed at the start too`() {
        var state = TestControlState()
        state.write(.stands(Order(recall: "a")))
        state.write("recall/story/a", "{}")
        state.start()
        #expect(state.written.contains(.stands(Order(recall: "a"))))
    }

    @Test func `an order given before our beat is in force before anything is sent`() {
        var state = TestControlState()
        state.take(.began(reading: state.reading))
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

    @Test func `an audit topic that is hidden or was deleted raises an alarm, one that never existed does not`() {
        var state = TestControlState()
        state.start()
        state.take(.audit(.missing))
        #expect(state.status.alarms == [])
        state.take(.audit(.refused(TestControlState.failure)))
        #expect(state.status.alarms == [.notAudited(TestControlState.failure)])
        state.take(.audit(.there))
        #expect(state.status.alarms == [])
        state.take(.audit(.missing))
        #expect(state.status.alarms == [.auditGone])
        state.write(.stands(Order(recall: "a")))
        state.read()
        state.take(.applied(AppliedOrder(order: "1"), shard: ShardID(0)))
        #expect(state.audited == [] && state.recalled == ["a"])
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
        state.take(.began(reading: state.reading))
        state.read()
        state.take(.reachedEnd)
        state.answerWrites(TestControlState.failure)
        #expect(state.isKnown)
        #expect(state.status.alarms == [.notWritten(TestControlState.failure)])
    }

    // MARK: Open transactions

    @Test func `nothing is sent while an open transaction hides records present at the start`() {
        var state = TestControlState()
        state.take(.began(reading: state.reading))
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
        state.take(.began(reading: state.reading))
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

    @Test func `beats are written every ten seconds, one at a time`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.pass(.seconds(9))
        // The first beat has no time of the log yet, so a second one follows at once.
        #expect(state.beats == 2)
        state.pass(.seconds(60))
        #expect(state.beats == 2)
        state.answerWrites()
        state.pass(.seconds(1))
        #expect(state.beats == 3)
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
        state.take(.began(reading: state.reading))
        state.read()
        state.take(.reachedEnd)
        #expect(state.written.suffix(1) == [.stands(Order(recall: "a"))])
        #expect(state.recalled.contains("a") == true)
        #expect(state.status.standing[.stop(.hub)] == nil)
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

    // MARK: Processes and environment

    @Test(arguments: [Duration.zero, .seconds(7_200), .seconds(-7_200)])
    func `the beat of a killed process is removed after an hour whatever its clock said`(clock: Duration) {
        var state = TestControlState()
        state.write(.beat(.init(replica: "dead", at: state.now.wall + clock)))
        state.start()
        #expect(state.status.processes == 2)
        state.pass(.seconds(3_500), echoes: true)
        #expect(state.status.processes == 1)
        #expect(!state.written.contains(.ended(replica: "dead")))
        state.pass(.seconds(130), echoes: true)
        #expect(state.written.contains(.ended(replica: "dead")))
    }

    @Test func `a process whose clock is hours behind keeps its beat`() {
        var state = TestControlState()
        state.start()
        for number in 0..<10 {
            state.pass(.seconds(10), echoes: true)
            state.write(
                .beat(
                    .init(replica: "behind", at: state.now.wall - .seconds(9_000), logTime: .seconds(10 * number))))
            state.read()
        }
        #expect(state.status.processes == 2)
        #expect(!state.written.contains(.ended(replica: "behind")))
    }

    @Test func `a process that stood still for hours reads the topic before it removes others' beats`() {
        var state = TestControlState()
        state.start()
        state.pass(.seconds(20), echoes: true)
        state.write(.beat(.init(replica: "other", at: state.now.wall, logTime: .seconds(20))))
        state.read()
        state.now.steady = state.now.steady + .seconds(8_000)
        state.write(.beat(.init(replica: "other", at: state.now.wall, logTime: .seconds(8_015))))
        state.take(.tick)
        state.echo()
        state.pass(.seconds(3), echoes: true)
        #expect(!state.written.contains(.ended(replica: "other")))
        #expect(state.status.processes == 2)
    }

    // MARK: The time of the log

    @Test func `a process continues the time of the log from the topic`() {
        var state = TestControlState()
        state.write(.beat(.init(replica: "other", at: state.now.wall, logTime: .seconds(500))))
        state.take(.began(reading: state.reading))
        #expect(state.lastBeat?.logTime == nil)
        state.read()
        state.take(.reachedEnd)
        state.echo()
        state.pass(.seconds(1))
        #expect(state.lastBeat?.logTime == .seconds(501))
        state.echo()
        state.pass(.seconds(10))
        #expect(state.lastBeat?.logTime == .seconds(511))
        // Setting the clock changes nothing.
        state.echo()
        state.now.wall = state.now.wall - .seconds(3_600)
        state.write(.beat(.init(replica: "other", at: state.now.wall, logTime: .seconds(505))))
        state.pass(.seconds(10), echoes: true)
        #expect(state.lastBeat?.logTime == .seconds(521))
    }

    @Test func `the time of the log begins with zero on a topic without one`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.pass(.seconds(2))
        #expect(state.lastBeat?.logTime == .seconds(1))
    }

    // MARK: Applied offsets

    @Test func `a beat reports the offset up to which every shard obeys the orders`() {
        var state = TestControlState(shards: 2)
        state.write(.stands(Order(stop: .hub, id: "early")))
        state.take(.began(reading: state.reading))
        #expect(state.lastBeat?.appliedTo == nil)
        state.read()
        state.take(.reachedEnd)
        state.echo()
        for shard in 0..<2 { state.take(.applied(AppliedOrder(order: "early"), shard: ShardID(shard))) }
        state.pass(.seconds(10), echoes: true)
        let before = state.lastBeat?.appliedTo
        state.write(.stands(Order(recall: "a", id: "late")))
        state.read()
        state.take(.applied(AppliedOrder(order: "late"), shard: ShardID(0)))
        state.pass(.seconds(20), echoes: true)
        let waiting = state.lastBeat?.appliedTo
        state.take(.applied(AppliedOrder(order: "late"), shard: ShardID(1)))
        state.pass(.seconds(10), echoes: true)
        let after = state.lastBeat?.appliedTo
        // The order has offset 3, behind the other order and two beats.
        #expect(before == 1 && waiting == 2)
        #expect(after ?? 0 >= 4)
    }

    @Test func `a lift of an order that is not in force is confirmed whatever the clocks say`() {
        var state = TestControlState()
        state.start()
        state.now.wall = state.now.wall + .seconds(3_600)
        state.write("stop/hub", nil)
        state.now.wall = state.now.wall - .seconds(3_600)
        state.read()
        #expect(state.audited.map(\.action) == [.resume])
    }

    @Test func `a clean end removes our beat`() {
        var state = TestControlState()
        state.start()
        state.answerWrites()
        state.take(.drain)
        #expect(state.written.last == .ended(replica: "us"))
        #expect(!state.hasFinished)
        state.answerWrites()
        #expect(state.hasFinished)
    }

    @Test func `the environment is written to a topic without one`() {
        var state = TestControlState(environment: .init(name: "staging", host: "h", hub: "n"))
        state.start()
        #expect(state.written.contains(.environment(.init(name: "staging", host: "h", hub: "n"))))
        #expect(state.isKnown)
    }

    @Test(arguments: [
        HubEnvironment(name: "staging", host: "h", hub: "n"), .init(name: "production", host: "other", hub: "n"),
        .init(name: "production", host: "h", hub: "other"), nil,
    ])
    func `a process whose settings disagree about the hub sends nothing`(ours: HubEnvironment?) {
        var state = TestControlState(environment: ours)
        let theirs = HubEnvironment(name: "production", host: "h", hub: "n")
        state.write(.environment(theirs))
        state.start()
        #expect(!state.isKnown)
        #expect(state.status.alarms == [.elsewhere(ours: ours, theirs: theirs)])
        #expect(!state.status.wasKnown)
        state.write(.noEnvironment)
        state.read()
        #expect(state.isKnown)
    }

    @Test func `a reader without a name writes nothing`() {
        var state = TestControlState(replica: nil)
        state.write(.stands(Order(stop: .feed("dpa"))))
        state.start()
        state.take(.recalled(.of("a")))
        state.pass(.seconds(100))
        state.take(.drain)
        #expect(state.written == [] && state.audited == [])
        #expect(state.told.contains(.stands(Order(stop: .feed("dpa")))))
        #expect(state.hasFinished)
    }
}
