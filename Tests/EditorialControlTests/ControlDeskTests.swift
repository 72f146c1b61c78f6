import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// What a process knows of the control topic: when, and from what.
@Suite struct ControlDeskTests {
    // MARK: Knowing

    @Test func `orders are known once the topic was read and our own beat came back`() {
        var desk = TestDesk()
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

    @Test func `a beat that the broker did not take in time is written again, and nothing is sent before it came back`()
    {
        var desk = TestDesk()
        desk.readAll()
        desk.answerWrites(KafkaFailure(code: "_MSG_TIMED_OUT", isRetriable: true, detail: "away"))
        #expect(!desk.isKnown)
        desk.pass(.seconds(10))
        #expect(!desk.isKnown && desk.beats == 2)
        desk.writeBeat()
        desk.read()
        #expect(desk.isKnown)
    }

    @Test func `a process that may not write goes on without its beat`() {
        var desk = TestDesk()
        desk.readAll()
        desk.answerWrites(TestDesk.failure)
        #expect(desk.isKnown)
    }

    @Test(arguments: ControlDesk.OnStale.allCases)
    func `a beat that never comes back is waited for as long as staleAfter`(policy: ControlDesk.OnStale) {
        var desk = TestDesk(onStale: policy)
        desk.readAll()
        desk.pass(.seconds(59))
        #expect(!desk.isKnown)
        desk.pass(.seconds(2))
        #expect(desk.isKnown == (policy == .continue))
    }

    // MARK: Standstills

    @Test func `after a standstill a shard is answered once the topic was read to its present end`() {
        var desk = TestDesk()
        desk.start()
        desk.write(.stands(Order(stop: .hub)))
        desk.take(.confirm(7, shard: ShardID(0)))
        #expect(desk.readsAnew == 1)
        desk.readAll(reading: 0)
        #expect(desk.confirmed == [], "a reading from before may end at an old end")
        desk.readAll()
        #expect(desk.confirmed == [7])
        #expect(desk.told.contains(.stands(Order(stop: .hub))))
    }

    @Test func `after a standstill without a topic the orders known are all there are`() {
        var desk = TestDesk()
        desk.take(.missing)
        desk.take(.confirm(1, shard: ShardID(0)))
        #expect(desk.confirmed == [1])
    }

    // MARK: Garbage

    @Test func `a recall whose record is hidden by garbage is written again`() {
        var desk = TestDesk()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.write("recall/story/a", "no order")
        desk.read()
        #expect(desk.written.contains(.stands(Order(recall: "a"))))
        #expect(desk.recalled == ["a"])
    }

    @Test func `garbage behind a recall is noticed at the start too`() {
        var desk = TestDesk()
        desk.write(.stands(Order(recall: "a")))
        desk.write("recall/story/a", "{}")
        desk.start()
        #expect(desk.written.contains(.stands(Order(recall: "a"))))
    }

    @Test func `an order that was given before our beat is in force before anything is sent`() {
        var desk = TestDesk()
        desk.take(.began(reading: desk.reading))
        desk.take(.reachedEnd)
        desk.write(.stands(Order(stop: .hub)))
        desk.writeBeat()
        desk.read()
        #expect(desk.log == ["tell", "known"])
    }

    @Test func `what was lifted before the end is never told`() {
        var desk = TestDesk()
        desk.write(.stands(Order(recall: "a")))
        desk.write(.lifted(.recall(story: "a")))
        desk.start()
        #expect(desk.told == [])
    }

    @Test func `without a topic work goes on, and one that appears is followed`() {
        var desk = TestDesk()
        desk.take(.missing)
        #expect(desk.isKnown)
        #expect(desk.status.alarms == [])
        desk.write(.stands(Order(stop: .hub)))
        desk.start()
        #expect(desk.isKnown)
        #expect(desk.told == [.stands(Order(stop: .hub))])
    }

    @Test func `where stale orders stop sending, nothing is sent before a topic that is missing at the start is read`()
    {
        var desk = TestDesk(onStale: .stop)
        desk.take(.missing)
        desk.pass(.seconds(600))
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.neverThere])
        // A recall by an event waits for the topic, rather than being reported as done.
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

    @Test func `where stale orders stop sending, a topic that is deleted later stops it as one that falls silent does`()
    {
        var desk = TestDesk(onStale: .stop)
        desk.start()
        desk.take(.missing)
        #expect(desk.isKnown && desk.status.alarms == [.gone])
        desk.pass(.seconds(61))
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.gone, .stale(.seconds(61), stops: true)])
    }

    @Test func `an audit topic that we are not shown, or that was deleted, is an alarm; one that never was is none`() {
        var desk = TestDesk()
        desk.start()
        desk.take(.audit(.missing))
        #expect(desk.status.alarms == [])
        desk.take(.audit(.refused(TestDesk.failure)))
        #expect(desk.status.alarms == [.notAudited(TestDesk.failure)])
        desk.take(.audit(.there))
        #expect(desk.status.alarms == [])
        desk.take(.audit(.missing))
        #expect(desk.status.alarms == [.auditGone])
        desk.write(.stands(Order(recall: "a")))
        desk.read()
        desk.take(.applied(AppliedOrder(order: "1"), shard: ShardID(0)))
        #expect(desk.audited == [] && desk.recalled == ["a"])
    }

    @Test func `a topic that cannot be read at the start keeps everything back`() {
        var desk = TestDesk()
        desk.take(.unreadable(TestDesk.failure))
        desk.pass(.seconds(600))
        #expect(!desk.isKnown)
        #expect(desk.status.alarms == [.unreadable(TestDesk.failure)])
        desk.answerWrites()
        desk.start()
        #expect(desk.isKnown)
        #expect(desk.status.alarms == [])
    }

    @Test func `a process that may not write knows what stood at the start`() {
        var desk = TestDesk()
        desk.write(.stands(Order(recall: "a")))
        desk.take(.began(reading: desk.reading))
        desk.read()
        desk.take(.reachedEnd)
        desk.answerWrites(TestDesk.failure)
        #expect(desk.isKnown)
        #expect(desk.status.alarms == [.notWritten(TestDesk.failure)])
    }

    // MARK: Open transactions

    @Test func `nothing is sent while an open transaction hides what stood on the topic at the start`() {
        var desk = TestDesk()
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

    @Test func `a beat behind an open transaction is waited for, because orders may stand before it`() {
        var desk = TestDesk()
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

    @Test func `a transaction that opens later is an alarm once it lasts, and orders known hold`() {
        var desk = TestDesk()
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

    @Test(arguments: ControlDesk.OnStale.allCases)
    func `a silent topic raises an alarm, and stops sending if that is wanted`(policy: ControlDesk.OnStale) {
        var desk = TestDesk(onStale: policy)
        desk.start()
        desk.pass(.seconds(59))
        #expect(desk.isKnown && desk.status.alarms == [])
        #expect(desk.readsAnew > 0)
        desk.pass(.seconds(2))
        #expect(desk.isKnown == (policy == .continue))
        #expect(desk.status.alarms == [.stale(.seconds(61), stops: policy == .stop)])
        desk.answerWrites()
        desk.pass(.seconds(1), echoes: true)
        #expect(desk.isKnown && desk.status.alarms == [])
    }

    @Test
    func `where stale orders stop sending, a topic that speaks again is no licence before a beat of now came back`() {
        var desk = TestDesk(onStale: .stop)
        desk.start()
        desk.answerWrites()
        desk.pass(.seconds(9), echoes: true)
        desk.pass(.seconds(61))
        #expect(!desk.isKnown)
        // Written before it fell silent: an order behind it that was given since then did not wait for us.
        desk.writeBeat()
        desk.read()
        #expect(!desk.isKnown)
        desk.write(.stands(Order(stop: .hub)))
        desk.answerWrites()
        desk.pass(.seconds(1), echoes: true)
        #expect(desk.isKnown && desk.status.standing[.stop(.hub)] != nil)
        #expect(desk.log.suffix(2) == ["tell", "known"])
    }

    @Test func `an order found when the topic is read again is answered, whatever its clock and our beats say`() {
        var desk = TestDesk()
        desk.start()
        desk.answerWrites()
        desk.take(.unreadable(TestDesk.failure))
        desk.write(.stands(Order(recall: "a")))
        desk.compact()
        desk.readAll()
        desk.take(.applied(AppliedOrder(order: "1"), shard: ShardID(0)))
        #expect(desk.audited.map(\.order) == ["1"])
    }

    @Test func `a beat every ten seconds, one at a time`() {
        var desk = TestDesk()
        desk.start()
        desk.answerWrites()
        desk.pass(.seconds(9))
        // The first one has no time of the log yet, so a second one follows at once.
        #expect(desk.beats == 2)
        desk.pass(.seconds(60))
        #expect(desk.beats == 2)
        desk.answerWrites()
        desk.pass(.seconds(1))
        #expect(desk.beats == 3)
    }

    @Test func `while the topic cannot be read, the last orders hold`() {
        var desk = TestDesk()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.take(.unreadable(TestDesk.failure))
        desk.pass(.seconds(5))
        #expect(desk.recalled.contains("a") == true)
        #expect(desk.isKnown && desk.status.alarms == [])
    }

    // MARK: The topic's life

    @Test func `orders of a deleted topic stay in force and are put back on the new one`() {
        var desk = TestDesk()
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

    @Test func `a compacted topic means what it meant before`() {
        var whole = TestDesk()
        let records: [ControlRecord] = [
            .stands(Order(recall: "a")), .stands(Order(stop: .hub)), .lifted(.recall(story: "a")),
            .stands(Order(stop: .hub, id: "2")), .stands(Order(recall: "b")),
        ]
        for record in records { whole.write(record) }
        var compacted = TestDesk()
        for record in records[2...] { compacted.write(record) }
        whole.start()
        compacted.start()
        #expect(whole.status.standing == compacted.status.standing)
        #expect(whole.status.standing.count == 2)
    }

    @Test func `what was lifted while nobody read is lifted after reading anew`() {
        var desk = TestDesk()
        desk.write(.stands(Order(recall: "a")))
        desk.start()
        desk.take(.unreadable(TestDesk.failure))
        desk.write(.lifted(.recall(story: "a")))
        desk.write(.stands(Order(recall: "b")))
        desk.readAll()
        #expect(desk.told.suffix(2) == [.lifted(.recall(story: "a")), .stands(Order(recall: "b"))])
    }

    // MARK: Bounds

    @Test func `beyond ten thousand recalls none is taken, but the hub can be stopped`() {
        var desk = TestDesk()
        for number in 0...StandingOrders.capacity { desk.write(.stands(Order(recall: "\(number)"))) }
        desk.write(.stands(Order(stop: .hub)))
        desk.start()
        #expect(desk.status.standing.count == StandingOrders.capacity + 1)
        #expect(desk.status.standing[.stop(.hub)] != nil)
        #expect(desk.status.alarms == [.refused(1)])
    }

    @Test func `recalls by events, of however many processes, leave room for editors`() {
        var desk = TestDesk()
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

    @Test func `when there is room again, what was refused comes into force`() {
        var desk = TestDesk()
        for number in 0...StandingOrders.capacity { desk.write(.stands(Order(recall: "\(number)"))) }
        desk.start()
        desk.write(.lifted(.recall(story: "0")))
        desk.read()
        #expect(desk.told.last == .stands(Order(recall: "\(StandingOrders.capacity)")))
        #expect(desk.status.alarms == [])
    }

    @Test func `however many stops stand, the hub can be stopped`() {
        var orders = StandingOrders()
        for number in 0...StandingOrders.stopCapacity { orders.apply(.stands(Order(stop: .feed("\(number)")))) }
        #expect(orders.count == StandingOrders.stopCapacity)
        #expect(orders.apply(.stands(Order(stop: .hub))) && orders.stopped.contains(.hub))
    }

    @Test func `orders far beyond the bound are found again on the topic when there is room`() {
        var desk = TestDesk()
        let all = StandingOrders.capacity + 2_000
        for number in 0..<all { desk.write(.stands(Order(recall: "\(number)"))) }
        desk.start()
        for number in 0..<2_500 { desk.write(.lifted(.recall(story: "\(number)"))) }
        desk.read()
        let before = desk.readsAnew
        desk.pass(.seconds(20))
        #expect(desk.readsAnew > before)
        desk.compact()
        desk.readAll()
        let count = desk.status.standing.count
        #expect(count == all - 2_500)
        #expect(desk.status.alarms == [])
    }

    @Test func `what is not understood is an alarm as long as it stands on the topic`() {
        var desk = TestDesk()
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
        desk.take(.unreadable(TestDesk.failure))
        desk.write(.lifted(.recall(story: "c")))
        desk.compact()
        desk.readAll()
        #expect(desk.status.alarms == [])
        #expect(desk.status.counts.unreadable == 4, "the count goes on")
    }

    @Test func `garbage is counted and changes nothing`() {
        var desk = TestDesk()
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
    func `the beat of a process that was killed is removed after an hour, whatever its clock said`(clock: Duration) {
        var desk = TestDesk()
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
        var desk = TestDesk()
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

    @Test func `a process that stood still for hours removes nobody's beat before it has read what came meanwhile`() {
        var desk = TestDesk()
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

    @Test func `a process counts the time of the log on from where the topic has it`() {
        var desk = TestDesk()
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
        // A set clock changes nothing.
        desk.echo()
        desk.now.wall = desk.now.wall - .seconds(3_600)
        desk.write(.beat(.init(replica: "other", at: desk.now.wall, logTime: .seconds(505))))
        desk.pass(.seconds(10), echoes: true)
        #expect(desk.lastBeat?.logTime == .seconds(521))
    }

    @Test func `the time of the log begins with zero on a topic that has none`() {
        var desk = TestDesk()
        desk.start()
        desk.answerWrites()
        desk.pass(.seconds(2))
        #expect(desk.lastBeat?.logTime == .seconds(1))
    }

    // MARK: How far orders are obeyed

    @Test func `a beat says how far orders are obeyed by every shard`() {
        var desk = TestDesk(shards: 2)
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
        // The order stands at offset 3, behind the other one and two beats.
        #expect(before == 1 && waiting == 2)
        #expect(after ?? 0 >= 4)
    }

    @Test func `an end of what does not stand here is confirmed, whatever the clocks say`() {
        var desk = TestDesk()
        desk.start()
        desk.now.wall = desk.now.wall + .seconds(3_600)
        desk.write("stop/hub", nil)
        desk.now.wall = desk.now.wall - .seconds(3_600)
        desk.read()
        #expect(desk.audited.map(\.action) == [.resume])
    }

    @Test func `a clean end removes our beat`() {
        var desk = TestDesk()
        desk.start()
        desk.answerWrites()
        desk.take(.drain)
        #expect(desk.written.last == .ended(replica: "us"))
        #expect(!desk.hasFinished)
        desk.answerWrites()
        #expect(desk.hasFinished)
    }

    @Test func `the environment is written where there is none`() {
        var desk = TestDesk(environment: .init(name: "staging", host: "h", hub: "n"))
        desk.start()
        #expect(desk.written.contains(.environment(.init(name: "staging", host: "h", hub: "n"))))
        #expect(desk.isKnown)
    }

    @Test(arguments: [
        HubEnvironment(name: "staging", host: "h", hub: "n"), .init(name: "production", host: "other", hub: "n"),
        .init(name: "production", host: "h", hub: "other"), nil,
    ])
    func `a process that disagrees about the hub sends nothing`(ours: HubEnvironment?) {
        var desk = TestDesk(environment: ours)
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
        var desk = TestDesk(replica: nil)
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
