import ByteText
import NewsModel
import NotificationHub

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
        guard SettingsReader.isHTTP(url, without: "@?#") else {
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
        if let index = formats.dropLast().firstIndex(where: \.hasEveryRecord) {
            reader.report(
                "events.formats" / formats[index + 1].name,
                "is never tried: every record has the format \(formats[index].name)",
                "write what tells its records apart into \(formats[index].name)'s when, or put that format last")
        }
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
            if condition.values.isEmpty {
                reader.report(path / "when" / "is", "names no value", "write the values, or leave it out for any value")
            }
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
        guard reader.isGiven(path), let tree = reader.tree(path) else { return nil }
        do throws(SourceProblem) {
            self.init(member, try SourceSyntax.sources(tree, of: member))
        } catch {
            reader.report(path, error.message, error.remedy)
            return nil
        }
        for (text, problem) in impossibleValues {
            reader.report(
                path, "'\(text.prefix(60))' can be no event's \(member.rawValue) (\(problem))",
                "its meaning: \(member.summary)")
        }
    }
}

private struct SourceProblem: Error {
    var message: String
    var remedy: String

    static let noPointer = "is not a JSON Pointer"
    static let example = "begin it with a slash, e.g. /teaser/title"
}

/// The notation of one entry of `map`.
private enum SourceSyntax {
    static func sources(_ tree: JSONTree, of member: EventMember) throws(SourceProblem) -> [MemberSource] {
        guard member.isObject, case .object(let named) = tree else { return [try source(tree, of: member, name: nil)] }
        var sources: [MemberSource] = []
        for one in named { sources.append(try source(one.value, of: member, name: one.name)) }
        return sources
    }

    /// The beginning of a message about an entry of `data` or `headlines`.
    private static func place(of name: String?) -> String { name.map { "\($0): " } ?? "" }

    private static func source(
        _ tree: JSONTree, of member: EventMember, name: String?
    ) throws(SourceProblem) -> MemberSource {
        let place = place(of: name)
        guard case .object(let entries) = tree else {
            return MemberSource(name: name, pointers: try pointers(tree, of: member, name))
        }
        var source = MemberSource(name: name, pointers: [])
        for entry in entries {
            switch (entry.name, entry.value.fixedText) {
            case ("from", _): source.pointers = try pointers(entry.value, of: member, name)
            case ("else", let text?): source.otherwise = text
            case ("as", let text?):
                guard member.isTime else {
                    throw SourceProblem(message: "\(place)as is for times", remedy: "leave it out")
                }
                source.unit = MemberSource.TimeUnit(rawValue: text)
                guard source.unit == nil else { break }
                let known = MemberSource.TimeUnit.allCases.map(\.rawValue).joined(separator: ", ")
                throw SourceProblem(message: "\(place)as is '\(text.prefix(60))'", remedy: "write one of \(known)")
            case ("values", nil): source.values = try values(entry.value, place)
            default:
                let keys = ["from", "values", "else", "as"]
                let hint = keys.contains(entry.name) ? nil : Spelling.question(for: entry.name, among: keys)
                throw SourceProblem(
                    message: "\(place)\(entry.name.prefix(60)) is not understood",
                    remedy: hint ?? "write {from: …, values: {…}, else: …, as: …}")
            }
        }
        guard !source.pointers.isEmpty || source.otherwise != nil else {
            throw SourceProblem(
                message: "\(place)has no from", remedy: "write where the value stands, or else for a fixed value")
        }
        return source
    }

    private static func values(_ tree: JSONTree, _ place: String) throws(SourceProblem) -> [String: String] {
        var values: [String: String] = [:]
        guard case .object(let pairs) = tree, !pairs.isEmpty else {
            throw SourceProblem(
                message: "\(place)values is not understood", remedy: "write pairs, e.g. {flash: 1, urgent: 2}")
        }
        for pair in pairs {
            guard let meaning = pair.value.fixedText else {
                throw SourceProblem(
                    message: "\(place)values has an entry that is no single value",
                    remedy: "write the document's text and the event's value, e.g. {flash: 1, urgent: 2}")
            }
            values[pair.name] = meaning
        }
        return values
    }

    private static func pointers(
        _ tree: JSONTree, of member: EventMember, _ name: String?
    ) throws(SourceProblem) -> [JSONPointer] {
        let place = place(of: name)
        let texts = if case .array(let items) = tree { items } else { [tree] }
        var pointers: [JSONPointer] = []
        for item in texts {
            guard let pointer = item.string.flatMap(JSONPointer.init) else {
                let shown = item.scalarText.map { "'\($0.prefix(60))' " } ?? ""
                throw SourceProblem(
                    message: "\(place)\(shown)\(SourceProblem.noPointer)", remedy: SourceProblem.example)
            }
            guard !pointer.description.isEmpty || member.isObject && name == nil else {
                throw SourceProblem(message: "\(place)'' is the whole document", remedy: SourceProblem.example)
            }
            pointers.append(pointer)
        }
        guard !pointers.isEmpty else {
            throw SourceProblem(message: "\(place)names no pointer", remedy: SourceProblem.example)
        }
        return pointers
    }
}

extension JSONTree {
    /// A single value as text; `nil` for a list or a mapping.
    fileprivate var fixedText: String? { self == .null ? "" : scalarText }
}
