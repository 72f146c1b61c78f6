import EditorialControl
import KafkaModel
import NewsModel
import Testing

/// Beats of processes, what they report, and the environment that all processes must share.
@Suite struct ControlStateBeatTests {
    // MARK: Beats

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

    // MARK: The time of the log

    @Test func `a process continues the time of the log from the topic`() {
        var state = TestControlState()
        state.write(.beat(.init(replica: "other", at: state.now.wall, logTime: .seconds(500))))
        state.take(.began(reading: state.reading, start: 0))
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
        state.take(.began(reading: state.reading, start: 0))
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

    // MARK: Environment

    @Test func `the environment is written to a topic without one`() {
        var state = TestControlState(environment: .init(name: "staging", host: "h", hub: "n"))
        state.start()
        #expect(state.written.contains(.environment(.init(name: "staging", host: "h", hub: "n"))))
        #expect(state.isKnown)
    }

    @Test func `a further group with a hub of its own writes its environment beside the first one's`() {
        let sport = HubEnvironment(name: "production", host: "h", hub: "sport", group: "sport")
        var state = TestControlState(environment: sport)
        state.write(.environment(.init(name: "production", host: "h", hub: "n", group: "news")))
        state.start()
        #expect(state.written.contains(.environment(sport, isFirst: false)))
        #expect(state.isKnown)
        // A later start of the group finds its own record.
        state.write(.environment(.init(name: "production", host: "h", hub: "other", group: "sport"), isFirst: false))
        state.read()
        #expect(!state.isKnown)
        state.write(.noEnvironment(group: "sport"))
        state.read()
        #expect(state.isKnown)
    }

    @Test func `a further group of another environment sends nothing`() {
        let ours = HubEnvironment(name: "staging", host: "h", hub: "sport", group: "sport")
        let theirs = HubEnvironment(name: "production", host: "h", hub: "n", group: "news")
        var state = TestControlState(environment: ours)
        state.write(.environment(theirs))
        state.start()
        #expect(!state.isKnown)
        #expect(state.status.alarms == [.elsewhere(ours: ours, theirs: theirs)])
    }

    @Test func `the first group adds its name to the record of an older version`() {
        let ours = HubEnvironment(name: "production", host: "h", hub: "n", group: "news")
        var state = TestControlState(environment: ours)
        state.write(.environment(.init(name: "production", host: "h", hub: "n")))
        state.start()
        #expect(state.isKnown && state.written.contains(.environment(ours)))
    }

    @Test func `a process that names no environment writes none, and joins production only`() {
        let implied = HubEnvironment(name: "production", host: "h", hub: "n", isImplied: true)
        var state = TestControlState(environment: implied)
        state.start()
        let isSilent = state.written.allSatisfy { if case .environment = $0 { false } else { true } }
        #expect(isSilent && state.isKnown)
        state.write(.environment(.init(name: "production", host: "h", hub: "n")))
        state.read()
        #expect(state.isKnown)
        state.write(.environment(.init(name: "staging", host: "h", hub: "n")))
        state.read()
        #expect(!state.isKnown)
    }

    @Test func `an environment that nobody named binds its name only, until a process names one`() {
        let implied = HubEnvironment(name: "production", host: "h", hub: "n", group: "news", isImplied: true)
        let other = HubEnvironment(name: "production", host: "other", hub: "n", group: "news", isImplied: true)
        var state = TestControlState(environment: other)
        state.write(.environment(implied))
        state.start()
        #expect(state.isKnown)
        state.deleteTopic()
        state.readAll()
        #expect(
            state.written.last == .environment(implied), "no staging process may claim a topic that was created again")
        let named = HubEnvironment(name: "production", host: "other", hub: "n", group: "news")
        var second = TestControlState(environment: named)
        second.write(.environment(implied))
        second.start()
        #expect(second.isKnown && second.written.contains(.environment(named)))
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
        state.write(.noEnvironment())
        state.read()
        #expect(state.isKnown)
    }
}
