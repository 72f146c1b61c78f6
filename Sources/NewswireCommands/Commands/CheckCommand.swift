import ArgumentParser
import Foundation
import KafkaIO
import KafkaModel
import NotificationHub

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a configuration, and that broker, topics and hub are there.",
        discussion: """
            Every problem is named at once, with its line and what to do. Without --offline it then asks the \
            broker for the topics and posts one notification to a tag that no device has, which proves \
            address, certificate, key and hub name.

            Examples:
              newswire check --config newswire.yaml --offline
              newswire check --config newswire.yaml --print     the settings in force

            Exit codes: 0 all is well, 78 the configuration is wrong, 1 it is right but something it names is not there.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Look at the configuration only.")
    var offline = false
    @Flag(name: .customLong("print"), help: "Print the settings in force and where each comes from, secrets masked.")
    var printsSettings = false

    func run() async throws {
        let reading = try configurationOption.reading()
        if printsSettings { Terminal.standardOutput.write(EffectiveSetting.yaml(reading.effective)) }
        guard let settings = reading.settings else { throw ExitCode.badConfiguration }
        // What was printed is a document of its own; findings would spoil it.
        let output = printsSettings ? Terminal.standardError : Terminal.standardOutput
        var isSound = report([.ok("settings", "\(configurationOption.config) has no problem")], to: output)
        if offline { return }
        isSound = report(Self.kafka(settings), to: output) && isSound
        isSound = report([await Self.hub(settings)], to: output) && isSound
        if !isSound { throw ExitCode.failure }
    }

    private func report(_ findings: [CheckFinding], to output: Terminal) -> Bool {
        for finding in findings { output.line(finding.line(hasColours: output.hasColours)) }
        return findings.allSatisfy(\.isOK)
    }

    /// Blocks for some seconds at most.
    static func kafka(_ settings: Settings) -> [CheckFinding] {
        let servers = settings.kafka.bootstrapServers.map(\.description).joined(separator: ",")
        do {
            let rules = settings.topicRules
            let states = try KafkaAdmin(settings: settings.kafkaSettings).states(of: rules.topics.map(\.name))
            return [.ok("broker", "\(servers) answers")] + topics(rules, states)
        } catch {
            return [.failed("broker", "\(servers): \(error.detail) (\(error.code))", error.remedy)]
        }
    }

    static func topics(_ rules: TopicRules, _ states: [String: TopicState]) -> [CheckFinding] {
        let findings = rules.findings(states)
        return rules.topics.flatMap { name, use -> [CheckFinding] in
            let ours = findings.filter { $0.topic == name && $0.use == use }.map { finding -> CheckFinding in
                let message = "\(name) (\(use)) \(finding.sentence)"
                return finding.isFailure
                    ? .failed("topic", message, finding.remedy) : .warning("topic", message, finding.remedy)
            }
            if !ours.isEmpty { return ours }
            return [.ok("topic", "\(name) (\(use)) has \(states[name]?.partitions ?? 0) partitions")]
        }
    }

    static func hub(_ settings: Settings) async -> CheckFinding {
        do {
            let sender = try SingleSend(settings)
            // A name nobody can have registered: the hub checks everything and then reaches no device.
            let nobody = try Tag("newswire-check-\(UUID().uuidString)")
            let probe = SendRequest(
                format: .template, tags: TagExpression(nobody).description,
                body: Array(#"{"messageParam":"newswire check"}"#.utf8))
            let verdict = SendVerdict(try await sender.send(probe))
            let name = "\(sender.connection.endpoint)\(sender.hub)"
            return verdict.isAccepted
                ? .ok("hub", "\(name) accepts the key") : .failed("hub", "\(name): \(verdict.message)", verdict.remedy)
        } catch {
            return .failed("hub", "\(error)", "check hub.connectionString, hub.name and hub.trustRoots")
        }
    }
}

/// One thing that was checked.
struct CheckFinding: Hashable, Sendable {
    var subject: String
    /// A warning is shown and fails nothing.
    var isOK: Bool
    var isWarning = false
    var message: String
    var remedy: String

    static func ok(_ subject: String, _ message: String) -> CheckFinding {
        CheckFinding(subject: subject, isOK: true, message: message, remedy: "")
    }

    static func warning(_ subject: String, _ message: String, _ remedy: String) -> CheckFinding {
        CheckFinding(subject: subject, isOK: true, isWarning: true, message: message, remedy: remedy)
    }

    static func failed(_ subject: String, _ message: String, _ remedy: String) -> CheckFinding {
        CheckFinding(subject: subject, isOK: false, message: message, remedy: remedy)
    }

    func line(hasColours: Bool) -> String {
        let word = isWarning ? "warn" : isOK ? "ok  " : "fail"
        let shown = hasColours ? (isWarning ? TerminalColour.yellow : isOK ? .green : .red).applied(to: word) : word
        let padding = String(repeating: " ", count: max(1, 10 - subject.count))
        return "\(shown)  \(subject)\(padding)\(message)" + (remedy.isEmpty ? "" : "; \(remedy)")
    }
}
