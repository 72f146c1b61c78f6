import ByteText
import NewsModel
import Testing

@testable import PublishEngine

struct PaceTests {
    /// Takes a token whenever permitted, at random moments, and records the times.
    private func takes(rate: Int, burst: Int, share: TokenBucket.Share, seed: UInt64) -> [Int64] {
        var random = SeededRandom(seed: seed)
        var now = Instant(nanoseconds: 0)
        var bucket = TokenBucket(rate: rate, burst: burst, share: share, emptyAt: now)
        var times: [Int64] = []
        while times.count < 3000 {
            now = now + .nanoseconds(Int64.random(in: 0...4_000_000, using: &random))
            if Int.random(in: 0..<500, using: &random) == 0 { now = now + .seconds(1) }
            while bucket.ask(at: now) == .now, times.count < 3000 {
                bucket.take(at: now)
                times.append(now.nanoseconds)
            }
        }
        return times
    }

    @Test(arguments: [(1, 1), (500, 50), (500, 1), (333, 7), (12_800, 64)], [UInt64(1), 2, 3])
    func `no window holds more than rate times its length plus the burst`(pace: (Int, Int), seed: UInt64) {
        let (rate, burst) = pace
        let times = takes(rate: rate, burst: burst, share: .whole, seed: seed)
        for start in stride(from: 0, to: times.count, by: 7) {
            for end in stride(from: start, to: min(start + 2000, times.count), by: 11) {
                let length = Double(times[end] - times[start]) / 1e9
                #expect(Double(end - start + 1) <= Double(rate) * length + Double(burst) + 1e-6)
            }
        }
    }

    @Test func `shares of a rate add up to no more than the rate`() {
        let parts = (0..<3).map { takes(rate: 500, burst: 9, share: .init(part: 1, total: 3), seed: UInt64($0)) }
        let all = parts.flatMap { $0 }.sorted()
        let length = Double((all.last ?? 0) - (all.first ?? 0)) / 1e9
        #expect(Double(all.count) <= 500 * length + 9)
    }

    @Test(arguments: [[1, 1, 1], [4, 1, 1], [2, 3, 3], [7, 1, 2], [1, 1, 98]], [3, 5, 7, 50])
    func `shares of a burst add up to no more than the burst`(parts: [Int], burst: Int) {
        let (total, start) = (parts.reduce(0, +), Instant(nanoseconds: 0))
        let bursts = parts.map { part in
            TokenBucket(rate: 10, burst: burst, share: .init(part: part, total: total), emptyAt: start)
                .available(at: start + .seconds(1000))
        }
        #expect(bursts.allSatisfy { $0 >= 1 })
        #expect(bursts.reduce(0, +) <= burst)
    }

    @Test func `a new bucket is empty and one that waited is full`() {
        let start = Instant(nanoseconds: 0)
        var bucket = TokenBucket(rate: 10, burst: 5, emptyAt: start)
        #expect(bucket.available(at: start) == 0)
        #expect(bucket.ask(at: start) == .notBefore(start + .milliseconds(100)))
        let later = start + .seconds(60)
        #expect(bucket.available(at: later) == 5)
        for _ in 0..<5 { bucket.take(at: later) }
        #expect(bucket.ask(at: later) == .notBefore(later + .milliseconds(100)))
    }

    @Test func `a less urgent lane leaves half the burst`() {
        let start = Instant(nanoseconds: 0)
        var bucket = TokenBucket(rate: 10, burst: 11, emptyAt: start)
        let full = start + .seconds(10)
        var taken = 0
        while bucket.ask(at: full, reserve: 50) == .now {
            bucket.take(at: full)
            taken += 1
        }
        #expect(taken == 6)
        #expect(bucket.ask(at: full) == .now)
    }

    @Test func `retries wait longer each time, up to the longest, and never the same`() {
        var random = SeededRandom(seed: 7)
        let schedule = RetrySchedule(attempts: 8, first: .milliseconds(500), longest: .seconds(10))
        for attempt in 1...40 {
            let full = min(Duration.milliseconds(500) * (1 << min(attempt - 1, 10)), .seconds(10))
            for _ in 0..<20 {
                let delay = schedule.delay(afterAttempt: attempt, using: &random)
                #expect(delay >= full / 2 && delay <= full)
            }
        }
    }

    @Test func `concurrency grows while the hub keeps up and falls when it does not`() {
        var limit = ConcurrencyLimit(maximum: 256)
        var now = Instant(nanoseconds: 0)
        for _ in 0..<2000 {
            now = now + .milliseconds(1)
            limit.accepted(roundTrip: .milliseconds(20), inFlight: limit.limit, at: now)
        }
        #expect(limit.limit == 256)
        for _ in 0..<2000 {
            now = now + .milliseconds(1)
            limit.refused(at: now)
        }
        #expect(limit.limit < 10)
        #expect(limit.limit >= 1)
    }

    @Test func `more connections raise the limit at once while the hub has refused nothing`() {
        var limit = ConcurrencyLimit(maximum: 2)
        limit.change(maximum: 8)
        #expect(limit.limit == 8)
        limit.change(maximum: 2)
        limit.change(maximum: 64)
        #expect(limit.limit == 16, "the limit that a hub meets first, whenever its connections came")
        limit.change(maximum: 8)
        limit.refused(at: Instant(nanoseconds: 1))
        limit.change(maximum: 64)
        #expect(limit.limit == 7, "what the hub has refused is not tried again at once")
    }

    @Test func `concurrency keeps to the connections that there are now`() {
        var limit = ConcurrencyLimit(maximum: 2)
        var now = Instant(nanoseconds: 0)
        func keepUp() {
            for _ in 0..<500 {
                now = now + .milliseconds(1)
                limit.accepted(roundTrip: .milliseconds(2), inFlight: limit.limit, at: now)
            }
        }
        keepUp()
        #expect(limit.limit == 2)
        limit.change(maximum: 8)
        keepUp()
        #expect(limit.limit == 8)
        limit.change(maximum: 0)
        #expect(limit.limit == 0, "other shards have all connections")
        limit.change(maximum: 4)
        #expect(limit.limit == 4, "what the hub bears is not forgotten")
    }
}
