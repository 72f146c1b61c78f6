import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// The conditions under which a process knows the orders in force.
@Suite struct ControlStateTests {
    // MARK: Known orders

    @Test func `orders are known once the topic was read and our own beat was read back`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.take(.began(reading: desk.reading))
        #expect(desk.beats == 1)
        desk.read()
        desk.take(.reachedEnd)
        #expect(!desk.isKnown)
        desk.writeBeat()
        desk.read()
        #expect(desk.isKnown)
        #expect(desk.told == [.stands(Order(recall: "a"))])
    }

    @Test func `a beat that timed out is written again, and nothing is sent before it is read back`() {
        var desk = TestControlState()
        desk.readAll()
        desk.answerWrites(KafkaFailure(code: "_MSG_TIMED_OUT", isRetriable: true, detail: "away"))
        #expect(!desk.isKnown)
        desk.pass(.seconds(10))
        #expect(!desk.isKnown && desk.beats == 2)
        desk.writeBeat()
        desk.read()
        #expect(desk.isKnown)
    }

    @Test func `a process without write permission continues without its beat`() {
        var desk = TestControlState()
        desk.readAll()
        desk.answerWrites(TestControlState.failure)
        #expect(desk.isKnown)
    }

    @Test(arguments: ControlState.OnStale.allCases)
    func `a beat that is never read back is waited for until staleAfter`(policy: ControlState.OnStale) {
        var desk = TestControlState(onStale: policy)
        desk.readAll()
        desk.pass(.seconds(59))
        #expect(!desk.isKnown)
        desk.pass(.seconds(2))
        #expect(desk.isKnown == (policy == .continue))
    }

    // MARK: Standstills

    @Test func `after a standstill a shard is answered once the topic was read to its present end`() {
        var desk = TestControlState()
        desk.start()
        desk.write(.stands(Order(stop: .hub)))
        desk.take(.confirm(7, shard: ShardID(0)))
        #expect(desk.rereads == 1)
        desk.readAll(reading: 0)
        #expect(desk.confirmed == [], "a reading from before may end at an old end")
        desk.readAll()
        #expect(desk.confirmed == [7])
        #expect(desk.told.contains(.stands(Order(stop: .hub))))
    }

    @Test func `after a standstill without a topic no further orders are expected`() {
        var desk = TestControlState()
        desk.take(.missing)
        desk.take(.confirm(1, shard: ShardID(0)))
        #expect(desk.confirmed == [1])
    }

    // MARK: Garbage

    @Test func `a recall whose record was replaced by an invalid one is written again`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.write("recall/story/a", "no order")
        desk.read()
        #expect(desk.written.contains(.stands(Order(recall: "a"))))
        #expect(desk.recalled == ["a"])
    }

    @Test func `an invalid record behind a recall is noticed at the start too`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.write("recall/story/a", "{}")
        desk.start()
        #expect(desk.written.contains(.stands(Order(recall: "a"))))
    }

    @Test func `an order given before our beat is in force before anything is sent`() {
        var desk = TestControlState()
        desk.take(.began(reading: desk.reading))
        desk.take(.reachedEnd)
        desk.write(.stands(Order(stop: .hub)))
        desk.writeBeat()
        desk.read()
        #expect(desk.log == ["tell", "known"])
    }

    @Test func `an order lifted before the end of the topic is never reported`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.write(.lifted(.recall(story: "a")))
        desk.start()
        #expect(desk.told == [])
    }

    @Test func `without a topic sending continues, and a topic created later is followed`() {
        var desk = TestControlState()
        desk.take(.missing)
        #expect(desk.isKnown)
        #expect(desk.status.alarms == [])
        desk.write(.stands(Order(stop: .hub)))
        desk.start()
        #expect(desk.isKnown)
        #expect(desk.told == [.stands(Order(stop: .hub))])
    }

    @Test func `with onStale stop, nothing is sent until a topic that was missing at the start is read`() {
        var desk = TestControlState(onStale: .stop)
        desk.take(.missing)
        desk.pass(.seconds(600))
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.neverThere])
        // A recall by an event waits for the topic instead of being reported as done.
        #expect(desk.status.keepsRecalls)
        desk.take(.recalled(.of("a")))
        #expect(desk.settled == [])
        desk.write(.stands(Order(stop: .category("Sports"))))
        desk.start()
        #expect(desk.log == ["tell", "tell", "known"] && desk.isKnown)
        #expect(desk.told.first == .stands(Order(stop: .category("Sports"))))
        desk.answerWrites()
        #expect(desk.settled == ["a"])
        #expect(desk.status.alarms == [])
    }

    @Test func `with onStale stop, a deleted topic stops sending like a silent one`() {
        var desk = TestControlState(onStale: .stop)
        desk.start()
        desk.take(.missing)
        #expect(desk.isKnown && desk.status.alarms == [.gone])
        desk.pass(.seconds(61))
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.gone, .stale(.seconds(61), stops: true)])
    }

    @Test func `an audit topic that is hidden or was deleted raises an alarm, one that never existed does not`() {
        var desk = TestControlState()
        desk.start()
        desk.take(.audit(.missing))
        #expect(desk.status.alarms == [])
        desk.take(.audit(.refused(TestControlState.failure)))
        #expect(desk.status.alarms == [.notAudited(TestControlState.failure)])
        desk.take(.audit(.there))
        #expect(desk.status.alarms == [])
        desk.take(.audit(.missing))
        #expect(desk.status.alarms == [.auditGone])
        desk.write(.stands(Order(recall: "a")))
        desk.read()
        desk.take(.applied(AppliedOrder(order: "1"), shard: ShardID(0)))
        #expect(desk.audited == [] && desk.recalled == ["a"])
    }

    @Test func `a topic that cannot be read at the start blocks all sending`() {
        var desk = TestControlState()
        desk.take(.unreadable(TestControlState.failure))
        desk.pass(.seconds(600))
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.unreadable(TestControlState.failure)])
        desk.answerWrites()
        desk.start()
        #expect(desk.isKnown)
        #expect(desk.status.alarms == [])
    }

    @Test func `a process without write permission knows the orders present at the start`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.take(.began(reading: desk.reading))
        desk.read()
        desk.take(.reachedEnd)
        desk.answerWrites(TestControlState.failure)
        #expect(desk.isKnown)
        #expect(desk.status.alarms == [.notWritten(TestControlState.failure)])
    }

    // MARK: Open transactions

    @Test func `nothing is sent while an open transaction hides records present at the start`() {
        var desk = TestControlState()
        desk.take(.began(reading: desk.reading))
        desk.take(.heldUp(true))
        desk.pass(.seconds(20))
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.heldUp(.seconds(20), stops: true)])
        desk.take(.heldUp(false))
        desk.write(.stands(Order(recall: "a")))
        desk.writeBeat()
        desk.read()
        desk.take(.reachedEnd)
        #expect(desk.isKnown && desk.recalled == ["a"] && desk.status.alarms == [])
    }

    @Test func `a beat behind an open transaction is waited for because orders may precede it`() {
        var desk = TestControlState()
        desk.take(.began(reading: desk.reading))
        desk.take(.reachedEnd)
        desk.take(.heldUp(true))
        desk.pass(.seconds(70))
        #expect(!desk.isKnown)
        desk.take(.heldUp(false))
        desk.writeBeat()
        desk.read()
        #expect(!desk.isKnown, "it is so old that no order behind it has waited for us")
        desk.answerWrites()
        desk.pass(.seconds(1), echoes: true)
        #expect(desk.isKnown)
    }

    @Test func `a transaction that stays open later raises an alarm, and known orders stay in force`() {
        var desk = TestControlState()
        desk.start()
        desk.take(.heldUp(true))
        desk.pass(.seconds(4))
        #expect(desk.status.alarms == [])
        desk.pass(.seconds(2))
        #expect(desk.isKnown)
        #expect(desk.status.alarms == [.heldUp(.seconds(6), stops: false)])
        desk.take(.heldUp(false))
        #expect(desk.status.alarms == [])
    }

    // MARK: Staleness

    @Test(arguments: ControlState.OnStale.allCases)
    func `a silent topic raises an alarm, and stops sending if configured`(policy: ControlState.OnStale) {
        var desk = TestControlState(onStale: policy)
        desk.start()
        desk.pass(.seconds(59))
        #expect(desk.isKnown && desk.status.alarms == [])
        #expect(desk.rereads > 0)
        desk.pass(.seconds(2))
        #expect(desk.isKnown == (policy == .continue))
        #expect(desk.status.alarms == [.stale(.seconds(61), stops: policy == .stop)])
        desk.answerWrites()
        desk.pass(.seconds(1), echoes: true)
        #expect(desk.isKnown && desk.status.alarms == [])
    }

    @Test
    func `with onStale stop, nothing is sent after a silence until a recent beat is read back`() {
        var desk = TestControlState(onStale: .stop)
        desk.start()
        desk.answerWrites()
        desk.pass(.seconds(9), echoes: true)
        desk.pass(.seconds(61))
        #expect(!desk.isKnown)
        // Written before the silence. Senders of orders given behind it since then did not wait for us.
        desk.writeBeat()
        desk.read()
        #expect(!desk.isKnown)
        desk.write(.stands(Order(stop: .hub)))
        desk.answerWrites()
        desk.pass(.seconds(1), echoes: true)
        #expect(desk.isKnown && desk.status.standing[.stop(.hub)] != nil)
        #expect(desk.log.suffix(2) == ["tell", "known"])
    }

    @Test func `an order found when the topic is read again is answered whatever its clock says`() {
        var desk = TestControlState()
        desk.start()
        desk.answerWrites()
        desk.take(.unreadable(TestControlState.failure))
        desk.write(.stands(Order(recall: "a")))
        desk.compact()
        desk.readAll()
        desk.take(.applied(AppliedOrder(order: "1"), shard: ShardID(0)))
        #expect(desk.audited.map(\.order) == ["1"])
    }

    @Test func `beats are written every ten seconds, one at a time`() {
        var desk = TestControlState()
        desk.start()
        desk.answerWrites()
        desk.pass(.seconds(9))
        // The first beat has no time of the log yet, so a second one follows at once.
        #expect(desk.beats == 2)
        desk.pass(.seconds(60))
        #expect(desk.beats == 2)
        desk.answerWrites()
        desk.pass(.seconds(1))
        #expect(desk.beats == 3)
    }

    @Test func `the last orders stay in force while the topic cannot be read`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.take(.unreadable(TestControlState.failure))
        desk.pass(.seconds(5))
        #expect(desk.recalled.contains("a") == true)
        #expect(desk.isKnown && desk.status.alarms == [])
    }

    // MARK: Deletion and compaction

    @Test func `orders of a deleted topic stay in force and are written to the new one`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.write(.stands(Order(stop: .hub)))
        desk.start()
        desk.take(.missing)
        #expect(desk.status.alarms == [.gone])
        desk.deleteTopic()
        desk.write(.lifted(.stop(.hub)))
        desk.take(.began(reading: desk.reading))
        desk.read()
        desk.take(.reachedEnd)
        #expect(desk.written.suffix(1) == [.stands(Order(recall: "a"))])
        #expect(desk.recalled.contains("a") == true)
        #expect(desk.status.standing[.stop(.hub)] == nil)
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
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.take(.unreadable(TestControlState.failure))
        desk.write(.lifted(.recall(story: "a")))
        desk.write(.stands(Order(recall: "b")))
        desk.readAll()
        #expect(desk.told.suffix(2) == [.lifted(.recall(story: "a")), .stands(Order(recall: "b"))])
    }

    // MARK: Bounds

    @Test func `recalls beyond the capacity are refused, but the hub can be stopped`() {
        var desk = TestControlState()
        for number in 0...StandingOrders.capacity { desk.write(.stands(Order(recall: "\(number)"))) }
        desk.write(.stands(Order(stop: .hub)))
        desk.start()
        #expect(desk.status.standing.count == StandingOrders.capacity + 1)
        #expect(desk.status.standing[.stop(.hub)] != nil)
        #expect(desk.status.alarms == [.refused(1)])
    }

    @Test func `recalls by events from many processes leave room for editors`() {
        var desk = TestControlState()
        let all = StandingOrders.capacity + 500
        for number in 0..<all { desk.write(.stands(Order(recall: "\(number)", id: "event news/0/\(number)"))) }
        desk.start()
        #expect(desk.status.standing.count == 9_000)
        #expect(desk.status.counts.unordered == 1_500)
        #expect(desk.status.alarms == [], "an archive is no reason to be not ready for a week")
        for number in 0..<1_000 { desk.write(.stands(Order(recall: "editor \(number)"))) }
        desk.read()
        #expect(desk.status.standing.count == StandingOrders.capacity)
        #expect(desk.status.alarms == [])
    }

    @Test func `a refused order takes effect when there is room again`() {
        var desk = TestControlState()
        for number in 0...StandingOrders.capacity { desk.write(.stands(Order(recall: "\(number)"))) }
        desk.start()
        desk.write(.lifted(.recall(story: "0")))
        desk.read()
        #expect(desk.told.last == .stands(Order(recall: "\(StandingOrders.capacity)")))
        #expect(desk.status.alarms == [])
    }

    @Test func `the hub can be stopped whatever the number of other stops`() {
        var orders = StandingOrders()
        for number in 0...StandingOrders.stopCapacity { orders.apply(.stands(Order(stop: .feed("\(number)")))) }
        #expect(orders.count == StandingOrders.stopCapacity)
        #expect(orders.apply(.stands(Order(stop: .hub))) && orders.stopped.contains(.hub))
    }

    @Test func `orders far beyond the capacity are found again on the topic when there is room`() {
        var desk = TestControlState()
        let all = StandingOrders.capacity + 2_000
        for number in 0..<all { desk.write(.stands(Order(recall: "\(number)"))) }
        desk.start()
        for number in 0..<2_500 { desk.write(.lifted(.recall(story: "\(number)"))) }
        desk.read()
        let before = desk.rereads
        desk.pass(.seconds(20))
        #expect(desk.rereads > before)
        desk.compact()
        desk.readAll()
        let count = desk.status.standing.count
        #expect(count == all - 2_500)
        #expect(desk.status.alarms == [])
    }

    @Test func `an invalid record raises an alarm as long as it is on the topic`() {
        var desk = TestControlState()
        desk.write("hold/story/a", "{}")
        desk.write("recall/story/b", "no order")
        desk.start()
        #expect(desk.status.alarms == [.garbage(2)])
        desk.write("recall/story/c", "{}")
        desk.write("stop/hub", "")
        desk.read()
        #expect(desk.status.alarms == [.garbage(4)])
        desk.write(.stands(Order(recall: "b")))
        desk.write("hold/story/a", nil)
        desk.write(.lifted(.stop(.hub)))
        desk.read()
        #expect(desk.status.alarms == [.garbage(1)], "a newer record, or a tombstone, takes its place")
        desk.take(.unreadable(TestControlState.failure))
        desk.write(.lifted(.recall(story: "c")))
        desk.compact()
        desk.readAll()
        #expect(desk.status.alarms == [])
        #expect(desk.status.counts.unreadable == 4, "the count goes on")
    }

    @Test func `invalid records are counted and change nothing`() {
        var desk = TestControlState()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        let told = desk.told
        for number in 0..<100 {
            desk.take(.records([SourceRecord(offset: Int64(number), key: [UInt8(number)], value: [0xFF])]))
        }
        #expect(desk.told == told)
        #expect(desk.status.counts.unreadable == 100)
        #expect(desk.notes < 20)
        #expect(desk.isKnown)
    }

    // MARK: Processes and environment

    @Test(arguments: [Duration.zero, .seconds(7_200), .seconds(-7_200)])
    func `the beat of a killed process is removed after an hour whatever its clock said`(clock: Duration) {
        var desk = TestControlState()
        desk.write(.beat(.init(replica: "dead", at: desk.now.wall + clock)))
        desk.start()
        #expect(desk.status.processes == 2)
        desk.pass(.seconds(3_500), echoes: true)
        #expect(desk.status.processes == 1)
        #expect(!desk.written.contains(.ended(replica: "dead")))
        desk.pass(.seconds(130), echoes: true)
        #expect(desk.written.contains(.ended(replica: "dead")))
    }

    @Test func `a process whose clock is hours behind keeps its beat`() {
        var desk = TestControlState()
        desk.start()
        for number in 0..<10 {
            desk.pass(.seconds(10), echoes: true)
            desk.write(
                .beat(
                    .init(replica: "behind", at: desk.now.wall - .seconds(9_000), logTime: .seconds(10 * number))))
            desk.read()
        }
        #expect(desk.status.processes == 2)
        #expect(!desk.written.contains(.ended(replica: "behind")))
    }

    @Test func `a process that stood still for hours reads the topic before it removes others' beats`() {
        var desk = TestControlState()
        desk.start()
        desk.pass(.seconds(20), echoes: true)
        desk.write(.beat(.init(replica: "other", at: desk.now.wall, logTime: .seconds(20))))
        desk.read()
        desk.now.steady = desk.now.steady + .seconds(8_000)
        desk.write(.beat(.init(replica: "other", at: desk.now.wall, logTime: .seconds(8_015))))
        desk.take(.tick)
        desk.echo()
        desk.pass(.seconds(3), echoes: true)
        #expect(!desk.written.contains(.ended(replica: "other")))
        #expect(desk.status.processes == 2)
    }

    // MARK: The time of the log

    @Test func `a process continues the time of the log from the topic`() {
        var desk = TestControlState()
        desk.write(.beat(.init(replica: "other", at: desk.now.wall, logTime: .seconds(500))))
        desk.take(.began(reading: desk.reading))
        #expect(desk.lastBeat?.logTime == nil)
        desk.read()
        desk.take(.reachedEnd)
        desk.echo()
        desk.pass(.seconds(1))
        #expect(desk.lastBeat?.logTime == .seconds(501))
        desk.echo()
        desk.pass(.seconds(10))
        #expect(desk.lastBeat?.logTime == .seconds(511))
        // Setting the clock changes nothing.
        desk.echo()
        desk.now.wall = desk.now.wall - .seconds(3_600)
        desk.write(.beat(.init(replica: "other", at: desk.now.wall, logTime: .seconds(505))))
        desk.pass(.seconds(10), echoes: true)
        #expect(desk.lastBeat?.logTime == .seconds(521))
    }

    @Test func `the time of the log begins with zero on a topic without one`() {
        var desk = TestControlState()
        desk.start()
        desk.answerWrites()
        desk.pass(.seconds(2))
        #expect(desk.lastBeat?.logTime == .seconds(1))
    }

    // MARK: Applied offsets

    @Test func `a beat reports the offset up to which every shard obeys the orders`() {
        var desk = TestControlState(shards: 2)
        desk.write(.stands(Order(stop: .hub, id: "early")))
        desk.take(.began(reading: desk.reading))
        #expect(desk.lastBeat?.appliedTo == nil)
        desk.read()
        desk.take(.reachedEnd)
        desk.echo()
        for shard in 0..<2 { desk.take(.applied(AppliedOrder(order: "early"), shard: ShardID(shard))) }
        desk.pass(.seconds(10), echoes: true)
        let before = desk.lastBeat?.appliedTo
        desk.write(.stands(Order(recall: "a", id: "late")))
        desk.read()
        desk.take(.applied(AppliedOrder(order: "late"), shard: ShardID(0)))
        desk.pass(.seconds(20), echoes: true)
        let waiting = desk.lastBeat?.appliedTo
        desk.take(.applied(AppliedOrder(order: "late"), shard: ShardID(1)))
        desk.pass(.seconds(10), echoes: true)
        let after = desk.lastBeat?.appliedTo
        // The order has offset 3, behind the other order and two beats.
        #expect(before == 1 && waiting == 2)
        #expect(after ?? 0 >= 4)
    }

    @Test func `a lift of an order that is not in force is confirmed whatever the clocks say`() {
        var desk = TestControlState()
        desk.start()
        desk.now.wall = desk.now.wall + .seconds(3_600)
        desk.write("stop/hub", nil)
        desk.now.wall = desk.now.wall - .seconds(3_600)
        desk.read()
        #expect(desk.audited.map(\.action) == [.resume])
    }

    @Test func `a clean end removes our beat`() {
        var desk = TestControlState()
        desk.start()
        desk.answerWrites()
        desk.take(.drain)
        #expect(desk.written.last == .ended(replica: "us"))
        #expect(!desk.hasFinished)
        desk.answerWrites()
        #expect(desk.hasFinished)
    }

    @Test func `the environment is written to a topic without one`() {
        var desk = TestControlState(environment: .init(name: "staging", host: "h", hub: "n"))
        desk.start()
        #expect(desk.written.contains(.environment(.init(name: "staging", host: "h", hub: "n"))))
        #expect(desk.isKnown)
    }

    @Test(arguments: [
        HubEnvironment(name: "staging", host: "h", hub: "n"), .init(name: "production", host: "other", hub: "n"),
        .init(name: "production", host: "h", hub: "other"), nil,
    ])
    func `a process whose settings disagree about the hub sends nothing`(ours: HubEnvironment?) {
        var desk = TestControlState(environment: ours)
        let theirs = HubEnvironment(name: "production", host: "h", hub: "n")
        desk.write(.environment(theirs))
        desk.start()
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.elsewhere(ours: ours, theirs: theirs)])
        #expect(!desk.status.wasKnown)
        desk.write(.noEnvironment)
        desk.read()
        #expect(desk.isKnown)
    }

    @Test func `a reader without a name writes nothing`() {
        var desk = TestControlState(replica: nil)
        desk.write(.stands(Order(stop: .feed("dpa"))))
        desk.start()
        desk.take(.recalled(.of("a")))
        desk.pass(.seconds(100))
        desk.take(.drain)
        #expect(desk.written == [] && desk.audited == [])
        #expect(desk.told.contains(.stands(Order(stop: .feed("dpa")))))
        #expect(desk.hasFinished)
    }
}
