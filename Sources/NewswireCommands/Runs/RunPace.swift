package import NewsModel

/// The rate of results: a count for each of the last steps of ten seconds. The reader and the order do not matter.
package struct RunPace: Sendable, Hashable {
    /// Counts by the number of their step since 1970.
    package private(set) var counts: [Int64: Int] = [:]

    /// The number of steps in the rate. One more is kept, because the last step is not over.
    private static let steps: Int64 = 6
    private static let stepSeconds: Int64 = 10

    package init() {}

    /// Restores counts that were stored. Counts older than the newest steps are dropped.
    package init(counts: [Int64: Int]) {
        self.counts = counts.filter { $0.value > 0 }
        trim()
    }

    package mutating func add(_ count: Int = 1, at time: Instant) {
        counts[Self.step(of: time), default: 0] += count
        if counts.count > Self.steps + 1 { trim() }
    }

    package mutating func merge(_ other: RunPace) {
        counts.merge(other.counts) { $0 + $1 }
        trim()
    }

    /// Results per second over the last minute, or since the first of them if that time is shorter.
    package func perSecond(at now: Instant) -> Double {
        let step = Self.step(of: now)
        let recent = counts.filter { $0.key > step - Self.steps }
        guard let first = recent.keys.min() else { return 0 }
        let second = now.nanoseconds / 1_000_000_000
        let seconds = max(second - first * Self.stepSeconds, 1)
        return Double(recent.values.reduce(0, +)) / Double(seconds)
    }

    private mutating func trim() {
        guard let newest = counts.keys.max() else { return }
        counts = counts.filter { $0.key >= newest - Self.steps }
    }

    private static func step(of time: Instant) -> Int64 { time.nanoseconds / 1_000_000_000 / stepSeconds }
}
