import Feeds

/// One setting in force, from the file, the environment or its default. It can be shown, because secrets are masked.
package struct EffectiveSetting: Hashable, Sendable {
    package var path: SettingsPath
    var values: [String]
    var isList: Bool
    /// The unmasked values, to compare two readings.
    var actual: [Secret]
    /// The place of the value; `nil` for a default.
    var place: SettingsPlace?

    var masked: EffectiveSetting {
        var masked = self
        masked.values = [Secret.mask]
        return masked
    }

    /// True for values that must not be shown although their key is not marked as secret. These are librdkafka properties with
    /// secrets, and librdkafka properties and feeds' addresses that were filled in from elsewhere.
    static func isSecret(_ path: SettingsPath, isFilledIn: Bool) -> Bool {
        // The address of such a feed contains the key that its publisher asks for.
        if isFilledIn, path.matches(SettingsPath("ingest.feeds.*.url")) { return true }
        guard path.matches(SettingsPath("kafka.properties.*")), let name = path.parts.last?.lowercased() else {
            return false
        }
        // Of sasl.* and ssl.*, only properties known to be harmless are shown, because `sasl.pasword` is a password too.
        if name.hasPrefix("sasl.") || name.hasPrefix("ssl.") {
            let harmless = [".mechanism", ".mechanisms", ".username", ".location", ".algorithm"]
            return isFilledIn || !harmless.contains { name.hasSuffix($0) }
        }
        return isFilledIn
            || ["password", "secret", "token", "oauthbearer.config", ".pem", "key"].contains { name.contains($0) }
    }

    /// The value as it may be shown: publishers put keys into the query of a feed's address.
    static func shown(_ value: String, at path: SettingsPath) -> String {
        guard path.matches(SettingsPath("ingest.feeds.*.url")) else { return value }
        return WebAddress(value)?.shown ?? value
    }

    /// All settings as YAML, each with its origin.
    package static func yaml(_ settings: [EffectiveSetting]) -> String {
        var output = ""
        var before: [String] = []
        for setting in settings {
            let parts = setting.path.parts
            let shared = zip(before, parts.dropLast()).prefix { $0 == $1 }.count
            for depth in shared..<max(shared, parts.count - 1) {
                let isItem = SettingsKey.lists.contains(SettingsPath(Array(parts[..<depth])))
                let isNamed = isItem && SettingsKey.hasNames(SettingsPath(Array(parts[..<depth])))
                let item = isNamed ? "- name: \(quoted(parts[depth]))" : "-"
                output += indent(depth) + (isItem ? item : "\(quoted(parts[depth])):") + "\n"
            }
            let shown = setting.values.map(quoted)
            let value = setting.isList ? "[" + shown.joined(separator: ", ") + "]" : shown.first ?? ""
            output += indent(parts.count - 1) + quoted(parts.last ?? "") + ": " + value + "  # " + setting.origin + "\n"
            before = parts.dropLast()
        }
        return output
    }

    private var origin: String {
        switch place {
        case .file(let line, _): "line \(line)"
        case .environment(let name): name
        case nil: "default"
        }
    }

    private static func indent(_ depth: Int) -> String { String(repeating: "  ", count: depth) }

    /// A YAML value on one line, in quotes if it could be misread.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.first != "-" && text.last != ":"
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-/%:".contains($0)) }
        if isPlain { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\x" + (hex.count < 2 ? "0" : "") + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// The difference between the settings in force and the settings read again.
package struct SettingsChange: Hashable {
    /// The changed paths in the order of the new settings, followed by the removed paths.
    private var paths: [SettingsPath]

    package init(from old: [EffectiveSetting], to new: [EffectiveSetting]) {
        // A setting may occur again in the environment. Its last value counts.
        let before = Dictionary(old.map { ($0.path, $0.actual) }) { $1 }
        let after = Dictionary(new.map { ($0.path, $0.actual) }) { $1 }
        paths = new.map(\.path).filter { before[$0] != after[$0] } + old.map(\.path).filter { after[$0] == nil }
        // The order of lanes in the file is their urgency, so another order is a change.
        let lanes = { (settings: [EffectiveSetting]) in settings.map(\.path).filter { $0.parts.first == "lanes" } }
        if paths.isEmpty, lanes(old) != lanes(new) { paths = [SettingsPath("lanes")] }
    }

    /// The changed settings that take effect at once.
    package var reloaded: [SettingsPath] { paths.filter(\.isReloadable) }
    package var needRestart: [SettingsPath] { paths.filter { !$0.isReloadable } }
}

extension SettingsPath {
    /// True for settings that can change while the publisher runs.
    package var isReloadable: Bool {
        switch parts.first {
        case "rate", "categories", "unroutable", "floodGuard": true
        case "payload": self != "payload.mode" && self != "payload.platforms"
        case "test", "users", "quiet", "localization": true
        // The running decoders keep the places in documents.
        case "interests": parts.last == "tag"
        case "hub": parts == ["hub", "trustRoots"] || parts == ["hub", "connectionString"]
        case "http": parts == ["http", "token"]
        case "logging": parts == ["logging", "level"]
        case "kafka":
            parts.count > 2 && parts[1] == "oauth"
                || ["kafka.properties.sasl.username", "kafka.properties.sasl.password"].contains(description)
        // `newswire ingest` applies its feeds at once. The publisher uses neither feeds nor prices.
        case "ingest", "prices": true
        default: false
        }
    }
}
