import ByteText

@testable import NewswireSettings

/// The configuration's JSON Schema (2020-12). It is generated from `SettingsKey.all`, so that editors complete and check
/// exactly what newswire reads.
enum SettingsSchema {
    static func json() -> String {
        var output = "{\n"
        output += "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
        output += "  \"title\": \"Newswire configuration\",\n"
        output +=
            "  \"description\": \"Any value may hold ${NAME} (an environment variable) or ${file:PATH} (a file's text).\",\n"
        output += group(.root, indent: "  ") + "\n}\n"
        return output
    }

    /// The members of an object's schema, from `"type"` on.
    private static func group(_ path: SettingsPath, indent: String) -> String {
        var parts: [String] = []
        for key in SettingsKey.all where path.leads(to: key.pattern) {
            let part = key.pattern.parts[path.parts.count]
            if !parts.contains(part) { parts.append(part) }
        }
        var members = ["\(indent)\"type\": \"object\""]
        if SettingsKey.lists.contains(path) {
            members = [
                "\(indent)\"type\": \"array\"",
                "\(indent)\"items\": {\n\(group(path / "*", indent: indent + "  "))\n\(indent)}",
            ]
        } else if let only = parts.first, parts == ["*"] {
            members.append("\(indent)\"additionalProperties\": \(schema(path / only, indent: indent))")
            if path == SettingsPath("lanes") { members.append("\(indent)\"minProperties\": 1") }
        } else {
            let other = parts.contains("*") ? schema(path / "*", indent: indent) : "false"
            members.append("\(indent)\"additionalProperties\": \(other)")
            // Everything but the lanes may come from the environment.
            if path == .root { members.append("\(indent)\"required\": [\"lanes\"]") }
            if SettingsKey.lists.contains(where: { $0 / "*" == path }) {
                let required = SettingsKey.all.filter { path.leads(to: $0.pattern) && $0.isRequired }
                let names = required.compactMap { $0.pattern.parts.last.map(string) }
                members.append("\(indent)\"required\": [\(names.joined(separator: ", "))]")
            }
            let properties = parts.filter { $0 != "*" }.map {
                "\(indent)  \(string($0)): \(schema(path / $0, indent: indent + "  "))"
            }
            members.append("\(indent)\"properties\": {\n\(properties.joined(separator: ",\n"))\n\(indent)}")
        }
        return members.joined(separator: ",\n")
    }

    private static func schema(_ path: SettingsPath, indent: String) -> String {
        guard let key = SettingsKey.all.first(where: { $0.pattern == path }) else {
            let group = "{\n\(group(path, indent: indent + "  "))\n\(indent)}"
            guard let whole = SettingsKey.at(path / "default"), whole.pattern == path / "default" else { return group }
            return "{\(anyOf([group, "{\(rules(whole.kind).joined(separator: ", "))}"]))}"
        }
        var members = ["\"description\": \(string(key.summary))"]
        if let fallback = key.fallback { members.append("\"default\": \(literal(fallback, key.kind))") }
        members.append(contentsOf: rules(key.kind))
        return "{\n\(indent)  \(members.joined(separator: ",\n\(indent)  "))\n\(indent)}"
    }

    private static let reference = "{\"type\": \"string\", \"pattern\": \"\\\\$\\\\{\"}"

    private static func rules(_ kind: SettingsKey.Kind) -> [String] {
        switch kind {
        case .text: ["\"type\": [\"string\", \"number\", \"boolean\"]"]
        case .boolean: [anyOf("{\"type\": \"boolean\"}")]
        case .topic: ["\"type\": \"string\", \"minLength\": 1"]
        case .address: ["\"type\": \"string\", \"minLength\": 1"]
        case .listen: ["\"type\": [\"string\", \"boolean\"]"]
        case .integer(let range): [anyOf(integer(range))]
        case .integerOr(let word, let range): [anyOf(integer(range), "{\"const\": \(string(word))}")]
        case .duration(_, let orNone):
            [
                anyOf(
                    ["{\"type\": \"string\", \"pattern\": \"^([0-9]+(ms|s|m|h|d))+$\"}"]
                        + (orNone ? ["{\"const\": \"none\"}"] : []))
            ]
        case .percent(let orNone):
            [
                anyOf(
                    ["{\"type\": \"string\", \"pattern\": \"^[0-9]{1,3}%$\"}"]
                        + (orNone ? ["{\"const\": \"none\"}"] : []))
            ]
        case .share: [anyOf("{\"type\": \"number\", \"minimum\": 0, \"maximum\": 1}")]
        case .size(let range):
            [anyOf(integer(range), "{\"type\": \"string\", \"pattern\": \"^[0-9]+(B|kB|KB|MB|GB|KiB|MiB|GiB)?$\"}")]
        case .choice(let words): [anyOf("{\"enum\": [\(words.map(string).joined(separator: ", "))]}")]
        case .money: [anyOf(amount)]
        case .priceSteps:
            [
                "\"anyOf\": [{\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, \"prefixItems\": [{\"type\": [\"integer\", \"null\"], \"minimum\": 1}, \(amount)]}}, {\"type\": \"string\"}]"
            ]
        case .tree: ["\"type\": [\"object\", \"string\"]"]
        case .eventMap:
            [
                "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"string\"}}, {\"type\": \"object\"}]"
            ]
        case .list(let item):
            [
                "\"anyOf\": [{\"type\": \"array\", \"minItems\": 1, \"items\": {\(rules(item).joined(separator: ", "))}}, {\"type\": \"string\"}]"
            ]
        }
    }

    private static let amount = "{\"type\": \"number\", \"minimum\": 0}"

    private static func integer(_ range: ClosedRange<Int>) -> String {
        "{\"type\": \"integer\", \"minimum\": \(range.lowerBound), \"maximum\": \(range.upperBound)}"
    }

    private static func anyOf(_ rules: String...) -> String { anyOf(rules) }

    private static func anyOf(_ rules: [String]) -> String {
        "\"anyOf\": [\((rules + [reference]).joined(separator: ", "))]"
    }

    private static func literal(_ text: String, _ kind: SettingsKey.Kind) -> String {
        switch kind {
        case .integer, .integerOr: Int(digits: text).map(String.init) ?? string(text)
        default: string(text)
        }
    }

    private static func string(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONEscaping.append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
