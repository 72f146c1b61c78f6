import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Replacements of recalled stories in a process that follows the control topic.
struct EngineReplacementTests {
    private func shell(_ change: (inout EngineSettings) -> Void = { _ in }) throws -> TestShell {
        var shell = try TestShell {
            $0.awaitsOrders = true
            change(&$0)
        }
        _ = shell.assign()
        _ = shell.take(.ordersKnown(true))
        return shell
    }

    private func header(_ order: String) -> [RecordHeader] { [RecordHeader(HeaderName.replacement, order)] }

    @Test func `a replacement leaves once the orders given before it are known and its recall is in force`() throws {
        var shell = try shell()
        _ = shell.take(.orders([.recall("s", "O1")]))
        let read = shell.publish(news("r", story: "s"), headers: header("O1"))
        #expect(read.questions == [1] && read.sends.isEmpty)
        let sent = shell.take(.ordersConfirmed(1)).sends
        #expect(sent.count == 1)
        // A retry needs no further question, because the process obeys every later order anyway.
        let retried = shell.reply(503, to: try #require(sent.first)) + shell.wait(.seconds(60))
        #expect(retried.sends.count == 1 && retried.questions.isEmpty)
    }

    @Test(arguments: [[OrderChange.recall("s", "O2")], []])
    func `a replacement whose recall the process never saw is canceled after the question, not before`(
        orders: [OrderChange]
    ) throws {
        var shell = try shell()
        _ = shell.take(.orders(orders))
        #expect(shell.publish(news("r", story: "s"), headers: header("O1")).outcomes.isEmpty)
        let confirmed = shell.take(.ordersConfirmed(1))
        #expect(confirmed.outcomes == [.canceled] && confirmed.sends.isEmpty)
        let error = try #require(confirmed.endings.first?.result.error)
        #expect(error.code == "recalled")
        #expect(
            error.detail
                == (orders.isEmpty
                    ? "the recall that it belongs to is over" : "the story was recalled by order O2"))
    }

    @Test func `a replacement that is read before its recall waits for it, behind another desk's recall too`() throws {
        var shell = try shell()
        _ = shell.publish(news("r", story: "s"), headers: header("O2"))
        #expect(shell.take(.orders([.recall("s", "O1")])).outcomes.isEmpty)
        _ = shell.take(.orders([.recall("s", "O2")]))
        #expect(shell.take(.ordersConfirmed(1)).sends.count == 1)
    }

    @Test func `the replacement of a recall that another one took the place of does not leave`() throws {
        var shell = try shell()
        _ = shell.take(.orders([.recall("s", "O1")]))
        _ = shell.publish(news("r", story: "s"), headers: header("O1"))
        #expect(shell.take(.orders([.recall("s", "O2")])).outcomes == [.canceled])
        #expect(shell.take(.ordersConfirmed(1)).sends.isEmpty)
    }

    @Test func `one question at a time is asked, and each replacement waits for one that followed it`() throws {
        var shell = try shell()
        _ = shell.take(.orders([.recall("s", "O1"), .recall("t", "O2")]))
        #expect(shell.publish(news("r1", story: "s"), headers: header("O1")).questions == [1])
        #expect(shell.publish(news("r2", story: "t"), headers: header("O2")).questions == [])
        let first = shell.take(.ordersConfirmed(1))
        #expect(first.sends.map(\.text).count { $0.contains("headline of r1") } == 1)
        #expect(first.sends.count == 1 && first.questions == [2])
        #expect(shell.take(.ordersConfirmed(2)).sends.count == 1)
    }

    @Test func `the answer to a standstill's question also confirms the replacements that had asked before`() throws {
        var shell = try shell()
        _ = shell.take(.orders([.recall("s", "O1")]))
        _ = shell.publish(news("r", story: "s"), headers: header("O1"))
        #expect(shell.take(.stoodStill(.seconds(40))).questions == [2])
        _ = shell.wait(.seconds(1))
        #expect(shell.take(.ordersConfirmed(2)).sends.count == 1)
    }

    @Test func `a replacement that waits for orders is reported if the answer takes long`() throws {
        var shell = try shell()
        _ = shell.publish(news("r", story: "s"), headers: header("O1"))
        #expect(!shell.status.waits.contains { $0.reason == .control })
        _ = shell.wait(.seconds(3))
        #expect(shell.status.waits.contains { $0.reason == .control && $0.isAlarming })
        _ = shell.take(.ordersConfirmed(1))
        #expect(!shell.status.waits.contains { $0.reason == .control })
    }

    @Test func `other news passes a replacement that waits for orders`() throws {
        var shell = try shell { $0.connections = 1 }
        _ = shell.publish(news("r", story: "s"), headers: header("O1"))
        #expect(shell.publish(news("a")).sends.count == 1)
    }
}

extension [Action] {
    /// The numbers of the questions about orders.
    fileprivate var questions: [UInt64] {
        compactMap { if case .confirmOrders(let number) = $0 { number } else { nil } }
    }
}
