import NewsModel
import Testing

@testable import KafkaIO
@testable import PublisherService

struct QuotaDelayTests {
    private let start = Instant(milliseconds: 1_000_000)

    private func statistics(_ milliseconds: Int64) -> KafkaStatistics {
        var statistics = KafkaStatistics()
        var broker = KafkaStatistics.Broker(name: "a")
        broker.throttled = milliseconds
        statistics.brokers = [broker]
        return statistics
    }

    @Test func `a delay by a quota is a reason until it is over, although later statistics do not show it`() {
        var delay = QuotaDelay()
        delay.note(statistics(30_000), at: start)
        delay.note(statistics(0), at: start + .seconds(5))
        let reason = delay.notReady(lane: "live", at: start + .seconds(29))
        #expect(reason?.code == "kafka-quota" && reason?.detail.contains("live") == true)
        #expect(delay.notReady(lane: "live", at: start + .seconds(36)) == nil)
    }

    @Test func `a short delay is no reason`() {
        var delay = QuotaDelay()
        delay.note(statistics(900), at: start)
        #expect(delay.notReady(lane: "live", at: start) == nil)
    }
}
