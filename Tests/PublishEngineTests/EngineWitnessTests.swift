import KafkaModel
import NewsModel
import PublishEngine
import Testing

/// Nothing expires by a clock that the hub and records contradict.
struct EngineWitnessTests {
    /// The wall clock's lead over the true time, which is the shell's monotonic clock.
    private func shell(ahead: Duration, asks: Bool = true) throws -> TestShell {
        var shell = try TestShell {
            $0.lanes[0].maxAge = .seconds(900)
            $0.asksHubForTime = asks
        }
        shell.wallOffset = ahead
        _ = shell.assign()
        return shell
    }

    private func read(_ shell: inout TestShell, _ id: String, age: Duration) -> [Action] {
        let record = shell.record(news(id), writtenAt: shell.now - age)
        return shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record]))
    }

    @Test func `live news is sent although our clock is an hour ahead`() throws {
        var shell = try shell(ahead: .seconds(3600))
        let asked = read(&shell, "a", age: .seconds(1))
        #expect(asked.asksForTime && asked.endings.isEmpty && asked.sends.isEmpty)
        #expect(read(&shell, "b", age: .zero).isEmpty, "what is read meanwhile waits behind it")
        let answered = shell.take(.hubDate(shell.now))
        #expect(answered.sends.count == 2)
        #expect(shell.status.clock == .init(witness: .both, difference: .seconds(3600)))
        // A record that is stale by the witnesses' time is stale, and the hub is not asked again.
        let stale = read(&shell, "c", age: .seconds(901))
        #expect(stale.outcomes == [.expired] && !stale.asksForTime)
    }

    @Test func `an event expires by the time of the others while it waits`() throws {
        var shell = try TestShell {
            $0.lanes[0].maxAge = .seconds(900)
            $0.connections = 1
        }
        shell.wallOffset = .seconds(3600)
        _ = shell.assign()
        _ = shell.take(.hubDate(shell.now))
        let first = read(&shell, "a", age: .zero)
        #expect(first.sends.count == 1)
        #expect(read(&shell, "b", age: .zero).endings.isEmpty)
        _ = shell.wait(.seconds(890))
        #expect(shell.take(.alarm).endings.isEmpty)
        _ = shell.wait(.seconds(20))
        #expect(shell.reply(201, to: first.sends[0]).outcomes == [.accepted, .expired])
    }

    @Test func `one witness alone changes nothing but readiness`() throws {
        var shell = try shell(ahead: .seconds(3600))
        _ = shell.take(.hubDate(shell.now))
        #expect(shell.status.clock == .init(witness: .hub, difference: .seconds(3600)))
        // A backlog of that age would look the same.
        #expect(read(&shell, "a", age: .seconds(300)).outcomes == [.expired])
        #expect(shell.status.clock?.witness == .hub)
    }

    @Test func `a backlog and a backfill say nothing about the clock`() throws {
        var shell = try shell(ahead: .zero)
        _ = read(&shell, "a", age: .seconds(86_400))
        _ = shell.take(.hubDate(shell.now))
        #expect(shell.status.clock == nil)
        #expect(read(&shell, "b", age: .seconds(7_200)).outcomes == [.expired])
        #expect(shell.status.clock == nil)
        #expect(read(&shell, "c", age: .zero).sends.count == 1)
    }

    @Test func `news that is too old just after it was appended shows that its producer's clock is behind`() throws {
        var shell = try shell(ahead: .zero)
        _ = shell.take(.hubDate(shell.now))
        func age() -> Duration? { shell.status.lanes[0].ageOnArrival }
        let backlog = read(&shell, "backlog", age: .seconds(7_200))
        #expect(backlog.outcomes == [.expired] && age() == nil, "what was there before the end was reached may be old")
        _ = shell.store(backlog)
        atEnd(&shell)
        let late = read(&shell, "a", age: .seconds(1_200))
        #expect(late.outcomes == [.expired] && age() == .seconds(1_200))
        _ = shell.store(late)
        atEnd(&shell)
        let fresh = read(&shell, "b", age: .seconds(899))
        #expect(fresh.sends.count == 1 && age() == nil)
        _ = shell.store(shell.reply(201, to: fresh.sends[0]))
        atEnd(&shell)
        _ = shell.store(read(&shell, "c", age: .seconds(900)))
        _ = shell.wait(.seconds(600))
        #expect(age() == .seconds(900))
        _ = shell.wait(.seconds(1))
        #expect(age() == nil)
    }

    @Test(arguments: [false, true])
    func `news that arrived while the process stood still is not too old on arrival`(stoodStill: Bool) throws {
        var shell = try shell(ahead: .zero)
        _ = shell.take(.hubDate(shell.now))
        let first = read(&shell, "a", age: .zero)
        _ = shell.store(shell.reply(201, to: try #require(first.sends.first)))
        atEnd(&shell)
        if stoodStill { _ = shell.take(.stoodStill(.seconds(1_200))) }
        _ = read(&shell, "b", age: .seconds(1_200))
        #expect(shell.status.lanes[0].ageOnArrival == (stoodStill ? nil : .seconds(1_200)))
    }

    /// The lane has read all that there is, and waits for the next record.
    private func atEnd(_ shell: inout TestShell) {
        _ = shell.take(.endReached(TestShell.live, TestShell.first, TestShell.source, offset: shell.nextOffset))
    }

    @Test func `records that look stale wait for the hub's time, and delay others for three seconds at most`() throws {
        var shell = try shell(ahead: .zero)
        #expect(read(&shell, "a", age: .seconds(901)).asksForTime)
        #expect(read(&shell, "b", age: .zero).isEmpty)
        #expect(shell.wait(.milliseconds(2_900)).sends.isEmpty)
        let waited = shell.wait(.milliseconds(200))
        #expect(waited.sends.count == 1 && waited.outcomes.isEmpty)
        let silence = shell.wait(.seconds(600))
        #expect(silence.asksForTime && silence.sends.isEmpty && silence.outcomes.isEmpty)
        _ = shell.take(.hubDate(shell.now))
        #expect(shell.wait(.seconds(5)).outcomes == [.expired])
        #expect(read(&shell, "c", age: .seconds(901)).outcomes == [.expired])
        // After a step, the hub's time and an earlier record contradict the new time.
        shell.wallOffset = .seconds(3600)
        #expect(read(&shell, "d", age: .seconds(300)).sends.count == 1)
        #expect(shell.status.clock == .init(witness: .both, difference: .seconds(3600)))
    }

    @Test func `without the hub's time a record expires once it has waited for its lane's age`() throws {
        var shell = try shell(ahead: .seconds(7_200))
        _ = read(&shell, "a", age: .zero)
        #expect(shell.wait(.seconds(899)).outcomes.isEmpty)
        #expect(shell.wait(.seconds(5)).outcomes == [.expired])
    }

    @Test func `news that waited for the hub's time is sent if the hub contradicts our clock`() throws {
        var shell = try shell(ahead: .seconds(7_200))
        _ = read(&shell, "a", age: .zero)
        _ = shell.wait(.seconds(120))
        _ = shell.take(.hubDate(shell.now))
        let sent = shell.wait(.seconds(5))
        #expect(sent.sends.count == 1 && sent.outcomes.isEmpty)
        #expect(shell.status.clock == .init(witness: .both, difference: .seconds(7_200)))
    }

    @Test func `records that were just appended are a reason to check the clocks while the hub is silent`() throws {
        var shell = try shell(ahead: .seconds(7_200))
        _ = shell.take(.endReached(TestShell.live, TestShell.first, TestShell.source, offset: 0))
        _ = read(&shell, "live", age: .zero)
        #expect(shell.status.clock == .init(witness: .records, difference: .seconds(7_200)))
        _ = shell.take(.hubDate(shell.now + .seconds(7_200)))
        #expect(shell.status.clock == nil)
    }

    @Test func `a backlog says nothing about the clock while the hub is silent`() throws {
        var shell = try shell(ahead: .zero)
        _ = read(&shell, "a", age: .seconds(7_200))
        #expect(shell.status.clock == nil)
    }

    @Test func `a hub whose replies have no time leaves our clock alone in charge, which is a reason to report`() throws
    {
        var shell = try shell(ahead: .zero)
        #expect(read(&shell, "a", age: .seconds(901)).asksForTime)
        #expect(shell.take(.hubDate(nil)).outcomes == [.expired])
        #expect(shell.status.clock == .init(witness: .missing, difference: .zero))
    }

    @Test func `a machine that slept forgets the hub's time, which stood still with it`() throws {
        var shell = try shell(ahead: .zero, asks: false)
        _ = shell.take(.hubDate(shell.now))
        _ = read(&shell, "a", age: .zero)
        shell.wallOffset = .seconds(7_200)
        _ = shell.take(.stoodStill(.seconds(7_200)))
        _ = shell.take(.ordersConfirmed(1))
        let stale = shell.record(news("b"), writtenAt: shell.now)
        #expect(
            shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [stale])).outcomes == [.expired])
        #expect(shell.status.clock == nil)
    }

    @Test func `a record of the future is a reason to look after the clocks, until the hub is heard`() throws {
        var shell = try shell(ahead: .seconds(-3600))
        #expect(read(&shell, "a", age: .zero).sends.count == 1)
        #expect(shell.status.clock == .init(witness: .records, difference: .seconds(-3600)))
        _ = shell.take(.hubDate(shell.now))
        #expect(shell.status.clock == .init(witness: .hub, difference: .seconds(-3600)))
        shell.wallOffset = .zero
        _ = shell.take(.alarm)
        _ = shell.take(.hubDate(shell.now + .seconds(2)))
        #expect(shell.status.clock == nil)
        _ = read(&shell, "b", age: .seconds(-600))
        #expect(shell.status.clock == nil, "one producer's clock is not ours")
    }

    @Test func `a recall waits for nobody's time`() throws {
        var shell = try shell(ahead: .seconds(3600))
        let recall = shell.record(news("a", status: "canceled"), writtenAt: shell.now)
        #expect(
            shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [recall])).outcomes == [.canceled])
    }
}

extension [Action] {
    var asksForTime: Bool { contains { if case .askHubForTime = $0 { true } else { false } } }
}
