import KafkaModel
import NewsModel
import PublishEngine
import Testing

struct EngineShareTests {
    @Test func `partitions of a topic of unknown length give no share of the rate`() throws {
        var shell = try TestShell { $0.rate = .init(perSecond: 10, burst: 4) }
        _ = shell.assign()
        _ = shell.take(.partitionCounts(["archive": 3], readIn: [TestShell.first]))
        #expect(shell.wait(.seconds(10)).isEmpty)
        #expect(shell.publish(news("1")).sends.isEmpty)
        _ = shell.take(.partitionCounts(["archive": 3, "news": 1], readIn: [TestShell.first]))
        #expect(shell.wait(.seconds(1)).sends.count == 1)
    }

    @Test func `a revoked partition leaves nothing in the queues`() throws {
        var shell = try TestShell { $0.connections = 1 }
        _ = shell.assign()
        #expect(shell.publish(news("1"), news("2")).sends.count == 1)
        #expect(shell.engine.counts.ready == 1)
        _ = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: true))
        #expect(shell.engine.counts.ready == 0)
    }
}
