import KafkaModel
import NewsModel
import Testing

@testable import PublisherService

struct LagTests {
    private let first = TopicPartition(topic: "news.events", partition: 0)
    private let second = TopicPartition(topic: "news.events", partition: 1)

    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test func `a record that waits has waited since the measurement that found it`() {
        var lag = Lag()
        lag.measure([.init(partition: first, committed: 5, end: 7)], at: at(10))
        lag.measure([.init(partition: first, committed: 5, end: 9)], at: at(15))
        #expect(lag.records == 4)
        #expect(lag.since == at(10))
        lag.measure([.init(partition: first, committed: 9, end: 9)], at: at(20))
        #expect(lag.records == 0)
        #expect(lag.since == nil)
    }

    @Test func `in a steady stream no record is older than the last measurement`() {
        var lag = Lag()
        for second: Int64 in 0..<100 {
            lag.measure([.init(partition: first, committed: second * 300, end: second * 300 + 200)], at: at(second))
        }
        #expect(lag.records == 200)
        #expect(lag.since == at(99))
    }

    @Test func `a partition that stands still is not hidden by one that moves`() {
        var lag = Lag()
        for second: Int64 in 0..<100 {
            lag.measure(
                [
                    .init(partition: first, committed: 5, end: 6),
                    .init(partition: self.second, committed: second * 300, end: second * 300 + 200),
                ], at: at(second))
        }
        #expect(lag.since == at(0))
    }

    @Test func `a partition that was given up leaves nothing behind`() {
        var lag = Lag()
        lag.measure([.init(partition: first, committed: 5, end: 7)], at: at(10))
        lag.measure([], at: at(15))
        #expect(lag.since == nil)
        lag.measure([.init(partition: first, committed: 5, end: 7)], at: at(20))
        #expect(lag.since == at(20))
    }
}
