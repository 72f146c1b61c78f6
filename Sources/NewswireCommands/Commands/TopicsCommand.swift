import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaIO
package import KafkaModel
import NewsModel
import NewswireSettings
import PublisherService

struct TopicsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics",
        abstract: "Shows the topics of a configuration, and creates or widens them.",
        discussion: """
            The topics of a lane must have the same number of partitions, and the results topic at least as many: the \
            result of a record from partition p is written to partition p, where newswire looks for it after a \
            restart.

            Examples:
              newswire topics
              newswire topics --create --partitions 12

            --create creates missing topics with a retention: source topics 7 days (or their lane's maxAge if that is \
            longer), results 14 days (or the largest maxAge), dead letters 30 days. The control topic, the held topic \
            and the feeds' state topic are compacted instead. It widens a results topic with too few partitions, and a \
            lane's topic with fewer than another of the same lane: records with the same key may then go to another \
            partition than before. The settings of existing topics do not change. It writes to the control topic \
            which environment the hub belongs to, production if the settings name none: processes whose settings say \
            something else do not start.

            Exit code 1 if a topic is missing or does not fit, or the hub belongs to another environment.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Create missing topics and widen those with too few partitions.") var create = false
    @Option(
        help: .init(
            "Partitions of new topics. A topic that must match an existing one gets as many as that.", valueName: "n"))
    var partitions = Self.partitionsByDefault
    @Option(help: "Copies of each new partition; by default the broker decides.") var replication: Int?
    @Flag(help: "Print one JSON object per topic, for programs.") var json = false

    static let partitionsByDefault = 12

    func validate() throws {
        guard (1...10_000).contains(partitions) else { throw ValidationError("--partitions must be 1 to 10000.") }
        guard replication.map({ (1...100).contains($0) }) ?? true else {
            throw ValidationError("--replication must be 1 to 100.")
        }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let admin = try KafkaAdmin(settings: settings.kafkaSettings)
        var progress = ActOutput()
        let rules = settings.topicRules
        let names = rules.topics.map(\.name)
        var states = try admin.states(of: names)
        if create {
            let changes = TopicPlan(rules).changes(states, partitions: partitions)
            try make(changes, admin, &progress)
            if !changes.isEmpty { states = try admin.states(of: names) }
        }
        let findings = rules.findings(states)
        let output = Terminal.standardOutput
        if json {
            for line in rules.json(states, findings) { try output.line(line) }
        } else {
            try output.write(rules.table(states, findings, hasColours: output.hasColours))
        }
        let agrees = try !create || states[settings.control.topics.control] == nil || stampHub(settings, &progress)
        try progress.end()
        if findings.contains(where: \.isFailure) || !agrees { throw ExitCode.failure }
    }

    /// Reports a step. With --json it goes to standard error, because programs read only the topics.
    private func tell(_ line: String, _ progress: inout ActOutput) {
        if json { notice(line) } else { progress.line(line) }
    }

    /// Writes to the control topic which environment the hub belongs to, unless the topic already names one.
    ///
    /// - Returns: false if the topic names another environment.
    private func stampHub(_ settings: Settings, _ progress: inout ActOutput) throws -> Bool {
        let topics = settings.control.topics
        // Without the hub's address, the first `newswire run` writes it.
        guard let ours = (try? settings.controlSettings())?.environment else { return true }
        let view = try ControlReading(settings.kafkaSettings, topics).view()
        switch view.environments.agreement(with: ours) {
        case .unnamed, .agreed: return true
        case .unwritten(let environment, let isFirst):
            let publisher = try RecordPublisher(settings: settings.kafkaSettings)
            try publisher.publish(ControlRecord.environment(environment, isFirst: isFirst).record(on: topics.control))
            try publisher.flush(timeout: .seconds(10))
            tell("\(topics.control) says now: \(environment)", &progress)
            return true
        case .disagreed(let ours, let theirs):
            let reason = HubEnvironment.disagreement(ours, theirs, on: topics.control)
            notice("error: \(reason); \(HubEnvironment.remedy(topics.control))")
            return false
        }
    }

    private func make(_ changes: [TopicPlan.Change], _ admin: KafkaAdmin, _ progress: inout ActOutput) throws {
        // Changed one by one, so that after a failure it is clear which topics exist.
        for change in changes {
            if let from = change.from {
                try admin.createPartitions([change.topic: change.partitions])
                tell("widened \(change.topic) from \(from) to \(counted(change.partitions, "partition"))", &progress)
            } else {
                let existing = try admin.create([
                    .init(
                        name: change.topic, partitions: change.partitions, replication: replication,
                        configuration: change.configuration)
                ])
                // The topic is not visible to this user, or somebody else has created it meanwhile.
                guard !existing.contains(change.topic) else {
                    tell("\(change.topic) exists already", &progress)
                    continue
                }
                let settings = change.configuration.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                let partitions = counted(change.partitions, "partition")
                tell("created \(change.topic) with \(partitions), \(settings.joined(separator: ", "))", &progress)
            }
        }
        try admin.waitUntilVisible(
            Dictionary(changes.map { ($0.topic, $0.partitions) }) { first, second in max(first, second) })
    }
}

extension TopicRules {
    /// A line of JSON for each topic, with its findings. A topic without problems has an empty list.
    package func json(_ states: [String: TopicState], _ findings: [Finding]) -> [String] {
        topics.map { name, use in
            JSONLine.object { json in
                json.field("topic", name)
                json.field("use", use.description)
                json.field("partitions", states[name]?.partitions)
                json.array("findings") { json in
                    for finding in findings where finding.topic == name && finding.use == use {
                        json.object { json in
                            json.field("fails", finding.isFailure)
                            json.field("problem", finding.sentence)
                            json.field("remedy", finding.remedy)
                        }
                    }
                }
            }
        }
    }

    /// A table of all topics with the findings about them.
    package func table(_ states: [String: TopicState], _ findings: [Finding], hasColours: Bool) -> String {
        var table = TextTable(
            [
                .left("topic", max: 80), .left("use", max: 40), .right("partitions"), .left("state", max: 300),
            ], hasColours: hasColours)
        for (name, use) in topics {
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
