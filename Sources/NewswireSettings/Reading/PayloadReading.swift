import ByteText
import NotificationHub
import PublishEngine

extension NativeBody {
    /// - Returns: `nil` if the body is missing or cannot be read.
    static func read(_ reader: inout SettingsReader, _ path: SettingsPath) -> NativeBody? {
        let body = reader.tree(path / "body")
        var classes: [UrgencyClass: JSONTree] = [:]
        for urgency in UrgencyClass.allCases { classes[urgency] = reader.tree(path / urgency.rawValue) }
        return body.map { NativeBody(body: $0, classes: classes) }
    }
}

extension PayloadSettings {
    mutating func readBodies(_ reader: inout SettingsReader) {
        let (bodies, texts): (SettingsPath, SettingsPath) = ("payload.native", "payload.properties")
        for name in reader.names(under: bodies) {
            guard let platform = Platform(rawValue: name), platform != .template else {
                let known = NativeBody.platforms.map(\.rawValue)
                let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
                reader.report(
                    bodies / name, "is no platform", near ?? "name one of \(known.joined(separator: ", "))")
                continue
            }
            native[platform] = NativeBody.read(&reader, bodies / name)
        }
        properties = reader.names(under: texts).compactMap { name in
            reader.text(texts / name).map { Property(name: name, template: $0) }
        }
    }
}

extension SettingsReader {
    /// The setting with the places of its parts; `nil` if it is absent.
    mutating func tree(_ path: SettingsPath) -> JSONTree? {
        guard let key = SettingsKey.at(path), let node = given(path, key) else { return nil }
        let tree = tree(node, at: path, of: path)
        guard isSound(path) else { return nil }
        noteInForce(path, [tree.string ?? String(decoding: tree.bytes, as: UTF8.self)], at: node.place)
        return tree
    }

    private mutating func tree(_ node: SettingsNode, at path: SettingsPath, of setting: SettingsPath) -> JSONTree {
        note(node.place, of: path)
        guard path.parts.count - setting.parts.count <= Self.treeDepthMax else {
            report(setting, "is nested deeper than \(Self.treeDepthMax)", "write a flatter payload", at: node.place)
            return .null
        }
        switch node.content {
        case .empty: return .null
        case .scalar(let raw):
            guard let text = expand(raw, at: node.place, setting)?.text else { return .null }
            return node.isQuoted ? .string(text) : Self.plain(text)
        case .list(let items):
            return .array(items.enumerated().map { tree($0.element, at: path / "\($0.offset + 1)", of: setting) })
        case .mapping(let entries):
            return .object(
                entries.map { entry in
                    let value = tree(entry.value, at: path / entry.key, of: setting)
                    note(entry.place, of: path / entry.key)
                    return JSONTree.Member(entry.key, value)
                })
        }
    }

    /// No payload is deeper, and each level is a call.
    private static let treeDepthMax = 64

    /// A value without quotes: a number or a flag if JSON would read it as one, else a text.
    private static func plain(_ text: String) -> JSONTree {
        switch JSONTree(parsing: Array(text.utf8)) {
        case .number(text)?: .number(text)
        case .bool(let flag)?: .bool(flag)
        default: .string(text)
        }
    }
}
