import ArgumentParser
import KafkaIO
import KafkaModel

struct TopicsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics",
        abstract: "Shows the topics of a configuration, or makes them fit: creates and widens them.",
        discussion: """
            Topics of one lane must have the same number of partitions, and the results topic at least as \
            many: the result of a record from partition p is written to partition p, which is how newswire \
            finds again what it has settled.

            Examples:
              newswire topics --config newswire.yaml
              newswire topics --config newswire.yaml --create --partitions 12

            With --create, topics that are missing are created with cleanup.policy=delete and retention.ms: source \
            topics 7 days (or their lane's maxAge if that is longer), results 14 days (or the largest maxAge), dead \
            letters 30 days. An existing results topic with too few partitions is widened, and so is a topic of \
            a lane that has fewer than another of the same lane. Records with a key may then go to another \
            partition than those before them. Settings of existing topics stay as they are.

            It waits, at most 30 seconds, until the brokers show what was made. Exit code 1 when something is \
            missing or does not fit.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Create the topics that are missing, and widen those that are too small.")
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
            let rules = settings.topicRules
            let names = rules.topics.map(\.name)
            var states = try admin.states(of: names)
            if create {
                let changes = rules.changes(states, partitions: partitions)
                try make(changes, admin)
                if !changes.isEmpty { states = try admin.states(of: names) }
            }
            let findings = rules.findings(states)
            let output = Terminal.standardOutput
            output.write(Self.table(rules, states, findings, hasColours: output.hasColours))
            if findings.contains(where: \.isFailure) { throw ExitCode.failure }
        } catch let failure as KafkaFailure {
            Terminal.standardError.line("error: \(failure)")
            throw ExitCode.failure
        }
    }

    private func make(_ changes: [TopicRules.Change], _ admin: KafkaAdmin) throws(KafkaFailure) {
        // One by one: when one cannot be made, it is clear which were.
        for change in changes {
            if let from = change.from {
                try admin.createPartitions([change.topic: change.partitions])
                Terminal.standardOutput.line("widened \(change.topic) from \(from) to \(change.partitions) partitions")
            } else {
                let existing = try admin.create([
                    .init(
                        name: change.topic, partitions: change.partitions, replication: replication,
                        configuration: change.configuration)
                ])
                // Shown to others only, or made by somebody else in between.
                guard !existing.contains(change.topic) else {
                    Terminal.standardOutput.line("\(change.topic) exists already")
                    continue
                }
                let settings = change.configuration.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                Terminal.standardOutput.line(
                    "created \(change.topic) with \(change.partitions) partitions, \(settings.joined(separator: ", "))")
            }
        }
        try admin.waitUntilVisible(
            Dictionary(changes.map { ($0.topic, $0.partitions) }) { first, second in max(first, second) })
    }

    static func table(
        _ rules: TopicRules, _ states: [String: TopicState], _ findings: [TopicRules.Finding], hasColours: Bool
    ) -> String {
        var table = TextTable(
            [
                .init(title: "topic", widthMax: 80), .init(title: "use", widthMax: 40),
                .init(title: "partitions", isRightAligned: true), .init(title: "state", widthMax: 300),
            ], hasColours: hasColours)
        for (name, use) in rules.topics {
            let count = states[name].map { String($0.partitions) } ?? "-"
            let ours = findings.filter { $0.topic == name && $0.use == use }
            if ours.isEmpty {
                table.add([.init(name), .init(use.description), .init(count), .init("ok", colour: .green)])
            }
            for finding in ours {
                let text = "\(finding.sentence); \(finding.remedy)"
                table.add([
                    .init(name), .init(use.description), .init(count),
                    finding.isFailure ? .init(text, colour: .red) : .init("warning: \(text)", colour: .yellow),
                ])
            }
        }
        return table.text
    }
}
