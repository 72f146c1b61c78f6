import NewsModel

/// Durations in buckets, two per octave from 0.5 ms to 70 minutes. Percentiles are off by at most a third.
public struct LatencyHistogram: Sendable, Hashable {
    /// Upper bounds of the buckets, in nanoseconds. One more bucket holds longer durations.
    public static let bounds: [Int64] = (0..<octaves).flatMap { octave in
        [first << octave, (first << octave) / 2 * 3]
    }
    private static let first: Int64 = 500_000
    private static let octaves = 24

    /// The counts of all buckets, one more than there are bounds.
    public private(set) var counts = [UInt64](repeating: 0, count: 2 * Self.octaves + 1)
    /// The sum of all durations, in nanoseconds.
    public private(set) var sum: UInt64 = 0

    public init() {}

    public var count: UInt64 { counts.reduce(0, +) }

    /// Adds a duration. A negative one, from the clocks of two machines, counts as zero.
    public mutating func add(_ duration: Duration) {
        let nanoseconds = UInt64(clamping: duration.nanoseconds)
        sum &+= nanoseconds
        counts[Self.bucket(of: nanoseconds)] += 1
    }

    /// The first bucket whose bound is not smaller. Computed from the highest bit rather than searched.
    static func bucket(of nanoseconds: UInt64) -> Int {
        guard nanoseconds > UInt64(first) else { return 0 }
        let units = (nanoseconds - 1) / UInt64(first)
        let octave = UInt64.bitWidth - 1 - units.leadingZeroBitCount
        guard octave < octaves else { return 2 * octaves }
        let isUpperHalf = nanoseconds > (UInt64(first) << UInt64(octave)) / 2 * 3
        return 2 * octave + (isUpperHalf ? 2 : 1)
    }

    public mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        sum &+= other.sum
    }

    /// Returns the durations added since an earlier state of this histogram.
    func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
        var new = self
        for index in counts.indices { new.counts[index] -= min(earlier.counts[index], counts[index]) }
        new.sum = sum &- earlier.sum
        return new
    }

    /// The duration that `share` (0…1) of all durations did not exceed, in seconds, interpolated linearly within its
    /// bucket; `nil` without durations.
    public func quantile(_ share: Double) -> Double? {
        let total = count
        guard total > 0 else { return nil }
        let rank = min(max(share, 0), 1) * Double(total)
        var below: UInt64 = 0
        for (index, count) in counts.enumerated() where count > 0 {
            if Double(below + count) >= rank {
                let lower = index == 0 ? 0 : Double(Self.bounds[index - 1])
                let upper = index < Self.bounds.count ? Double(Self.bounds[index]) : lower
                return (lower + (upper - lower) * max(0, rank - Double(below)) / Double(count)) / 1e9
            }
            below += count
        }
        return nil
    }
}
