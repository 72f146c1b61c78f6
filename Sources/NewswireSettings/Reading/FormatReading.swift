import ByteText
import NewsModel

/// The settings of `schemaRegistry`.
package struct RegistrySettings: Sendable {
    package var url: String
    package var basicAuth: Secret?
}

extension RegistrySettings {
    /// - Returns: `nil` without a registry.
    init?(_ reader: inout SettingsReader) {
        let path: SettingsPath = "schemaRegistry.url"
        let basicAuth = reader.text("schemaRegistry.basicAuth")
        if let basicAuth, !basicAuth.contains(":") {
            reader.report("schemaRegistry.basicAuth", "has no colon", "write user:password")
        }
        guard let url = reader.text(path) else {
            if basicAuth != nil { reader.report(path, "is missing", "write the registry's address") }
            return nil
        }
        let rest = ["https://", "http://"].first(where: url.hasPrefix).map { url.dropFirst($0.count) }
        guard let rest, !rest.isEmpty, !rest.contains(where: { $0.isWhitespace || "@?#".contains($0) }) else {
            reader.report(
                path, "is not the address of a registry",
                "write e.g. https://registry:8081, and user and password into schemaRegistry.basicAuth")
            return nil
        }
        self.init(url: url, basicAuth: basicAuth.map(Secret.init))
    }
}

extension EventFormats {
    init(_ reader: inout SettingsReader, usesRegistry: Bool) {
        let formats = reader.names(under: "events.formats").map { EventFormat($0, &reader) }
        self.init(formats, usesRegistry: usesRegistry)
    }
}

extension EventFormat {
    fileprivate init(_ name: String, _ reader: inout SettingsReader) {
        let path = "events.formats" / name
        let shownName = reader.text(path / "name") ?? name
        var condition = Condition()
        if reader.isGiven(path / "when" / "topic") { condition.topic = reader.text(path / "when" / "topic") }
        for header in reader.names(under: path / "when" / "header") {
            guard let value = reader.text(path / "when" / "header" / header) else { continue }
            condition.headers.append(Condition.Header(name: header, value: value))
        }
        let member = path / "when" / "member"
        if reader.isGiven(member), let text = reader.text(member) {
            condition.member = JSONPointer(text)
            if condition.member == nil {
                reader.report(member, "'\(text.prefix(60))' \(SourceProblem.noPointer)", SourceProblem.example)
            }
        }
        if reader.isGiven(path / "when" / "is") {
            condition.values = reader.texts(path / "when" / "is")
            if !reader.isGiven(member) {
                reader.report(path / "when" / "is", "is without when.member", "write the JSON Pointer of the value")
            }
        }
        let members = EventMember.allCases.compactMap { MappedMember($0, path / "map" / $0.rawValue, &reader) }
        if !reader.isGiven(path / "map" / "headline") {
            reader.report(path / "map" / "headline", "is missing", "write where the headline stands, e.g. /title")
        }
        if !reader.isGiven(path / "map" / "id") {
            reader.report(
                path / "map" / "id", "is missing, so only records with the header ce_id are events",
                "write where the id stands, e.g. /id", severity: .warning)
        }
        self.init(name: shownName, condition: condition, members: members)
    }
}

extension MappedMember {
    /// - Returns: `nil` for a member that the format does not map.
    fileprivate init?(_ member: EventMember, _ path: SettingsPath, _ reader: inout SettingsReader) {
        guard reader.isGiven(path), let text = reader.text(path) else { return nil }
        do throws(SourceProblem) {
            self.init(member, try SourceSyntax.sources(text, of: member))
        } catch {
            reader.report(path, error.message, error.remedy)
            return nil
        }
    }
}

private struct SourceProblem: Error {
    var message: String
    var remedy: String

    static let noPointer = "is not a JSON Pointer"
    static let example = "begin it with a slash, e.g. /teaser/title"
}

/// The notation of one entry of `map`. A mapping or a list of the file arrives here as JSON.
private enum SourceSyntax {
    static func sources(_ text: String, of member: EventMember) throws(SourceProblem) -> [MemberSource] {
        guard text.hasPrefix("{") || text.hasPrefix("[") else { return [try source(.text(text), name: nil)] }
        guard let tree = SettingsTree(json: text) else {
            throw SourceProblem(message: "is not understood", remedy: "write \(SettingsKey.Kind.eventMap.expectation)")
        }
        guard member.isObject, case .mapping(let members) = tree else { return [try source(tree, name: nil)] }
        var sources: [MemberSource] = []
        for (name, tree) in members { sources.append(try source(tree, name: name)) }
        return sources
    }

    private static func source(_ tree: SettingsTree, name: String?) throws(SourceProblem) -> MemberSource {
        let place = name.map { "\($0): " } ?? ""
        guard case .mapping(let entries) = tree else {
            return MemberSource(name: name, pointers: try pointers(tree, place))
        }
        var source = MemberSource(name: name, pointers: [])
        for (key, value) in entries {
            switch (key, value) {
            case ("from", _): source.pointers = try pointers(value, place)
            case ("else", .text(let text)): source.otherwise = text
            case ("as", .text(let text)):
                source.unit = MemberSource.TimeUnit(rawValue: text)
                guard source.unit == nil else { break }
                let known = MemberSource.TimeUnit.allCases.map(\.rawValue).joined(separator: ", ")
                throw SourceProblem(message: "\(place)as is '\(text.prefix(60))'", remedy: "write one of \(known)")
            case ("values", .mapping(let pairs)):
                var values: [String: String] = [:]
                for case (let text, .text(let meaning)) in pairs { values[text] = meaning }
                guard values.count == pairs.count else {
                    throw SourceProblem(
                        message: "\(place)values has an entry that is no single value",
                        remedy: "write the document's text and the event's value, e.g. {flash: 1, urgent: 2}")
                }
                source.values = values
            default:
                let keys = ["from", "values", "else", "as"]
                let hint = keys.contains(key) ? nil : Spelling.question(for: key, among: keys)
                throw SourceProblem(
                    message: "\(place)\(key.prefix(60)) is not understood",
                    remedy: hint ?? "write {from: …, values: {…}, else: …, as: …}")
            }
        }
        guard !source.pointers.isEmpty || source.otherwise != nil else {
            throw SourceProblem(
                message: "\(place)has no from", remedy: "write where the value stands, or else for a fixed value")
        }
        return source
    }

    private static func pointers(_ tree: SettingsTree, _ place: String) throws(SourceProblem) -> [JSONPointer] {
        let texts: [SettingsTree]
        if case .list(let items) = tree { texts = items } else { texts = [tree] }
        var pointers: [JSONPointer] = []
        for case let item in texts {
            guard case .text(let text) = item, let pointer = JSONPointer(text) else {
                let shown = if case .text(let text) = item { "'\(text.prefix(60))' " } else { "" }
                throw SourceProblem(
                    message: "\(place)\(shown)\(SourceProblem.noPointer)", remedy: SourceProblem.example)
            }
            pointers.append(pointer)
        }
        guard !pointers.isEmpty else {
            throw SourceProblem(message: "\(place)names no pointer", remedy: SourceProblem.example)
        }
        return pointers
    }
}

/// A value of the file that was passed on as JSON. All single values are texts.
private indirect enum SettingsTree {
    case text(String)
    case list([SettingsTree])
    case mapping([(String, SettingsTree)])

    init?(json: String) {
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        // The parser reads objects only.
        let bytes = Array("{\"\":\(json)}".utf8)
        let object = try? bytes.withUnsafeBufferPointer { bytes throws(Undecodable) in try parser.object(in: bytes) }
        guard let value = object?.first(where: { _ in true })?.value else { return nil }
        self.init(value)
    }

    private init(_ value: JSONValue) {
        switch value {
        case .string(let text): self = .text(String(decoding: text, as: UTF8.self))
        case .array(let array): self = .list(array.map { SettingsTree($0) })
        case .object(let object):
            self = .mapping(object.map { (String(decoding: $0.name, as: UTF8.self), SettingsTree($0.value)) })
        case .integer(let number): self = .text(String(number))
        case .boolean(let flag): self = .text(flag ? "true" : "false")
        case .number(let number): self = .text(String(number))
        case .unsigned(let number): self = .text(String(number))
        case .null: self = .text("")
        }
    }
}

extension SettingsNode {
    /// The node as JSON, with all single values as texts.
    var json: String {
        var bytes: [UInt8] = []
        JSONWriter.write(into: &bytes) { write(into: &$0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(into json: inout JSONWriter) {
        switch content {
        case .scalar(let text): json.value(text)
        case .empty: json.value("")
        case .list(let items):
            json.array { json in
                for item in items { item.write(into: &json) }
            }
        case .mapping(let entries):
            json.object { json in
                for entry in entries {
                    json.name(escaping: entry.key)
                    entry.value.write(into: &json)
                }
            }
        }
    }
}
