import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EngineReloadTests {
    private func rules(tag: String, message: String) throws -> ContentRules {
        let table = try CategoryTable([.init(name: "World", tag: tag)])
        return ContentRules(
            router: try Router(table: table), builder: try PayloadBuilder(PayloadSettings(message: message)))
    }

    @Test func `an event examined before a reload uses the old settings, its retries too`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        let first = try #require(shell.publish(news("1"), news("2")).sends.first)
        let new = Reload(rate: nil, rules: try rules(tag: "NewWorld", message: "new {{headline}}"), floodGuard: .init())
        #expect(shell.take(.reload(new)).sends.isEmpty)
        _ = shell.publish(news("3"))

        var open = shell.reply(503, to: first).sends
        var sent: [SentText] = []
        while let next = open.popLast() ?? shell.wait(.seconds(5)).sends.first {
            sent.append(SentText(tags: next.request.tags, text: next.text))
            open += shell.reply(201, to: next).sends
        }
        #expect(sent.count == 3)
        for request in sent {
            let isNew = request.text.contains("headline of 3")
            #expect(request.tags == (isNew ? "NewWorld" : "World"))
            #expect(request.text.contains("new headline") == isNew)
        }
    }

    private struct SentText {
        var tags: String
        var text: String
    }

    @Test func `records of a paused lane that were not examined use only the new settings`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        _ = shell.take(.pause(TestShell.live))
        _ = shell.publish(news("1"))
        _ = shell.take(
            .reload(
                Reload(rate: nil, rules: try rules(tag: "NewWorld", message: "new {{headline}}"), floodGuard: .init())))
        let sent = try #require(shell.take(.resume(TestShell.live)).sends.first)
        #expect(sent.request.tags == "NewWorld")
        #expect(sent.text.contains("new headline of 1"))
    }

    @Test func `an unchanged rate keeps its bucket, a changed one starts empty`() throws {
        let rate = EngineSettings.Rate(perSecond: 10, burst: 4)
        var shell = try TestShell { $0.rate = rate }
        _ = shell.assign()
        _ = shell.take(.partitionCounts(["news": 1], readIn: [TestShell.first]))
        _ = shell.wait(.seconds(10))
        let same = try rules(tag: "World", message: "{{headline}}")
        _ = shell.take(.reload(Reload(rate: rate, rules: same, floodGuard: .init())))
        #expect(shell.publish(news("1"), news("2")).sends.count == 2)
        _ = shell.take(.reload(Reload(rate: .init(perSecond: 100, burst: 4), rules: same, floodGuard: .init())))
        #expect(shell.publish(news("3")).sends.isEmpty)
        #expect(shell.wait(.milliseconds(10)).sends.count == 1)
        _ = shell.take(.reload(Reload(rate: nil, rules: same, floodGuard: .init())))
        #expect(shell.publish(news("4"), news("5"), news("6")).sends.count == 3)
    }
}
