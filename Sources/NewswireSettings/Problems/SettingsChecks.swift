import ByteText
import ControlIO
import Feeds
import HubIO
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import OTLPTracing
import PublishEngine

/// Problems that a single value does not show, such as settings that contradict one another.
extension Settings {
    func check(_ reader: inout SettingsReader) {
        checkKafka(&reader)
        checkLanes(&reader)
        checkTopics(&reader)
        checkFormats(&reader)
        checkSecrets(&reader)
        checkHub(&reader)
        checkPayload(&reader)
        checkPolicy(&reader)
        checkTracing(&reader)
        if ingest.isConfigured { ingest.check(&reader, lanes: engine.lanes.map(\.name), categories: categories) }
        if engine.retry.first > engine.retry.longest, reader.isSound("retry.firstDelay"),
            reader.isSound("retry.maxDelay")
        {
            reader.report("retry.maxDelay", "is shorter than retry.firstDelay", "raise it, or lower the first delay")
        }
    }

    // MARK: Kafka

    private func checkKafka(_ reader: inout SettingsReader) {
        // Checks properties one by one, so that each problem gets its own line.
        for property in kafkaProperties {
            let alone = KafkaSettings(
                bootstrapServers: [], group: "", properties: [property.name: property.value.revealed])
            for failure in alone.refusedProperties {
                reader.report("kafka.properties" / property.name, "cannot be set", failure.remedyClause)
            }
            for failure in alone.misfitProperties {
                reader.report("kafka.properties" / property.name, failure.detail, failure.remedyClause)
            }
        }
        checkLogin(&reader)
    }

    private func checkLanes(_ reader: inout SettingsReader) {
        let lanes = engine.lanes
        if lanes.isEmpty, reader.isSound("lanes"), !reader.isMisspelt("lanes") {
            reader.report("lanes", "there is no lane", "write at least one, e.g. live: {topics: [news.events]}")
        }
        for lane in lanes {
            let isName =
                (1...64).contains(lane.name.utf8.count)
                && lane.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            if !isName {
                reader.report(
                    "lanes" / lane.name, "is not a valid name for a lane", "use at most 64 letters, digits, '-' or '_'")
            }
        }
        let floors = lanes.reduce(0) { $0 + $1.floorPercent }
        if floors > 100, let last = lanes.last(where: { $0.floorPercent > 0 }) {
            reader.report(
                "lanes" / last.name / "floor", "the floors of all lanes add up to \(floors)%",
                "make them add up to at most 100%")
        }
    }

    private func checkFormats(_ reader: inout SettingsReader) {
        guard let table = try? CategoryTable(categories) else { return }
        let topics = engine.lanes.flatMap(\.topics)
        for format in engine.formats.formats {
            if let topic = format.topic, !topics.contains(topic) {
                reader.report(
                    "events.formats" / format.name / "when" / "topic", "no lane reads the topic '\(topic.prefix(60))'",
                    Spelling.question(for: topic, among: topics) ?? "name a topic of lanes", severity: .warning)
            }
            for (member, name) in format.fixedCategories where table.index(named: name) == nil {
                reader.report(
                    "events.formats" / format.name / "map" / member.rawValue,
                    "gives the category '\(name.prefix(60))', which is none of categories",
                    Spelling.question(for: name, among: categories.map(\.name)) ?? "name one of categories",
                    severity: .warning)
            }
        }
    }

    /// Checks that no topic has two uses, because results read back as news would be sent to everyone.
    private func checkTopics(_ reader: inout SettingsReader) {
        var uses: [String: String] = [:]
        var all: [(topic: String, path: SettingsPath, use: String)] = []
        for lane in engine.lanes {
            all += lane.topics.map { ($0, "lanes" / lane.name / "topics", "lanes.\(lane.name).topics") }
        }
        all.append((engine.resultsTopic, "results.topic", "results.topic"))
        all.append((deadLettersTopic, "deadLetters.topic", "deadLetters.topic"))
        if ingest.isConfigured {
            all.append((ingest.stateTopic, "ingest.stateTopic", "ingest.stateTopic"))
        }
        all.append((control.topics.control, "control.topic", "control.topic"))
        all.append((control.topics.audit, "control.auditTopic", "control.auditTopic"))
        all.append((control.topics.held, "held.topic", "held.topic"))
        if telemetry.isConfigured { all.append((telemetry.topic, "telemetry.topic", "telemetry.topic")) }
        for (topic, path, use) in all where !topic.isEmpty {
            if let other = uses[topic] {
                reader.report(path, "the topic \(topic) is already used by \(other)", "give each its own topic")
            } else {
                uses[topic] = use
            }
        }
    }

    // MARK: Tracing

    private func checkTracing(_ reader: inout SettingsReader) {
        if let endpoint = tracing.endpoint {
            do { _ = try CollectorAddress(endpoint) } catch {
                reader.report(
                    "tracing.otlp.endpoint", "\(error)",
                    "write the collector's base address, e.g. http://127.0.0.1:4318; secrets go to tracing.otlp.headers"
                )
            }
        }
        for header in tracing.headers {
            let isName = header.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            let isValue = header.value.revealed.unicodeScalars.allSatisfy { (0x20...0x7e).contains($0.value) }
            if !isName || !isValue {
                reader.report(
                    "tracing.otlp.headers" / header.name, "is not a valid HTTP header",
                    "use plain ASCII, without line breaks")
            }
        }
    }

    // MARK: Payload and categories

    private func checkPayload(_ reader: inout SettingsReader) {
        var problems = payload.problems
        problems += CategoryTable.problems(in: categories)
        // Only a valid table has the names that the policy may use.
        if let table = try? CategoryTable(categories) {
            problems += Router.problems(table: table, unroutable: unroutable)
            problems += payload.localization?.tagProblems(categories: categories) ?? []
        }
        let special = [policy.testTag, payload.templates?.normal, payload.templates?.quiet].compactMap { $0 }
        problems += policy.interests.problems(besides: special, categories, payload.localization)
        for problem in problems {
            let path = SettingsPath(problem.path)
            if reader.isSound(path) { reader.report(path, problem.message, problem.remedy) }
        }
        guard problems.isEmpty else { return }
        for problem in payload.warnings {
            reader.report(SettingsPath(problem.path), problem.message, problem.remedy, severity: .warning)
        }
    }

    // MARK: Secrets

    /// Reports each placeholder of an example that was not replaced by a secret.
    private func checkSecrets(_ reader: inout SettingsReader) {
        var forgotten: [SettingsPath] = []
        if Placeholder.isIn(connectionString: connectionString.revealed) { forgotten.append("hub.connectionString") }
        if let token, Placeholder.isSecret(token.revealed) { forgotten.append("http.token") }
        if case .endpoint(let endpoint)? = kafka.login.source?.origin, Placeholder.isSecret(endpoint.secret) {
            forgotten.append("kafka.oauth.clientSecret")
        }
        var groups: [(SettingsPath, [SecretField])] = [
            ("kafka.properties", kafkaProperties), ("tracing.otlp.headers", tracing.headers),
        ]
        for feed in ingest.feeds.feeds where !feed.headers.isEmpty {
            let fields = feed.headers.map { SecretField(name: $0.name, value: Secret($0.value)) }
            groups.append(("ingest.feeds" / feed.name / "headers", fields))
        }
        for (group, fields) in groups {
            forgotten += fields.filter { field in
                let isHidden =
                    SettingsKey.at(group / field.name)?.isSecret ?? false
                    || EffectiveSetting.isSecret(group / field.name, isFilledIn: false)
                return isHidden && Placeholder.isSecret(field.value.revealed)
            }.map { group / $0.name }
        }
        for path in forgotten {
            reader.report(path, "still holds the placeholder of an example", "write the real value in its place")
        }
    }

    // MARK: Hub

    private func checkHub(_ reader: inout SettingsReader) {
        // Reads the certificates now, because a service without them would be halted from its first request on.
        if case .file = trustRoots {
            do { _ = try trustRoots.makeContext() } catch {
                reader.report("hub.trustRoots", "\(error)", "name a file with the certificates of the authorities")
            }
        }
        if let hubName {
            do { _ = try HubName(hubName) } catch { reader.report("hub.name", "\(error)", "") }
        }
        guard !connectionString.revealed.isEmpty, reader.isSound("hub.connectionString") else { return }
        do {
            let connection = try ConnectionString(parsing: connectionString.revealed)
            if hubName == nil, connection.entityPath == nil, reader.isSound("hub.name") {
                reader.report(
                    "hub.name", "is missing", "write the hub's name, or end the connection string with ;EntityPath=NAME"
                )
            }
        } catch {
            reader.report("hub.connectionString", "\(error)", "")
        }
    }
}

/// Words that replace secrets in examples. A service with one of them would be refused by the hub, or be open to everyone who
/// has read the example.
enum Placeholder {
    /// True for a whole secret such as `REPLACE-ME`, `<token>` or `changeme`, also after a word as in `Bearer REPLACE`.
    static func isSecret(_ text: String) -> Bool {
        stands(text[...]) || text.split(separator: " ").dropFirst().contains(where: stands)
    }

    /// True if a value of the connection string, or a part of its host's name, is a placeholder.
    static func isIn(connectionString text: String) -> Bool {
        text.split(separator: ";").contains { part in
            let value = part.firstIndex(of: "=").map { part[$0...].dropFirst() } ?? part
            return stands(value) || value.contains("<") || value.split { "/.:".contains($0) }.contains(where: stands)
        }
    }

    private static func stands(_ text: Substring) -> Bool {
        if text.hasPrefix("REPLACE") || text.first == "<" && text.last == ">" { return true }
        return ["changeme", "replaceme"].contains(text.lowercased().filter { !"_- ".contains($0) })
    }
}
