import KafkaModel
import NewsModel
import Testing

@testable import PublisherService

struct LagTests {
    private let first = TopicPartition(topic: "news.events", partition: 0)
    private let second = TopicPartition(topic: "news.events", partition: 1)

    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test func `a waiting record counts from the measurement that found it`() {
        var lag = Lag()
        lag.measure([.init(partition: first, committed: 5, end: 7)], at: at(10))
        lag.measure([.init(partition: first, committed: 5, end: 9)], at: at(15))
        #expect(lag.records == 4)
        #expect(lag.since() == at(10))
        lag.measure([.init(partition: first, committed: 9, end: 9)], at: at(20))
        #expect(lag.records == 0)
        #expect(lag.since() == nil)
    }

    @Test func `a record that has its result and waits for the commit has no age`() {
        var lag = Lag()
        lag.measure(
            [.init(partition: first, committed: 5, end: 9), .init(partition: second, committed: 0, end: 3)], at: at(10))
        #expect(lag.since(settled: [first: 8, second: 3]) == at(10))
        #expect(lag.since(settled: [first: 9, second: 3]) == nil)
        #expect(lag.since(settled: [first: 9]) == at(10), "nothing is known of the second partition")
        #expect(lag.records == 7)
    }

    @Test func `a partition that was not measured keeps its records and their age`() {
        var lag = Lag()
        lag.measure(
            [.init(partition: first, committed: 5, end: 7), .init(partition: second, committed: 0, end: 3)], at: at(10))
        lag.measure([.init(partition: second, committed: 3, end: 3)], unmeasured: [first], at: at(15))
        #expect(lag.records == 2)
        #expect(lag.since() == at(10))
        lag.measure([.init(partition: second, committed: 3, end: 3)], at: at(20))
        #expect(lag.records == 0, "it belongs to another process now")
    }

    @Test func `no record waits only if all partitions were measured`() {
        var lag = Lag()
        lag.measure([.init(partition: second, committed: 3, end: 3)], unmeasured: [first], at: at(10))
        #expect(lag.age(settled: [:], at: at(11)) == nil)
        lag.measure([.init(partition: second, committed: 3, end: 4)], unmeasured: [first], at: at(15))
        #expect(lag.age(settled: [:], at: at(16)) == .seconds(1))
        lag.measure(
            [.init(partition: second, committed: 4, end: 4), .init(partition: first, committed: 3, end: 3)], at: at(20))
        #expect(lag.age(settled: [:], at: at(21)) == .zero)
    }

    @Test func `in a steady stream no record is older than the last measurement`() {
        var lag = Lag()
        for second: Int64 in 0..<100 {
            lag.measure([.init(partition: first, committed: second * 300, end: second * 300 + 200)], at: at(second))
        }
        #expect(lag.records == 200)
        #expect(lag.since() == at(99))
    }

    @Test func `a partition without progress is not hidden by another one's`() {
        var lag = Lag()
        for second: Int64 in 0..<100 {
            lag.measure(
                [
                    .init(partition: first, committed: 5, end: 6),
                    .init(partition: self.second, committed: second * 300, end: second * 300 + 200),
                ], at: at(second))
        }
        #expect(lag.since() == at(0))
    }

    @Test func `records behind an open transaction count as lag, and as hidden while it is open`() {
        var lag = Lag()
        lag.measure([.init(partition: first, committed: 5, stable: 5, end: 9)], at: at(10))
        #expect(lag.hidden(for: .seconds(10), at: at(10)).isEmpty)
        lag.measure([.init(partition: first, committed: 5, stable: 5, end: 12)], at: at(20))
        #expect(lag.records == 7 && lag.since() == at(10) && lag.readableSince() == nil)
        let hidden = lag.hidden(for: .seconds(10), at: at(20))
        #expect(hidden.map(\.partition) == [first])
        #expect(hidden.map(\.1) == [.init(from: 5, records: 7, since: at(10))])
        lag.measure([.init(partition: first, committed: 5, stable: 12, end: 12)], at: at(25))
        #expect(lag.hidden.isEmpty && lag.readableSince() == at(10))
    }

    @Test func `transactions that end in time hide no records`() {
        var lag = Lag()
        for second: Int64 in 0..<100 {
            let stable = second * 300
            lag.measure([.init(partition: first, committed: stable, stable: stable, end: stable + 200)], at: at(second))
            #expect(lag.hidden(for: .seconds(10), at: at(second)).isEmpty)
        }
        #expect(lag.hidden.count == 1)
    }

    @Test func `records before an open transaction count as readable`() {
        var lag = Lag()
        lag.measure([.init(partition: first, committed: 3, stable: 5, end: 9)], at: at(10))
        #expect(lag.readableSince() == at(10))
    }

    @Test func `a partition that may not be read does not hide that another one is not read`() {
        var lag = Lag()
        lag.measure([.init(partition: first, committed: 3, end: 9)], at: at(10))
        lag.measure(
            [.init(partition: first, committed: 3, end: 9), .init(partition: second, committed: 3, end: 9)], at: at(20))
        #expect(lag.readableSince(without: [first]) == at(20))
        #expect(lag.readableSince(without: [first, second]) == nil)
    }

    @Test func `a revoked partition leaves no lag`() {
        var lag = Lag()
        lag.measure([.init(partition: first, committed: 5, end: 7)], at: at(10))
        lag.measure([], at: at(15))
        #expect(lag.since() == nil)
        lag.measure([.init(partition: first, committed: 5, end: 7)], at: at(20))
        #expect(lag.since() == at(20))
    }
}
