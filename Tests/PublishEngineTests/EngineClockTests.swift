import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EngineClockTests {
    @Test(arguments: [Duration.seconds(3600), .seconds(-3600)])
    func `a clock that was wrong at start is right once it is corrected`(error: Duration) throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(900) }
        let truth = shell.now
        shell.wallOffset = error
        _ = shell.assign()
        _ = shell.take(.alarm)
        shell.wallOffset = .zero
        let step = shell.take(.alarm)
        #expect(step.contains { if case .clockStepped = $0 { true } else { false } })
        let fresh = shell.record(news("fresh"), writtenAt: truth)
        #expect(shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [fresh])).sends.count == 1)
        let stale = shell.record(news("stale"), writtenAt: truth - .seconds(901))
        let expired = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [stale]))
        #expect(expired.outcomes == [.expired])
    }

    @Test func `an embargo holds for a minute after a step of the clock, whatever the new time says`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let embargo = shell.wall + .seconds(600)
        #expect(shell.publish(news("a", #","embargoUntil":"\#(embargo)""#)).sends.isEmpty)
        shell.wallOffset = .seconds(3600)
        _ = shell.take(.alarm)
        #expect(shell.wait(.seconds(30)).sends.isEmpty)
        shell.wallOffset = .zero
        #expect(shell.wait(.seconds(500)).sends.isEmpty, "the step was a mistake")
        #expect(shell.wait(.seconds(75)).sends.count == 1)
    }

    @Test func `a step of the clock counts after a minute`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.publish(news("a", #","embargoUntil":"\#(shell.wall + .seconds(600))""#))
        shell.wallOffset = .seconds(3600)
        _ = shell.take(.alarm)
        #expect(shell.wait(.seconds(59)).sends.isEmpty)
        #expect(shell.wait(.seconds(2)).sends.count == 1)
    }

    @Test func `an embargo does not end by a clock that is ahead of the hub's`() throws {
        var shell = try TestShell { $0.asksHubForTime = true }
        let truth = shell.wall
        shell.wallOffset = .seconds(3600)
        _ = shell.assign()
        // By our clock the embargo has ended: the hub is asked.
        let asked = shell.publish(news("a", #","embargoUntil":"\#(truth + .seconds(600))""#))
        #expect(asked.sends.isEmpty && asked.asksForTime)
        #expect(shell.take(.hubDate(truth)).sends.isEmpty)
        #expect(shell.wait(.seconds(599)).sends.isEmpty)
        #expect(shell.wait(.seconds(2)).sends.count == 1)
    }

    @Test func `the hub's time counts after a step of our clock, although the hub is silent`() throws {
        var shell = try TestShell { $0.asksHubForTime = true }
        let truth = shell.wall
        _ = shell.assign()
        _ = shell.take(.hubDate(truth))
        _ = shell.publish(news("a", #","embargoUntil":"\#(truth + .seconds(4_200))""#))
        shell.wallOffset = .seconds(7_200)
        _ = shell.take(.alarm)
        #expect(shell.wait(.seconds(4_199)).sends.isEmpty)
        #expect(shell.wait(.seconds(2)).sends.count == 1)
    }

    @Test func `no embargo ends before the hub has told its time`() throws {
        var shell = try TestShell { $0.asksHubForTime = true }
        let truth = shell.wall
        shell.wallOffset = .seconds(7_200)
        _ = shell.assign()
        let asked = shell.publish(news("a", #","embargoUntil":"\#(truth + .seconds(6_800))""#))
        #expect(asked.asksForTime)
        let silence = shell.wait(.seconds(600))
        #expect(silence.sends.isEmpty && silence.asksForTime, "the hub is asked again")
        #expect(shell.status.waits.map(\.reason) == [.embargo, .time])
        #expect(shell.publish(news("b")).sends.count == 1, "other news does not wait")
        #expect(shell.take(.hubDate(truth + .seconds(600))).sends.isEmpty)
        #expect(shell.wait(.seconds(6_199)).sends.isEmpty)
        #expect(shell.wait(.seconds(2)).sends.count == 1)
    }

    @Test func `a process that shuts down while it asks the hub for the time is not woken in vain`() throws {
        var shell = try TestShell { $0.asksHubForTime = true }
        _ = shell.assign()
        _ = shell.publish(news("a", #","embargoUntil":"\#(shell.wall)""#))
        #expect(shell.status.waits.map(\.reason) == [.time])
        _ = shell.take(.drain)
        _ = shell.wait(.seconds(5))
        #expect(shell.engine.wakeAt.map { $0 > shell.now + .seconds(1) } ?? true)
    }

    @Test func `a step of the clock does not prolong the wait for the hub's answer`() throws {
        var shell = try TestShell { $0.asksHubForTime = true }
        _ = shell.assign()
        #expect(shell.publish(news("a", #","embargoUntil":"\#(shell.wall)""#)).sends.isEmpty)
        _ = shell.wait(.seconds(2))
        shell.wallOffset = .seconds(-3600)
        _ = shell.take(.alarm)
        _ = shell.wait(.seconds(1))
        #expect(shell.publish(news("b")).sends.count == 1)
    }

    @Test func `a retry does not expire by a clock that is ahead of the hub's`()
        throws
    {
        var shell = try TestShell {
            $0.asksHubForTime = true
            $0.lanes[0].maxAge = .seconds(900)
        }
        _ = shell.assign()
        let truth = shell.wall
        let sent = try #require(shell.publish(news("a")).sends.first)
        shell.wallOffset = .seconds(10_000)
        _ = shell.take(.reply(.unknown(SendFailure(.requestTimeout, "timeout")), to: sent.id))
        let asked = shell.wait(.milliseconds(1))
        #expect(asked.outcomes.isEmpty && asked.asksForTime)
        // A record of that time agrees with the hub.
        let fresh = shell.record(news("b"), writtenAt: truth)
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [fresh]))
        #expect(shell.take(.hubDate(truth)).sends.count == 1, "only the fresh event leaves at once")
        let later = shell.wait(.seconds(130))
        #expect(later.sends.count == 1 && later.outcomes.isEmpty)
    }

    @Test func `a record of the future grows old from when it was read`() throws {
        var shell = try TestShell {
            $0.lanes[0].maxAge = .seconds(900)
            $0.connections = 1
        }
        _ = shell.assign()
        let first = shell.publish(news("x"))
        let future = shell.record(news("a"), writtenAt: shell.wall + .seconds(86_400))
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [future]))
        _ = shell.wait(.seconds(901))
        #expect(shell.reply(201, to: first.sends[0]).outcomes == [.accepted, .expired])
    }

    @Test(arguments: [-10_000_000_000_000, .min, .max] as [Int64])
    func `a record time far outside any calendar ends as something`(milliseconds: Int64) throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(900) }
        _ = shell.assign()
        let odd = shell.record(news("a"), writtenAt: Instant(milliseconds: milliseconds))
        let actions = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [odd]))
        #expect(actions.outcomes.count + actions.sends.count == 1)
        for ending in actions.endings {
            var bytes: [UInt8] = []
            ending.result.encode(into: &bytes)
            #expect(!bytes.isEmpty)
        }
    }
}
