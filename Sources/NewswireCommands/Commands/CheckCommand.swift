import ArgumentParser
import ByteText
import ControlIO
package import EditorialControl
import Foundation
package import HTTPServing
import KafkaIO
package import KafkaModel
import NewsModel
package import NewswireSettings
import NotificationHub
import PublishEngine
import PublisherService
import SchemaRegistry

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a configuration, and whether port, broker, topics and hub are available.",
        discussion: """
            Reports every problem at once, each with its line and remedy. Unless --offline is given, it then tries the \
            port of http.listen, gets a token if kafka.oauth is set, asks the broker for the topics, reads on the control topic which environment the hub \
            belongs to, and posts one notification to a tag that no device has, which proves address, certificate, key \
            and hub name.

            The smallest configuration:
              kafka: {bootstrapServers: ["127.0.0.1:9092"]}
              lanes: {live: {topics: [news.events]}}
              hub: {connectionString: "${NEWSWIRE_HUB}", name: breaking-news}

            Examples:
              newswire check
              newswire check --offline --print
              newswire check --json | jq 'select(.severity == "fail")'

            With --json, a problem of the configuration has its line and its key.

            Exit codes: 0 no problems, 78 the configuration is wrong, 1 port, broker, topics, hub or schema registry do not fit it.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Check only the configuration.") var offline = false
    @Flag(name: .customLong("print"), help: "Print the settings in force and the origin of each; secrets are masked.")
    var printsSettings = false
    @Flag(help: "Print one JSON object per finding, for programs.") var json = false

    func validate() throws {
        if json, printsSettings { throw ValidationError("Choose one of --json and --print.") }
    }

    func run() async throws {
        let loaded: LoadedSettings
        do throws(ConfigurationOption.Unreadable) {
            loaded = try configurationOption.read()
        } catch {
            if json {
                let message = (error.file.map { "\($0): " } ?? "") + error.message
                try Terminal.standardOutput.line(CheckFinding.failed("settings", message, error.remedy).json)
            }
            throw error.reported()
        }
        if json { for problem in loaded.problems { try Terminal.standardOutput.line(problem.json) } }
        if printsSettings { try Terminal.standardOutput.write(EffectiveSetting.yaml(loaded.effective)) }
        let settings = try loaded.usable
        let verdict = loaded.problems.isEmpty ? "has no problems" : "has warnings only"
        let sound = CheckFinding.ok("settings", "\(try configurationOption.path) \(verdict)")
        var isSound = try report(
            [sound] + [CheckFinding.replacement(settings), .retired(settings)].compactMap(\.self))
        if offline { return }
        isSound = try report(Self.listen(settings)) && isSound
        isSound = try report(Self.kafka(settings)) && isSound
        isSound = try report([await Self.hub(settings)]) && isSound
        isSound = try report(Self.registry(settings)) && isSound
        if !isSound { throw ExitCode.failure }
    }

    private func report(_ findings: [CheckFinding]) throws -> Bool {
        let (output, errors) = (Terminal.standardOutput, Terminal.standardError)
        for finding in findings {
            if json {
                try output.line(finding.json)
            } else if printsSettings {
                // Standard output carries a YAML document, which findings would break.
                errors.line(finding.line(hasColours: errors.hasColours))
            } else {
                try output.line(finding.line(hasColours: output.hasColours))
            }
        }
        return !findings.contains(where: \.isFailure)
    }

    /// Checks the port. Blocks while a name is resolved.
    private static func listen(_ settings: Settings) -> [CheckFinding] {
        guard let listen = settings.listen else { return [] }
        return [.listen(listen, ListenFailure.trying(host: listen.host, port: listen.port))]
    }

    /// Checks the broker and its topics. Blocks for a few seconds at most.
    private static func kafka(_ settings: Settings) -> [CheckFinding] {
        let servers = settings.kafkaSettings.bootstrapServers.joined(separator: ",")
        var subject = "token"
        do throws(KafkaFailure) {
            let token = try settings.kafkaSettings.login.source?.token()
            subject = "broker"
            // Shows properties that do not fit each other, such as a `message.timeout.ms` below `linger.ms`.
            _ = try RecordPublisher(settings: settings.kafkaSettings)
            let rules = settings.topicRules
            let states = try KafkaAdmin(settings: settings.kafkaSettings).states(of: rules.topics.map(\.name))
            return [token.map(CheckFinding.token), .ok("broker", "\(servers) answers")].compactMap(\.self)
                + CheckFinding.topics(rules, states) + refusals(settings, states)
                + (states[settings.control.topics.control] == nil ? [] : environment(settings))
        } catch {
            return [.failed(subject, error.detail, error.remedyClause)]
        }
    }

    /// Reads each lane's topics, because a topic that may be seen need not be readable. Blocks for a second per topic.
    private static func refusals(_ settings: Settings, _ states: [String: TopicState]) -> [CheckFinding] {
        settings.engine.lanes.flatMap(\.topics).filter { states[$0] != nil }.compactMap { topic in
            do throws(KafkaFailure) {
                let reader = try TopicReader(
                    settings: settings.kafkaSettings, topic: topic, partitions: [0], from: .end, follow: true,
                    timeout: .seconds(3))
                _ = try reader.next(timeout: .seconds(1))
                return nil
            } catch {
                return error.isRefusal ? .failed("topic", error.detail, error.remedyClause) : nil
            }
        }
    }

    /// Checks the environment on the control topic. Blocks for about 10 seconds at most while it reads that topic.
    private static func environment(_ settings: Settings) -> [CheckFinding] {
        let topics = settings.control.topics
        // Settings without a hub were refused earlier.
        let ours = (try? settings.controlSettings())?.environment
        let deadline = ContinuousClock.now + .seconds(10)
        do throws(KafkaFailure) {
            let view = try ControlReading(settings.kafkaSettings, topics).view { ContinuousClock.now > deadline }
            guard ContinuousClock.now <= deadline else {
                return [.warning("control", "\(topics.control) was not read to its end in 10 s", "look at the brokers")]
            }
            let agreement = view.environments.agreement(with: ours)
            let stops = CheckFinding.stops(view.standing(at: ServiceClock.wall), try? settings.orderRules())
            return (CheckFinding.environment(agreement, on: topics.control).map { [$0] } ?? []) + stops
        } catch {
            return [.failed("control", "\(topics.control) cannot be read: \(error.detail)", error.remedyClause)]
        }
    }

    /// Checks the schema registry. Blocks for a few seconds at most.
    private static func registry(_ settings: Settings) -> [CheckFinding] {
        guard let registry = settings.schemaRegistry else { return [] }
        guard let problem = registry.problem() else { return [.ok("registry", "the schema registry answers")] }
        return [.failed("registry", problem, "check schemaRegistry.url and schemaRegistry.basicAuth")]
    }

    private static func hub(_ settings: Settings) async -> CheckFinding {
        do {
            let sender = try SingleSend(settings)
            // No device has this tag, so the hub validates the request and sends to no device.
            let unused = try Tag("newswire-check-\(UUID().uuidString)")
            let probe = SendRequest(
                format: .template, tags: TagExpression(unused).description,
                body: Array(#"{"messageParam":"newswire check"}"#.utf8))
            let (result, http) = try await sender.exchange(probe)
            let verdict = SendVerdict(result)
            let name = "\(sender.connection.endpoint)\(sender.hub)"
            return verdict.isAccepted
                ? .ok("hub", "\(name) accepts the key over \(http ?? "HTTP/1.1")")
                : .failed("hub", "\(name): \(verdict.message)", verdict.remedy)
        } catch {
            return .failed("hub", "\(error)", "check hub.connectionString, hub.name and hub.trustRoots")
        }
    }
}

package struct CheckFinding: Hashable, Sendable {
    private enum Severity: String { case ok, note, warn, fail }

    private var severity: Severity
    private var subject: String
    private var message: String
    private var remedy = ""

    /// False for a warning and for a note.
    package var isFailure: Bool { severity == .fail }

    static func ok(_ subject: String, _ message: String) -> CheckFinding {
        CheckFinding(severity: .ok, subject: subject, message: message)
    }

    /// Something that is no mistake, but surprises people.
    static func note(_ subject: String, _ message: String, _ remedy: String) -> CheckFinding {
        CheckFinding(severity: .note, subject: subject, message: message, remedy: remedy)
    }

    static func warning(_ subject: String, _ message: String, _ remedy: String) -> CheckFinding {
        CheckFinding(severity: .warn, subject: subject, message: message, remedy: remedy)
    }

    static func failed(_ subject: String, _ message: String, _ remedy: String) -> CheckFinding {
        CheckFinding(severity: .fail, subject: subject, message: message, remedy: remedy)
    }

    /// Notes that the replacement of a recalled story rings, because nobody finds that out by trying.
    package static func replacement(_ settings: Settings) -> CheckFinding? {
        settings.payload.ringing.map {
            .note("recall", "the text of recall --replace rings on phones: \($0.cause)", $0.remedy)
        }
    }

    /// Warns about platforms whose push service was switched off, because the hub accepts their sends anyway.
    package static func retired(_ settings: Settings) -> CheckFinding? {
        let names = settings.payload.platforms.filter(\.facts.isRetired).map(\.rawValue).joined(separator: " and ")
        return names.isEmpty
            ? nil
            : .warning(
                "payload", "the push service of \(names) was switched off, so no device gets these sends",
                "leave \(names) out of payload.platforms")
    }

    /// Reports a token for Kafka, and the time for which it holds.
    package static func token(_ token: OAuthToken) -> CheckFinding {
        let seconds = token.lifetime.components.seconds
        let duration = SettingsValue.text(.seconds(seconds < 120 ? seconds : seconds / 60 * 60))
        let subject = token.subject.isEmpty ? "a token" : "a token for \(token.subject)"
        return .ok("token", "\(subject) was issued, valid for \(duration)")
    }

    /// Reports a port in use only as a warning, because the service may already be running.
    package static func listen(_ address: NetworkAddress, _ failure: ListenFailure?) -> CheckFinding {
        guard let failure else { return .ok("listen", "\(address) can be opened") }
        guard failure.cause != .inUse else {
            return .warning("listen", "\(failure)", "if that is not newswire, \(failure.remedy)")
        }
        return .failed("listen", "\(failure)", "\(failure.remedy) in http.listen")
    }

    package static func topics(_ rules: TopicRules, _ states: [String: TopicState]) -> [CheckFinding] {
        let findings = rules.findings(states)
        return rules.topics.flatMap { name, use -> [CheckFinding] in
            let ours = findings.filter { $0.topic == name && $0.use == use }.map { finding -> CheckFinding in
                let message = "\(name) (\(use)) \(finding.sentence)"
                return finding.isFailure
                    ? .failed("topic", message, finding.remedy) : .warning("topic", message, finding.remedy)
            }
            if !ours.isEmpty { return ours }
            return [.ok("topic", "\(name) (\(use)) has \(counted(states[name]?.partitions ?? 0, "partition"))")]
        }
    }

    /// - Returns: `nil` if no environment is named.
    package static func environment(_ agreement: EnvironmentAgreement, on topic: String) -> CheckFinding? {
        switch agreement {
        case .unnamed: nil
        case .agreed(let environment): .ok("environment", "\(environment), as \(topic) says")
        case .unwritten(let environment, let isFirst):
            .ok(
                "environment",
                "\(environment); \(topic) names \(isFirst ? "none" : "this environment, but not this group's hub") yet, "
                    + "newswire topics --create \(environment.isImplied ? "" : "or the first start ")writes it")
        case .disagreed(let ours, let theirs):
            .failed("environment", HubEnvironment.disagreement(ours, theirs, on: topic), HubEnvironment.remedy(topic))
        }
    }

    /// A warning for each stop of a lane or category whose name the configuration does not have any more.
    ///
    /// - Parameter rules: the names of the configuration; `nil` if it is not valid.
    package static func stops(_ orders: [Order], _ rules: OrderRules?) -> [CheckFinding] {
        guard let rules else { return [] }
        return orders.compactMap { order in
            guard case .stop(let gate) = order.scope else { return nil }
            let same = Instruction(id: order.id, scope: order.scope, at: order.at, by: "check", reason: "check")
            do throws(OrderProblem) {
                _ = try rules.checked(same)
                return nil
            } catch {
                guard case .unknown(let name, let kind, _) = error else { return nil }
                let alias = kind == "a category" ? "list \(name) under its names, or " : ""
                return .warning(
                    "control", "\(gate.phrase) is stopped, but the configuration has no such name: news is sent",
                    "if it was renamed, \(alias)stop it by its new name; then newswire resume \(gate.word)")
            }
        }
    }

    package var json: String {
        String(
            decoding: JSONWriter.object { json in
                json.field("severity", severity.rawValue)
                json.field("subject", subject)
                json.field("message", message)
                if !remedy.isEmpty { json.field("remedy", remedy) }
            }, as: UTF8.self)
    }

    package func line(hasColours: Bool) -> String {
        let word = severity == .ok ? "ok  " : severity.rawValue
        let colour: TerminalColour =
            switch severity {
            case .ok: .green
            case .note: .grey
            case .warn: .yellow
            case .fail: .red
            }
        let shown = hasColours ? colour.applied(to: word) : word
        let padding = String(repeating: " ", count: max(1, 10 - subject.count))
        return "\(shown)  \(subject)\(padding)\(message)" + (remedy.isEmpty ? "" : "; \(remedy)")
    }
}

extension TopicRules.Finding {
    /// True if the operator must act: for an error, and for a missing topic of dead letters.
    var isFailure: Bool { severity != .warning || (problem == .missing && use == .deadLetters) }
}

extension SettingsProblem {
    /// The problem as a finding of `check --json`.
    fileprivate var json: String {
        String(
            decoding: JSONWriter.object { json in
                json.field("severity", severity == .error ? "fail" : "warn")
                json.field("subject", "settings")
                switch place {
                case .file(let line, _): json.field("line", line)
                case .environment(let name): json.field("variable", name)
                }
                json.field("key", key)
                json.field("message", message)
                json.field("remedy", remedy)
            }, as: UTF8.self)
    }
}
