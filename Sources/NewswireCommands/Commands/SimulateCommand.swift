import ArgumentParser
import NewsModel
import Simulation

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Replays lives of engine and consumers, with everything going wrong, and checks every promise.",
        discussion: """
            A life is some news, one to three processes, a model of Kafka and of the hub, and a mix of faults: lost replies, \
            throttling, crashes, rebalances, topics made again, partitions without a leader, clocks set wrong and more, all \
            drawn from one seed. After every step the promises of the README are checked. At the end a table shows how often \
            each fault took effect and each outcome came about.

            Examples:
              newswire simulate --lives 10000
              newswire simulate --seed 31026 --lives 1      one life again

            Exit code 1 when a promise is broken; the seed, the promise and the faults and news that matter are printed.
            """)

    @Option(help: "The first life's seed; the next life has the next seed.")
    var seed: UInt64 = 1
    @Option(help: "How many lives.")
    var lives = 1_000
    @Option(help: "Lives under way at once.")
    var workers = 2

    func validate() throws {
        guard (1...100_000_000).contains(lives) else { throw ValidationError("--lives must be 1 to 100000000.") }
        guard (1...256).contains(workers) else { throw ValidationError("--workers must be 1 to 256.") }
    }

    func run() async throws {
        let output = Terminal.standardError
        let total = lives
        let result = try await Campaign(firstSeed: seed, lives: lives, workers: workers).run { progress in
            if output.isInteractive { output.write("\r\(progress.lives) of \(total) lives") }
        }
        if output.isInteractive { output.line() }
        for failure in result.failures { Terminal.standardOutput.line("\(failure)\n") }
        Terminal.standardOutput.line(Self.summary(result))
        if !result.failures.isEmpty { throw ExitCode.failure }
    }

    static func summary(_ result: Campaign.Progress) -> String {
        let report = result.report
        let days = report.simulated.components.seconds / 86_400
        return """
            \(coverage(report))
            \(result.lives) lives kept every promise, \(result.failures.count) did not.
            \(report.records) records, \(report.sends) sends, \(report.accepted) accepted, \(report.results) results
            \(report.crashes) crashes, \(report.rebalances) rebalances, \(report.repeats) repeats, \
            \(report.inputs) inputs, \(days) days of simulated time
            """
    }

    /// How often each fault took effect, and each outcome was stored.
    private static func coverage(_ report: LifeReport) -> String {
        var table = TextTable(
            [.init(title: "fault or outcome", widthMax: 48), .init(title: "times", isRightAligned: true)],
            hasColours: false)
        for name in FaultName.allCases { table.add([.init(name.rawValue), .init("\(report.struck[name] ?? 0)")]) }
        for outcome in Outcome.allCases {
            table.add([.init("outcome: \(outcome.rawValue)"), .init("\(report.outcomes[outcome] ?? 0)")])
        }
        return table.text
    }
}
