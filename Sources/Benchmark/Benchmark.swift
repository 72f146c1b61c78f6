import ArgumentParser
import Foundation

/// Measures the cost of the publisher's work.
@main
struct Benchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark", abstract: "Measures what the publisher's work costs. Build it with -c release.",
        subcommands: [StagesCommand.self, PathCommand.self, FeedsCommand.self], defaultSubcommand: StagesCommand.self)
}

struct StagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stages", abstract: "The steps of an event's way, each alone in a tight loop.")

    @Option(help: "Only stages whose name holds this.")
    var only = ""
    @Option(help: "Runs of each stage in a round.")
    var runs = 100_000
    @Option(help: "Rounds; the quickest counts.")
    var rounds = 5
    @Flag(help: "One JSON object per stage.")
    var json = false
    @Flag(help: "Counts instructions too, with valgrind.")
    var instructions = false
    @Flag(help: "Fails when a stage allocates more often than it used to or, with --instructions, needs more of them.")
    var check = false
    @Flag(help: "Only counts instructions, and prints them as the lines of InstructionsMax.swift.")
    var record = false

    func run() throws {
        let stages = try Stages().all.filter { only.isEmpty || $0.name.contains(only) }
        let counts = instructions || record ? try Stage.instructions(of: stages, only: only) : []
        if record {
            for (stage, count) in zip(stages, counts) { print("        \"\(stage.name)\": \(count),") }
            return
        }
        if !json { print("stage".padding(34), "     ns allocations instructions") }
        var regressions: [String] = []
        for (index, stage) in stages.enumerated() {
            var cost = stage.cost(runs: runs, rounds: rounds)
            if instructions { cost.instructions = counts[index] }
            try report(cost, json: json) {
                cost.stage.padding(34) + String(format: "%8.0f %11.2f", cost.nanoseconds, cost.allocations)
                    + (cost.instructions.map { String(format: " %12d", $0) } ?? "")
            }
            if let regression = cost.regression { regressions.append(regression) }
        }
        guard check, !regressions.isEmpty else { return }
        throw BenchmarkFailure("costs more than before: \(regressions.joined(separator: "; "))")
    }
}

struct PathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "The real program from topic to hub, between a broker and a hub in this process.",
        discussion: """
            All share the machine's cores, so figures are for comparing with each other in one run. Latency counts from \
            the moment an event was due to be written, so a stall is not left out.
            """)

    @Option(help: "The program to run.")
    var program = ".build/release/newswire"
    @Option(help: "Only scenarios whose name holds this.")
    var only = ""
    @Option(help: "Events, instead of each scenario's own number.")
    var events: Int?
    @Option(help: "Partitions of every topic, likewise. The broker of this process keeps 5 MB of each.")
    var partitions: Int?
    @Option(help: "Only scenarios with a hub that answers after this many milliseconds, and default settings.")
    var latency: Int?
    @Flag(help: "One JSON object per scenario.")
    var json = false
    @Flag(help: "Counts instructions per event instead, with valgrind; only in scenarios without a pace.")
    var instructions = false

    func run() throws {
        if !json {
            print(
                "scenario".padding(44),
                instructions
                    ? "event loop  other threads" : " per s  cpu us   MiB   p50 ms   p99 ms  longest")
        }
        let scenarios = latency.map(Scenario.distant) ?? Scenario.all
        for var scenario in scenarios where only.isEmpty || scenario.name.contains(only) {
            scenario.partitions = partitions ?? scenario.partitions
            if instructions {
                // Under callgrind the program runs fifty times slower and cannot keep a pace.
                guard scenario.writtenPerSecond == nil, scenario.rate == nil else { continue }
                scenario.events = events ?? 20_000
                let count = try PathInstructions(of: scenario, program: program)
                try report(count, json: json) {
                    count.scenario.padding(44) + String(format: "%11d %14d", count.eventLoop, count.otherThreads)
                }
            } else {
                scenario.events = events ?? scenario.events
                let figures = try PathRun(command: [program], scenario: scenario).figures()
                try report(figures, json: json) { line(figures) }
            }
        }
    }

    private func line(_ figures: Figures) -> String {
        var line =
            figures.scenario.padding(44)
            + String(format: "%7.0f %7.1f %5d", figures.requestsPerSecond, figures.cpuPerRequest, figures.memory)
        if let latency = figures.latency {
            line += String(format: "%9.2f%9.2f%9.2f", latency.p50, latency.p99, latency.longest)
        }
        if let pace = figures.pace {
            line += String(format: "  at most %.1f above the pace, %.1f %% used", pace.overshoot, pace.used * 100)
        }
        return line
    }
}

func report(_ value: some Encodable, json: Bool, _ line: () -> String) throws {
    print(json ? String(decoding: try JSONEncoder().encode(value), as: UTF8.self) : line())
    fflush(nil)
}

extension String {
    func padding(_ width: Int) -> String { padding(toLength: width, withPad: " ", startingAt: 0) }
}
