import CAllocations
import Foundation

/// One step in the life of an event, run in a tight loop.
struct Stage {
    let name: String
    /// The most allocations in a release build; more is a regression.
    let allocationsMax: Double
    /// Runs the step `count` times.
    let run: (_ count: Int) -> Void

    struct Cost: Codable {
        var stage: String
        /// The time of the fastest round, because other work on the machine only makes a round slower.
        var nanoseconds: Double
        /// Allocations per run; the same on every machine.
        var allocations: Double
        var allocationsMax: Double
        /// Instructions per run, if they were counted.
        var instructions: Int?
        var instructionsMax: Int?

        /// A message if allocations grew by more than a twentieth or instructions by more than a tenth; otherwise
        /// `nil`. The tenth allows for the C library and simdjson, whose code depends on the processor: counts vary by
        /// a few per cent.
        var regression: String? {
            if allocations > allocationsMax * 1.05 + 0.05 {
                return "\(stage): \(allocations) allocations, were \(allocationsMax)"
            }
            // A new stage has no recorded number and is reported until it gets one.
            if let instructions, Double(instructions) > Double(instructionsMax ?? 0) * 1.1 {
                return "\(stage): \(instructions) instructions, were \(instructionsMax ?? 0)"
            }
            return nil
        }
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
            allocationsMax: allocationsMax, instructionsMax: Self.instructionsMax[name])
    }

    /// The instructions of one run of each stage, in order.
    static func instructions(of stages: [Stage], only: String) throws -> [Int] {
        let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let runs = 2_000
        // `cost` reads the allocation counter right before and right after a round, so these calls delimit the round.
        let counts = try withTemporaryFolder { folder in
            try Callgrind(program: program, folder: folder).instructions(
                of: ["stages", "--only", only, "--runs", "\(runs)", "--rounds", "1"],
                betweenCallsOf: "allocations_so_far")
        }
        guard counts.count == stages.count * 2 - 1 else { throw BenchmarkFailure("callgrind missed a stage") }
        return stages.indices.map { counts[$0 * 2] / runs }
    }
}
