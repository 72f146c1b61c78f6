import ArgumentParser
import ByteText
import NewsModel
import Simulation

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract:
            "Runs engine and ingester in a simulated world where everything goes wrong, and checks every promise.",
        discussion: """
            A life is some news, one to three processes, a model of Kafka and of the hub, and a mix of faults: lost \
            replies, throttling, crashes, rebalances, recreated topics, partitions without a leader, wrong clocks and \
            more, all drawn from one seed. After every step it checks the promises of the README. At the end, a table \
            shows how often each fault and each outcome occurred.

            Examples:
              newswire simulate --lives 10000
              newswire simulate --model feeds --lives 10000
              newswire simulate --seed 31026 --lives 1      # repeats one life
              newswire simulate --seed 31026 --trace        # prints every step

            A life of feeds has publishers that lie about changes, change ids and bring back old entries, and \
            processes that crash, lose their session and share the feeds. Without --model, both kinds are lived.

            Exit code 1 if a promise is broken; the seed, the promise and the relevant faults and news are printed.
            """)

    @Option(help: "The seed of the first life; each further life takes the next number.") var seed: UInt64 = 1
    @Option(help: "The number of lives of each kind.") var lives = 1_000
    @Option(help: "What to simulate: news or feeds; both if left out.") var model: Model?
    @Option(help: "The number of lives to run at once.") var workers = 2
    @Flag(help: "Print every step of the life of news with the seed.") var trace = false

    enum Model: String, ExpressibleByArgument, CaseIterable { case news, feeds }

    func validate() throws {
        guard (1...100_000_000).contains(lives) else { throw ValidationError("--lives must be 1 to 100000000.") }
        if trace, model == .feeds { throw ValidationError("--trace prints a life of news.") }
        guard (1...256).contains(workers) else { throw ValidationError("--workers must be 1 to 256.") }
    }

    func run() async throws {
        if trace { return try printSteps() }
        var isKept = true
        if model != .feeds { isKept = try await simulateNews() }
        if model != .news { isKept = try await simulateFeeds() && isKept }
        if !isKept { throw ExitCode.failure }
    }

    private func printSteps() throws {
        var lost: (any Error)?
        let life = Campaign.live(Scenario(seed: seed)) { step in
            guard lost == nil else { return }
            do { try Terminal.standardOutput.line(step) } catch { lost = error }
        }
        if let lost { throw lost }
        guard case .failure(let violation) = life else { return }
        try Terminal.standardOutput.line("\(violation)")
        throw ExitCode.failure
    }

    /// - Returns: `true` if every promise was kept.
    private func simulateNews() async throws -> Bool {
        let result = try await Campaign(firstSeed: seed, lives: lives, workers: workers).run { show($0.lives) }
        return try report(result.failures, Self.summary(result))
    }

    private func simulateFeeds() async throws -> Bool {
        let result = await FeedCampaign(firstSeed: seed, lives: lives, workers: workers).run { show($0.lives) }
        return try report(result.failures, Self.summary(result))
    }

    private func report(_ failures: [some Any], _ summary: String) throws -> Bool {
        if Terminal.standardError.isInteractive { Terminal.standardError.line() }
        for failure in failures { try Terminal.standardOutput.line("\(failure)\n") }
        try Terminal.standardOutput.line(summary)
        return failures.isEmpty
    }

    private func show(_ lived: Int) {
        let output = Terminal.standardError
        if output.isInteractive {
            output.write("\r\(grouped(lived)) of \(counted(lives, "life", plural: "lives"))")
        }
    }

    private static func summary(_ result: FeedCampaign.Progress) -> String {
        let report = result.report
        let days = report.simulated.components.seconds / 86_400
        return """
            \(counted(result.lives, "life", plural: "lives")) of feeds kept every promise, \(grouped(result.failures.count)) did not.
            \(counted(report.feeds, "feed")), \(counted(report.polls, "poll")), \(counted(report.documents, "document")), \
            \(counted(report.stories, "story", plural: "stories")), \(counted(report.events, "event")), of which \
            \(counted(report.updates, "update")) and \(counted(report.repeats, "repeat"))
            \(counted(report.crashes, "crash", plural: "crashes")), \(counted(report.rebalances, "rebalance")), \
            \(counted(report.lostSessions, "lost session")), \(counted(report.failedWrites, "failed write")), \
            \(counted(report.inputs, "input")), \(counted(Int(days), "day")) of simulated time
            """
    }

    private static func summary(_ result: Campaign.Progress) -> String {
        let report = result.report
        let days = report.simulated.components.seconds / 86_400
        return """
            \(coverage(report))
            \(counted(result.lives, "life", plural: "lives")) kept every promise, \(grouped(result.failures.count)) did not.
            \(counted(report.records, "record")), \(counted(report.sends, "send")), \(grouped(report.accepted)) accepted, \
            \(counted(report.results, "result"))
            \(counted(report.crashes, "crash", plural: "crashes")), \(counted(report.rebalances, "rebalance")), \
            \(counted(report.repeats, "repeat")), \(counted(report.inputs, "input")), \
            \(counted(Int(days), "day")) of simulated time
            """
    }

    /// The number of times each fault took effect and each outcome was stored.
    private static func coverage(_ report: LifeReport) -> String {
        var table = TextTable([.left("fault or outcome", max: 48), .right("times")], hasColours: false)
        for name in FaultName.allCases { table.add([.init(name.rawValue), .init("\(report.struck[name] ?? 0)")]) }
        for outcome in Outcome.allCases {
            table.add([.init("outcome: \(outcome.rawValue)"), .init("\(report.outcomes[outcome] ?? 0)")])
        }
        return table.text
    }
}
