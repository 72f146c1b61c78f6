import ArgumentParser
import Foundation

/// What the publisher's work costs, measured.
@main
struct Benchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark", abstract: "Measures the steps of an event's way, each alone.")

    @Option(help: "Only stages whose name holds this.")
    var stage = ""
    @Option(help: "Runs of each stage in a round.")
    var runs = 100_000
    @Option(help: "Rounds; the quickest counts.")
    var rounds = 5
    @Flag(help: "One JSON object per stage.")
    var json = false

    func run() throws {
        let encoder = JSONEncoder()
        if !json { print("stage".padding(34), "ns", "allocations") }
        for stage in try Stages().all where stage.name.contains(self.stage) || self.stage.isEmpty {
            let cost = stage.cost(runs: runs, rounds: rounds)
            if json {
                print(String(decoding: try encoder.encode(cost), as: UTF8.self))
            } else {
                print(cost.stage.padding(34), String(format: "%7.0f %7.2f", cost.nanoseconds, cost.allocations))
            }
        }
    }
}

extension String {
    fileprivate func padding(_ width: Int) -> String { padding(toLength: width, withPad: " ", startingAt: 0) }
}
