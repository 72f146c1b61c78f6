import Testing

@testable import PublisherService

struct LatencyHistogramTests {
    @Test
    func `bounds rise by half an octave`() {
        let bounds = LatencyHistogram.bounds
        #expect(bounds.prefix(5) == [500_000, 750_000, 1_000_000, 1_500_000, 2_000_000])
        #expect(bounds == bounds.sorted())
        #expect(bounds.last == 6_291_456_000_000)
    }

    @Test
    func `a duration is counted in the first bucket whose bound is not below it`() {
        for (index, bound) in LatencyHistogram.bounds.enumerated() {
            #expect(LatencyHistogram.bucket(of: UInt64(bound)) == index)
            #expect(LatencyHistogram.bucket(of: UInt64(bound) + 1) == index + 1)
        }
        #expect(LatencyHistogram.bucket(of: 0) == 0)
        #expect(LatencyHistogram.bucket(of: .max) == LatencyHistogram.bounds.count)
    }

    @Test
    func `percentiles lie in the bucket of their rank`() throws {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        for milliseconds in 1...1000 { histogram.add(.milliseconds(milliseconds)) }
        for share in [0.01, 0.5, 0.9, 0.99, 1] {
            let value = try #require(histogram.quantile(share))
            #expect(abs(value / share - 1) < 0.34, "\(share): \(value)")
        }
        #expect(histogram.count == 1000)
        #expect(histogram.sum == 500_500_000_000)
    }

    @Test
    func `durations beyond all bounds are counted`() {
        var histogram = LatencyHistogram()
        histogram.add(.seconds(-5))
        histogram.add(.seconds(Int64.max))
        var sum = LatencyHistogram()
        sum.add(histogram)
        #expect(sum == histogram)
        #expect(histogram.counts.first == 1)
        #expect(histogram.counts.last == 1)
        #expect(histogram.quantile(1) == 6291.456)
    }
}
