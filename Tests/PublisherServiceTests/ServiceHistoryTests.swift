import KafkaModel
import NewsModel
import PublishEngine
import Testing

@testable import PublisherService

/// The last hour, which a dashboard shows as soon as it is opened.
struct ServiceHistoryTests {
    private func at(_ seconds: Int64) -> Instant { Instant(milliseconds: 0) + .seconds(seconds) }

    @Test func `a point has the rates of its own ten seconds`() {
        var history = ServiceHistory()
        var tally = Tally(lanes: 2, categories: 1)
        history.add(tally, at: at(0))
        tally.requests = 50
        history.add(tally, at: at(5))
        #expect(history.points.isEmpty, "five seconds are too short")
        history.add(tally, at: at(10))
        tally.requests = 70
        history.add(tally, at: at(20))
        #expect(history.points.map(\.requests) == [5, 2])
        #expect(history.points.map(\.at) == [at(10), at(20)])
        #expect(history.points[0].lanes.map(\.rate) == [0, 0])
        #expect(history.points[0].lanes[1].p50 == nil, "nothing had an outcome")
    }

    @Test func `an hour is kept, and a clock that is set back makes no point`() {
        var history = ServiceHistory()
        var tally = Tally(lanes: 1, categories: 0)
        for second in 0...5_000 {
            tally.requests += 1
            history.add(tally, at: at(Int64(second)))
        }
        #expect(history.points.count == 361)
        #expect(history.points.allSatisfy { $0.requests == 1 })
        history.add(tally, at: at(100))
        history.add(tally, at: at(105))
        #expect(history.points.count == 361)
    }

    @Test func `percentiles are those of the interval, not of all time`() throws {
        var early = LatencyHistogram()
        for _ in 0..<1_000 { early.add(.seconds(12)) }
        var late = early
        late.add(.milliseconds(20))
        let median = try #require(late.since(early).quantile(0.5))
        #expect(median < 0.05)
        #expect(late.since(late).quantile(0.5) == nil)
    }
}
