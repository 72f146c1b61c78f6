import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine
import Testing

/// After a standstill of the process nothing leaves until the current orders and assignment are confirmed.
@Suite struct EngineStandstillTests {
    @Test func `after a standstill nothing leaves until orders and partitions are confirmed`() throws {
        var shell = try TestShell { $0.connections = 1 }
        shell.answersCommits = false
        let first = try #require((shell.assign() + shell.publish(news("a"), news("b"))).sends.first)
        answerCommit(&shell)
        let woken = shell.take(.stoodStill(.seconds(40)))
        #expect(woken.confirmations == [1])
        let commits = woken.commits + shell.wait(.seconds(1)).commits
        #expect(commits.count == 1, "the broker takes a commit only from the owner")
        #expect(shell.reply(201, to: first).sends.isEmpty)
        #expect(shell.status.waits.contains { $0.reason == .standstill && $0.isAlarming })
        #expect(shell.take(.committed(TestShell.live, TestShell.first, commits[0])).sends.isEmpty)
        #expect(shell.take(.ordersConfirmed(1)).sends.count == 1)
        #expect(!shell.status.waits.contains { $0.reason == .standstill })
    }

    @Test func `an order that came during a standstill is obeyed before anything leaves`() throws {
        var shell = try TestShell { $0.connections = 1 }
        let first = try #require((shell.assign() + shell.publish(news("a"), news("b"))).sends.first)
        _ = shell.take(.stoodStill(.seconds(40)))
        _ = shell.wait(.seconds(1))
        #expect(shell.reply(201, to: first).sends.isEmpty)
        _ = shell.take(.orders([.stop(.hub)]))
        #expect(shell.take(.ordersConfirmed(1)).sends.isEmpty)
    }

    @Test func `a partition that was lost during a standstill sends nothing`() throws {
        var shell = try TestShell()
        shell.answersCommits = false
        _ = shell.assign()
        _ = shell.take(.stoodStill(.seconds(40)))
        _ = shell.take(.ordersConfirmed(1))
        #expect(shell.publish(news("a")).sends.isEmpty, "it was fetched before the standstill")
        let refused = KafkaFailure(code: "UNKNOWN_MEMBER_ID", detail: "the group has gone on")
        #expect(shell.take(.committed(TestShell.live, TestShell.first, offsets: [], failure: refused)).sends.isEmpty)
        let lost = KafkaEvent.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: true)
        #expect(shell.take(lost).sends.isEmpty)
        #expect(shell.wait(.seconds(60)).sends.isEmpty)
    }

    @Test func `the answer to a commit from before a standstill confirms nothing`() throws {
        var shell = try TestShell { $0.connections = 1 }
        shell.answersCommits = false
        var actions = shell.assign() + shell.publish(news("a"), news("b"))
        actions += shell.take(.endReached(TestShell.live, TestShell.first, TestShell.source, offset: 2))
        actions += shell.wait(.seconds(10))
        let before = try #require(actions.commits.first)
        _ = shell.take(.stoodStill(.seconds(40)))
        _ = shell.take(.ordersConfirmed(1))
        let stale = shell.take(.committed(TestShell.live, TestShell.first, before))
        #expect(shell.reply(201, to: actions.sends[0]).sends.isEmpty)
        let again = try #require((stale + shell.wait(.seconds(10))).commits.first)
        #expect(shell.take(.committed(TestShell.live, TestShell.first, again)).sends.count == 1)
    }

    @Test func `the answer about an earlier standstill does not end a later one`() throws {
        var shell = try TestShell { $0.connections = 1 }
        let first = try #require((shell.assign() + shell.publish(news("a"), news("b"))).sends.first)
        _ = shell.take(.stoodStill(.seconds(40)))
        #expect(shell.take(.stoodStill(.seconds(5))).confirmations == [2])
        _ = shell.wait(.seconds(1))
        _ = shell.reply(201, to: first)
        #expect(shell.take(.ordersConfirmed(1)).sends.isEmpty)
        #expect(shell.take(.ordersConfirmed(2)).sends.count == 1)
    }

    private func answerCommit(_ shell: inout TestShell) {
        for offsets in shell.wait(.seconds(10)).commits {
            _ = shell.take(.committed(TestShell.live, TestShell.first, offsets))
        }
    }
}

extension [Action] {
    /// The numbers of the questions about orders.
    fileprivate var confirmations: [UInt64] {
        compactMap { if case .confirmOrders(let number) = $0 { number } else { nil } }
    }
}
