import Histogram
import NIOCore

struct Figures: Codable {
    var scenario: String
    /// Requests per second between the 5th and the 95th percentile of arrivals, so that the start does not count.
    var requestsPerSecond: Double
    /// User and system time of the whole process per request, in microseconds.
    var cpuPerRequest: Double
    /// Peak memory, in MiB.
    var memory: Int
    /// The time from the moment at which an event was to be written to its arrival at the hub, in milliseconds.
    var latency: Latency?
    /// The use of the rate; only for a scenario with a pace.
    var pace: Pace?

    struct Latency: Codable {
        var p50: Double
        var p99: Double
        var longest: Double

        init(_ histogram: Histogram<UInt32>) {
            p50 = Double(histogram.valueAtPercentile(50)) / 1_000
            p99 = Double(histogram.valueAtPercentile(99)) / 1_000
            longest = Double(histogram.max) / 1_000
        }
    }

    struct Pace: Codable {
        /// The largest number of requests above `rate · t` in any window of length t. It must not exceed the burst.
        var overshoot: Double
        /// Share of the rate that was used, without the start.
        var used: Double

        /// Any window [i, j] contains j - i + 1 requests. The worst excess over `rate · t` is therefore the largest
        /// rise of `i - rate · time`.
        init(times: [NIODeadline], rate: Int) {
            var lowest = Double.infinity
            var worst = 0.0
            for (index, time) in times.enumerated() {
                let ahead = Double(index) - Double(rate) * Double(time.uptimeNanoseconds) / 1e9
                lowest = min(lowest, ahead)
                worst = max(worst, ahead - lowest + 1)
            }
            overshoot = worst
            used = Self.rate(times) / Double(rate)
        }

        private static func rate(_ times: [NIODeadline]) -> Double { Figures.rate(of: times) }
    }

    static func rate(of times: [NIODeadline]) -> Double {
        guard times.count >= 20 else { return 0 }
        let (first, last) = (times.count / 20, times.count * 19 / 20)
        let elapsed = Double((times[last] - times[first]).nanoseconds) / 1e9
        return elapsed > 0 ? Double(last - first) / elapsed : 0
    }
}
