import ArgumentParser
import Simulation

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Replays lives of the engine, with everything going wrong, and checks every promise.",
        discussion: """
            A life is some news, one to three processes, a model broker and a hub, and a mix of faults: lost replies, \
            throttling, crashes, rebalances, frozen processes, failing commits and more, all drawn from one seed. After \
            every step the promises of the README are checked.

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
            \(result.lives) lives kept every promise, \(result.failures.count) did not.
            \(report.records) records, \(report.sends) sends, \(report.accepted) accepted, \(report.results) results
            \(report.crashes) crashes, \(report.rebalances) rebalances, \(report.repeats) repeats, \
            \(report.inputs) inputs, \(days) days of simulated time
            """
    }
}
