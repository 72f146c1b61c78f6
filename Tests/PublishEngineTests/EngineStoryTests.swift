import KafkaModel
import NewsModel
import PublishEngine
import Testing

struct EngineStoryTests {
    @Test func `updates of a story leave one after another, other stories do not wait`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a1", story: "a"), news("a2", story: "a"), news("b1", story: "b"))
        #expect(sent.sends.map { $0.text.contains("a1") } == [true, false])
        let next = shell.reply(201, to: sent.sends[0])
        #expect(next.sends.count == 1)
        #expect(next.sends[0].text.contains("a2"))
    }

    @Test func `a retry holds back its own story only`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = shell.publish(news("a1", story: "a"), news("a2", story: "a"))
        #expect(shell.reply(503, to: sent.sends[0]).sends.isEmpty)
        #expect(shell.publish(news("b1", story: "b")).sends.count == 1)
        let retried = shell.wait(.seconds(2)).sends
        #expect(retried.count == 1)
        #expect(retried[0].text.contains("a1"))
    }

    @Test func `a newer version supersedes the older ones that are still waiting`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let sent = shell.publish(
            news("x"), news("s1", story: "s", version: 1), news("s2", story: "s", version: 2),
            news("s3", story: "s", version: 3))
        #expect(sent.outcomes == [.superseded, .superseded])
        #expect(sent.endings.map(\.result.eventID) == ["s1", "s2"])
        #expect(shell.reply(201, to: sent.sends[0]).sends.map { $0.text.contains("s3") } == [true])
    }

    @Test func `an older version that comes late is not sent`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let newer = shell.publish(news("s2", story: "s", version: 2))
        _ = shell.store(shell.reply(201, to: newer.sends[0]))
        let older = shell.publish(news("s1", story: "s", version: 1))
        #expect(older.sends.isEmpty)
        #expect(older.outcomes == [.superseded])
    }

    @Test func `the same id and version is sent once, a new version again`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a", version: 1))
        _ = shell.reply(201, to: first.sends[0])
        #expect(shell.publish(news("a", version: 1)).outcomes == [.duplicate])
        #expect(shell.publish(news("a", version: 2)).sends.count == 1)
    }

    @Test func `an event that was refused may come again`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("a"))
        let rejected = shell.reply(400, to: first.sends[0])
        #expect(rejected.outcomes == [.rejected])
        _ = shell.store(rejected)
        #expect(shell.publish(news("a")).sends.count == 1)
    }

    @Test func `a recall stops deliveries that have not left`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let sent = shell.publish(
            news("x"), news("s1", story: "s"), news("s2", story: "s", status: "canceled"), news("y"))
        #expect(sent.endings.map(\.result.eventID) == ["s1", "s2"])
        #expect(sent.outcomes == [.canceled, .canceled])
        #expect(shell.reply(201, to: sent.sends[0]).sends.map { $0.text.contains("\"id\":\"y\"") } == [true])
    }

    @Test(arguments: [(1, 2), (2, 2), (nil, nil)] as [(Int?, Int?)])
    func `a withheld event ends the older versions that wait, and those that arrive later`(_ older: Int?, _ newer: Int?)
        throws
    {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let sent = shell.publish(news("x"), news("s1", story: "s", version: older), news("y"))
        let withheld = shell.publish(news("s2", story: "s", version: newer, status: "withheld"))
        #expect(withheld.endings.map(\.result.eventID) == ["s1", "s2"])
        #expect(withheld.outcomes == [.superseded, .withheld])
        #expect(shell.reply(201, to: sent.sends[0]).sends.map { $0.text.contains("y") } == [true])
        if older != newer { #expect(shell.publish(news("s1b", story: "s", version: older)).outcomes == [.superseded]) }
    }

    @Test(
        arguments: [
            (nil, 2, #","users":["r1","r2"]"#, #","users":["r2","r1","r2"]"#), (1, nil, "", ""), (nil, 2, "", ""),
            (nil, nil, #","users":["r1"]"#, ""),
        ] as [(Int?, Int?, String, String)])
    func `a withheld event ends its own alert, whatever the order of its readers and whichever has a version`(
        _ older: Int?, _ newer: Int?, _ users: String, _ others: String
    ) throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        _ = shell.publish(news("x"), news("s", version: older, users))
        let withheld = shell.publish(news("s", version: newer, status: "withheld", others))
        #expect(withheld.outcomes == [.superseded, .withheld])
    }

    @Test func `a correction for the same readers in another order supersedes the alert`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let sent = shell.publish(
            news("x"), news("s", version: 1, #","users":["r1","r2"]"#), news("s", version: 2, #","users":["r2","r1"]"#))
        #expect(sent.outcomes == [.superseded])
    }

    @Test func `a withheld event does not end a newer version that waits`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let sent = shell.publish(
            news("x"), news("s3", story: "s", version: 3), news("s2", story: "s", version: 2, status: "withheld"))
        #expect(sent.outcomes == [.withheld])
        #expect(shell.reply(201, to: sent.sends[0]).sends.map { $0.text.contains("s3") } == [true])
    }

    @Test func `a withheld event is not sent`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let actions = shell.publish(news("a", status: "withheld"))
        #expect(actions.outcomes == [.withheld])
        #expect(actions.sends.isEmpty)
    }

    @Test func `an embargo is waited for`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let embargo = shell.wall + .seconds(60)
        #expect(shell.publish(news("a", #","embargoUntil":"\#(embargo)""#)).sends.isEmpty)
        #expect(shell.wait(.seconds(59)).sends.isEmpty)
        #expect(shell.wait(.seconds(1)).sends.count == 1)
    }

    @Test func `an event past its expiry, or its lane's maximum age, is not sent`() throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(900) }
        _ = shell.assign()
        #expect(shell.publish(news("a", #","expiresAt":"2020-01-01T00:00:00Z""#)).outcomes == [.expired])
        let old = shell.record(news("b"), writtenAt: shell.now - .seconds(901))
        #expect(
            shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [old])).outcomes
                == [.expired])
        #expect(shell.publish(news("c")).sends.count == 1)
    }
}
