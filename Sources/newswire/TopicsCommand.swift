import ArgumentParser
import KafkaIO
import KafkaModel

struct TopicsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics",
        abstract: "Shows the topics of a configuration, or creates those that are missing.",
        discussion: """
            Topics of one lane must have the same number of partitions, and the results topic at least as \
            many: the result of a record from partition p is written to partition p, which is how newswire \
            finds again what it has settled.

            Examples:
              newswire topics --config newswire.yaml
              newswire topics --config newswire.yaml --create --partitions 12

            A topic that exists is never changed. Exit code 1 when something is missing or does not fit.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Create the topics that are missing.")
    var create = false
    @Option(help: "Partitions of new topics. Topics beside existing ones get as many as those.")
    var partitions = 12
    @Option(help: "Copies of each new partition; the broker's default when left out.")
    var replication: Int?

    func validate() throws {
        guard (1...10_000).contains(partitions) else { throw ValidationError("--partitions must be 1 to 10000.") }
        guard replication.map({ (1...100).contains($0) }) ?? true else {
            throw ValidationError("--replication must be 1 to 100.")
        }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        do {
            let admin = try KafkaAdmin(settings: settings.kafkaSettings)
            var plan = TopicPlan(settings, counts: try admin.partitionCounts())
            if create {
                let missing = plan.missing(partitions: partitions)
                for topic in missing {
                    try admin.create([.init(name: topic.name, partitions: topic.partitions, replication: replication)])
                }
                plan = TopicPlan(settings, counts: try admin.partitionCounts())
            }
            Terminal.standardOutput.write(Self.table(plan, hasColours: Terminal.standardOutput.hasColours))
            if !plan.isSound { throw ExitCode.failure }
        } catch let failure as KafkaFailure {
            Terminal.standardError.line("error: \(failure)")
            throw ExitCode.failure
        }
    }

    static func table(_ plan: TopicPlan, hasColours: Bool) -> String {
        var table = TextTable(
            [
                .init(title: "topic", widthMax: 80), .init(title: "use", widthMax: 40),
                .init(title: "partitions", isRightAligned: true), .init(title: "state", widthMax: 200),
            ], hasColours: hasColours)
        for topic in plan.topics {
            let state = topic.problem.map { "\($0); \(topic.remedy)" } ?? "ok"
            table.add([
                .init(topic.name), .init(topic.use.name), .init(topic.partitions.map(String.init) ?? "-"),
                .init(state, colour: topic.problem == nil ? .green : .red),
            ])
        }
        return table.text
    }
}
