import EditorialControl
import KafkaModel
import NewsModel
import Testing

@testable import PublishEngine

/// The news that editors' stops hold back, as it is shown before somebody resumes.
struct StoppedNewsTests {
    private func stopped(_ shell: TestShell) -> [StoppedNews] {
        shell.engine.stoppedNews(at: Moment(steady: shell.now, wall: shell.wall))
    }

    @Test func `a stop of the hub counts what waits by category, with the oldest and what expires soon`() throws {
        var shell = try TestShell { $0.lanes[0].maxAge = .seconds(900) }
        _ = shell.assign()
        #expect(stopped(shell).isEmpty)
        _ = shell.take(.orders([.stop(.hub)]))
        #expect(stopped(shell).isEmpty, "nothing waits yet")
        let first = shell.wall
        _ = shell.publish(news("a"), news("b"))
        _ = shell.wait(.seconds(640))
        _ = shell.publish(news("c", category: "Sports"))
        let found = try #require(stopped(shell).first)
        #expect(stopped(shell).count == 1)
        #expect((found.gate, found.events) == (.hub, 3))
        #expect(found.categories == ["World": 2, "Sports": 1])
        #expect(found.oldest == first)
        #expect((found.expiring, found.nextExpiry) == (2, first + .seconds(900)))
        _ = shell.wait(.seconds(300))
        let later = try #require(stopped(shell).first)
        #expect((later.tooOld, later.expiring, later.nextExpiry) == (2, 0, first + .seconds(640 + 900)))
        #expect(shell.take(.orders([.resume(.hub)])).outcomes == [.expired, .expired])
        #expect(stopped(shell).isEmpty)
    }

    @Test func `a stop of a category counts only its own events, and shards add up`() throws {
        var shell = try TestShell { $0.lanes[0].maxAge = nil }
        _ = shell.assign()
        _ = shell.take(.orders([.stop(.category("World"))]))
        #expect(shell.publish(news("a"), news("b", category: "Sports")).sends.count == 1)
        var found = try #require(stopped(shell).first)
        #expect((found.gate.word, found.events, found.nextExpiry) == ("category:World", 1, nil))
        found.add(found)
        #expect((found.events, found.categories) == (2, ["World": 2]))
    }

    @Test func `records with a stored result are settled although they are not committed`() throws {
        var shell = try TestShell()
        shell.answersCommits = false
        _ = shell.assign()
        let sent = shell.publish(news("a"), news("b"))
        #expect(shell.engine.lowWatermarks == [TestShell.source: 0])
        _ = shell.store(shell.reply(201, to: sent.sends[0]))
        #expect(shell.engine.lowWatermarks == [TestShell.source: 1])
        _ = shell.store(shell.reply(201, to: sent.sends[1]))
        #expect(shell.engine.lowWatermarks == [TestShell.source: 2])
    }
}
