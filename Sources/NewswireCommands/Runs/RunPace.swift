package import NewsModel

/// How fast results come: a count for each of the last steps of ten seconds, whoever reads them and in whatever order.
package struct RunPace: Sendable, Hashable {
    /// Counts by the number of their step since 1970.
    package private(set) var counts: [Int64: Int] = [:]

    /// The rate looks back so many steps; one more is kept, as the last one is not over.
    private static let steps: Int64 = 6
    private static let stepSeconds: Int64 = 10

    package init() {}

    /// Counts that were written down; older ones than the newest steps are dropped.
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

    /// Results a second over the last minute, or since the first of them if that is less.
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
