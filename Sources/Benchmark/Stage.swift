import CAllocations

/// One step in the life of an event, run in a tight loop.
struct Stage {
    let name: String
    /// Allocations in a release build when last improved, rounded up; more is a regression.
    let allocationsMax: Double
    /// Runs the step `count` times.
    let run: (_ count: Int) -> Void

    /// The cost of one run.
    struct Cost: Codable {
        var stage: String
        /// Of the fastest round: other work on the machine only makes a round slower.
        var nanoseconds: Double
        /// Allocations; the same on every machine.
        var allocations: Double
        var allocationsMax: Double
    }

    func cost(runs: Int, rounds: Int) -> Cost {
        run(max(runs / 10, 1))
        var quickest = Double.infinity
        var allocations = UInt64.max
        for _ in 0..<rounds {
            let before = allocations_so_far()
            let elapsed = ContinuousClock().measure { run(runs) }
            allocations = min(allocations, allocations_so_far() &- before)
            quickest = min(quickest, Double(elapsed.attoseconds) / 1e9)
        }
        return Cost(
            stage: name, nanoseconds: quickest / Double(runs), allocations: Double(allocations) / Double(runs),
            allocationsMax: allocationsMax)
    }
}
