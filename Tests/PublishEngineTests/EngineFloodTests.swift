import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// A lane stopped by a flood, and the ways to end the flood.
struct EngineFloodTests {
    /// Twenty undecodable records stop the lane; half of them are examined.
    private func flooded(change: (inout EngineSettings) -> Void = { _ in }) throws -> TestShell {
        var shell = try TestShell {
            $0.floodGuard = .init(sharePercent: 50, events: 20)
            change(&$0)
        }
        _ = shell.assign()
        let stopped = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, shell.garbage(20)))
        #expect(stopped.outcomes.count == 10)
        #expect(shell.isFlooded)
        return shell
    }

    @Test func `released to send, good events leave at once and failing ones end one by one`() throws {
        var shell = try flooded()
        #expect(shell.publish(news("good")).sends.isEmpty)
        let released = shell.take(.release(TestShell.live, .send, upTo: shell.ends))
        #expect(released.outcomes == Array(repeating: .undecodable, count: 10))
        #expect(released.sends.map(\.text).joined().contains("headline of good"))
        #expect(!shell.isFlooded)
    }

    @Test func `released to the dead letters, nothing that waits leaves, and what comes later does`() throws {
        var shell = try flooded()
        _ = shell.publish(news("good"))
        let released = shell.take(.release(TestShell.live, .deadLetter, upTo: shell.ends))
        #expect(released.sends.isEmpty)
        #expect(released.endings.map(\.result.outcome).last == .exhausted)
        #expect(released.endings.last?.result.error?.code == "released")
        shell.now = shell.now + .milliseconds(1)
        #expect(shell.publish(news("later")).sends.count == 1)
    }

    @Test(arguments: FloodRelease.allCases)
    func `records written before the release and read after it are released too`(_ decision: FloodRelease) throws {
        var shell = try flooded()
        let waiting = shell.garbage(100) + [shell.record(news("good"))]
        _ = shell.take(.release(TestShell.live, decision, upTo: shell.ends))
        shell.now = shell.now + .seconds(1)
        let actions = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, waiting))
        #expect(actions.outcomes.filter { $0 == .undecodable }.count == 100)
        #expect(!shell.isFlooded)
        #expect(actions.sends.count == (decision == .send ? 1 : 0))
    }

    /// Even if its own timestamp is earlier, because producers' clocks differ and mirrors keep old times.
    @Test func `records written after the release are sent`() throws {
        var shell = try flooded()
        let old = shell.wall - .seconds(3_600)
        _ = shell.take(.release(TestShell.live, .deadLetter, upTo: shell.ends))
        let later = shell.record(news("later"), writtenAt: old)
        #expect(shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [later])).sends.count == 1)
    }

    @Test func `no record is released on a partition whose end is not known`() throws {
        var shell = try flooded()
        _ = shell.publish(news("good"))
        let actions = shell.take(.release(TestShell.live, .deadLetter, upTo: [:]))
        #expect(!actions.outcomes.contains(.exhausted))
    }

    @Test func `a retry that waits ends too, as unknown if its attempt may have been accepted`() throws {
        var shell = try TestShell { $0.floodGuard = .init(sharePercent: 50, events: 20) }
        _ = shell.assign()
        let sent = shell.publish(news("a"), news("b")).sends
        _ = shell.reply(503, to: sent[0])
        _ = shell.take(.reply(.unknown(SendFailure(.reset, "reset")), to: sent[1].id))
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, shell.garbage(20)))
        _ = shell.take(.release(TestShell.live, .deadLetter, upTo: shell.ends))
        let actions = shell.wait(.seconds(60))
        #expect(actions.sends.isEmpty)
        #expect(
            Set(actions.endings.filter { $0.result.error?.code == "released" }.map(\.result.outcome)) == [
                .exhausted, .unknown,
            ])
    }

    @Test func `a lane without a flood is not released from anything`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.pause(TestShell.live))
        _ = shell.publish(news("a"))
        _ = shell.take(.release(TestShell.live, .deadLetter, upTo: shell.ends))
        #expect(shell.take(.resume(TestShell.live)).sends.count == 1)
    }

    @Test func `another flood stops the lane again`() throws {
        var shell = try flooded()
        _ = shell.take(.release(TestShell.live, .send, upTo: shell.ends))
        shell.now = shell.now + .seconds(1)
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, shell.garbage(20)))
        #expect(shell.isFlooded)
    }

    @Test func `other settings of the guard end a flood, the same do not`() throws {
        var shell = try flooded()
        let rules = ContentRules(router: try Router(), builder: try PayloadBuilder(PayloadSettings()))
        let same = FloodGuard.Settings(sharePercent: 50, events: 20)
        _ = shell.take(.reload(Reload(rate: nil, rules: rules, floodGuard: same)))
        #expect(shell.isFlooded)
        let off = FloodGuard.Settings(sharePercent: 0, events: 20)
        let released = shell.take(.reload(Reload(rate: nil, rules: rules, floodGuard: off)))
        #expect(released.outcomes.count == 10)
        #expect(!shell.isFlooded)
    }
}

extension TestShell {
    fileprivate var isFlooded: Bool { status.lanes[0].flood != nil }

    /// The ends of its partitions now.
    fileprivate var ends: [TopicPartition: Int64] { [TestShell.source: nextOffset] }

    fileprivate mutating func garbage(_ count: Int) -> [SourceRecord] { (0..<count).map { _ in record("no news") } }
}
