import CAllocations

/// One step of an event's way, run again and again in a tight loop.
struct Stage {
    let name: String
    /// What it asked memory for in a release build when it was last made better, rounded up: more is a step back.
    let allocationsMax: Double
    /// Runs the step `count` times.
    let run: (_ count: Int) -> Void

    /// What one run costs.
    struct Cost: Codable {
        var stage: String
        /// Of the quickest round: whatever else the machine does only makes a round slower.
        var nanoseconds: Double
        /// Times memory was asked for; the same on every machine.
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
