/// One setting as it holds after file, environment and defaults, ready to be shown: secrets are already masked.
struct EffectiveSetting: Hashable, Sendable {
    static let mask = "***"

    var path: SettingsPath
    var values: [String]
    var isList: Bool
    /// What really holds, for comparing two readings.
    var actual: [Secret]
    /// `nil` for a default.
    var place: SettingsPlace?

    var masked: EffectiveSetting {
        var masked = self
        masked.values = [Self.mask]
        return masked
    }

    /// Whether a value must not be shown although its key is not marked: librdkafka properties that carry secrets,
    /// and any that was filled in from elsewhere.
    static func isSecret(_ path: SettingsPath, isFilledIn: Bool) -> Bool {
        guard path.matches(SettingsPath("kafka.properties.*")), let name = path.parts.last?.lowercased() else {
            return false
        }
        // Of what concerns identity only the harmless part is shown, so that a misspelt password is not.
        if name.hasPrefix("sasl.") || name.hasPrefix("ssl.") {
            let harmless = [".mechanism", ".mechanisms", ".username", ".location", ".algorithm"]
            return isFilledIn || !harmless.contains { name.hasSuffix($0) }
        }
        return isFilledIn
            || ["password", "secret", "token", "oauthbearer.config", ".pem", "key"].contains { name.contains($0) }
    }

    /// All settings as YAML, each with where it came from.
    static func yaml(_ settings: [EffectiveSetting]) -> String {
        var output = ""
        var before: [String] = []
        for setting in settings {
            let parts = setting.path.parts
            let shared = zip(before, parts.dropLast()).prefix { $0 == $1 }.count
            for depth in shared..<max(shared, parts.count - 1) {
                output += indent(depth) + quoted(parts[depth]) + ":\n"
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

    /// As a YAML value on one line, in quotes where it could mean something else.
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
