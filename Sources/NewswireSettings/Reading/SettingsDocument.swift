import Yams

/// A YAML text as nodes with their places. Limits ensure that no text takes long to read.
///
/// Yams parses the text. The additions are what its errors and limits do not offer: `${…}` without quotes, a bound for aliases,
/// and all repeated keys at once.
package struct SettingsDocument: Sendable {
    /// Maximum length of a text, in UTF-8 bytes.
    static let bytesMax = 4 * 1024 * 1024
    /// Maximum number of values in a document after its aliases are followed.
    static let nodesMax = 300_000
    /// Maximum number of aliases, because they multiply their content.
    static let aliasesMax = 16
    /// Maximum number of repeated keys, because each costs another reading of the text.
    static let repeatedKeysMax = 20

    /// The top mapping's entries; empty if the text could not be read at all.
    package private(set) var entries: [SettingsNode.Entry] = []
    package private(set) var problems: [SettingsProblem] = []
    /// False if the text was not read to its end, so that nothing is known about missing settings.
    private(set) var isReadable = true

    private var nodesLeft = SettingsDocument.nodesMax
    private var repeated: [SettingsPlace: String] = [:]

    package init(_ text: String) {
        guard text.utf8.count <= Self.bytesMax else {
            note(.start, "the file is larger than \(Self.bytesMax / 1024) KiB", "keep only settings in it")
            isReadable = false
            return
        }
        guard Self.aliasCount(in: text) <= Self.aliasesMax else {
            note(.start, "more than \(Self.aliasesMax) YAML aliases (*name)", "write the values out")
            isReadable = false
            return
        }
        guard let root = compose(Self.shielded(text)) else {
            isReadable = problems.isEmpty
            return
        }
        let node = convert(root)
        switch node.content {
        case .mapping(let entries): self.entries = entries
        case .empty: break
        case .scalar, .list:
            note(node.place, "expected keys and values, found \(node.kindName)", "start with a line like 'kafka:'")
            isReadable = false
        }
        if nodesLeft <= 0 {
            note(.start, "more than \(Self.nodesMax) values", "write fewer, and check what its aliases repeat")
            isReadable = false
        }
    }

    private mutating func note(_ place: SettingsPlace, _ message: String, _ remedy: String, key: String = "") {
        problems.append(SettingsProblem(place: place, key: key, message: message, remedy: remedy))
    }

    // MARK: YAML

    /// Composes the nodes of a text. Yams stops at the first mapping with a repeated key. To find the other problems too, this
    /// renames the first of the two keys to a character that nobody writes. Then it reads the text again. `convert` recognises
    /// the new name by its place.
    private mutating func compose(_ text: String) -> Node? {
        var text = text
        for _ in 0...Self.repeatedKeysMax {
            do {
                return try Yams.compose(yaml: text)
            } catch YamlError.duplicatedKeysInMapping(let names, let context) {
                let place = SettingsPlace.file(line: context.mark.line, column: context.mark.column)
                guard let name = names.first, repeated[place] == nil,
                    let renamed = Self.renaming(name, at: context.mark, to: repeated.count, in: text)
                else {
                    note(place, "the key \(names.first ?? "") is written twice", "keep one")
                    return nil
                }
                repeated[place] = name
                text = renamed
            } catch let error as YamlError {
                noteSyntax(error)
                return nil
            } catch {
                note(.start, "not YAML", "see https://yaml.org")
                return nil
            }
        }
        note(.start, "more than \(Self.repeatedKeysMax) repeated keys", "keep one of each")
        return nil
    }

    private mutating func noteSyntax(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let place = SettingsPlace.file(line: mark.line, column: mark.column)
            note(place, "not YAML: \(problem)", "check indentation, quotes and brackets here and on the line above")
        case .reader(let problem, _, _, _):
            note(.start, "not YAML: \(problem)", "save the file as UTF-8 text without control characters")
        default:
            note(.start, "not YAML", "see https://yaml.org")
        }
    }

    /// The text with the first character of the key at the mark replaced by a private-use character with that number.
    private static func renaming(_ name: String, at mark: Mark, to number: Int, in text: String) -> String? {
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
        guard lines.indices.contains(mark.line - 1), let unused = UnicodeScalar(0xE000 + number) else { return nil }
        var index = mark.column - 1
        guard lines[mark.line - 1].indices.contains(index) else { return nil }
        if ["\"", "'"].contains(lines[mark.line - 1][index]) { index += 1 }
        guard !name.isEmpty, lines[mark.line - 1].dropFirst(index).starts(with: name.unicodeScalars) else { return nil }
        lines[mark.line - 1][index] = unused
        var renamed = String.UnicodeScalarView()
        renamed.append(contentsOf: lines.joined(separator: CollectionOfOne("\n")))
        return String(renamed)
    }

    /// The number of words that begin with `*`, as an alias does. Some of them are in comments and strings, so the limit is
    /// generous.
    private static func aliasCount(in text: String) -> Int {
        var count = 0
        var before = UInt8(ascii: "\n")
        var star = false
        for byte in text.utf8 {
            if star, byte > UInt8(ascii: " "), byte != UInt8(ascii: "*") { count += 1 }
            star = byte == UInt8(ascii: "*") && (before <= UInt8(ascii: " ") || ",[{:?-".utf8.contains(before))
            before = byte
        }
        return count
    }

    // MARK: References

    private static let openBrace: UnicodeScalar = "\u{E0FE}"
    private static let closeBrace: UnicodeScalar = "\u{E0FF}"

    /// The text with the braces of each `${…}` replaced, column for column, by characters without a meaning in YAML. Otherwise
    /// `{burst: ${BURST}}` would be a syntax error, and every such value would need quotes.
    private static func shielded(_ text: String) -> String {
        var scalars = Array(text.unicodeScalars)
        var open: Int?
        for index in scalars.indices.dropFirst() {
            switch scalars[index] {
            case "{" where scalars[index - 1] == "$": open = index
            case "}":
                guard let start = open else { continue }
                scalars[start] = openBrace
                scalars[index] = closeBrace
                open = nil
            case "\n", "\r", "\"", "'", " ": open = nil
            default: break
            }
        }
        var shielded = String.UnicodeScalarView()
        shielded.append(contentsOf: scalars)
        return String(shielded)
    }

    private static func unshielded(_ text: String) -> String {
        guard text.unicodeScalars.contains(closeBrace) else { return text }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            plain.append(scalar == openBrace ? "{" : scalar == closeBrace ? "}" : scalar)
        }
        return String(plain)
    }

    // MARK: Nodes

    private mutating func convert(_ node: Node) -> SettingsNode {
        let place = node.mark.map { SettingsPlace.file(line: $0.line, column: $0.column) } ?? .start
        nodesLeft -= 1
        guard nodesLeft > 0 else { return SettingsNode(content: .empty, place: place) }
        switch node {
        case .scalar(let scalar):
            let isEmpty = scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
            return SettingsNode(
                content: isEmpty ? .empty : .scalar(Self.unshielded(scalar.string)), place: place,
                isQuoted: scalar.style != .plain)
        case .sequence(let sequence):
            var items: [SettingsNode] = []
            for item in sequence where nodesLeft > 0 { items.append(convert(item)) }
            return SettingsNode(content: .list(items), place: place)
        case .mapping(let mapping):
            return SettingsNode(content: .mapping(convert(mapping)), place: place)
        case .alias:
            return SettingsNode(content: .empty, place: place)
        }
    }

    private mutating func convert(_ mapping: Node.Mapping) -> [SettingsNode.Entry] {
        var entries: [SettingsNode.Entry] = []
        var lines: [String: Int] = [:]
        for (key, value) in mapping where nodesLeft > 0 {
            let place = key.mark.map { SettingsPlace.file(line: $0.line, column: $0.column) } ?? .start
            guard case .scalar(let scalar) = key else {
                note(place, "a key must be a plain word", "write 'key: value'")
                continue
            }
            let name = Self.unshielded(repeated[place] ?? scalar.string)
            if case .file(let line, _) = place {
                if let first = lines.updateValue(line, forKey: name) {
                    note(place, "written a second time, first on line \(first)", "keep one of the two", key: name)
                    continue
                }
            }
            entries.append(SettingsNode.Entry(key: name, place: place, value: convert(value)))
        }
        return entries
    }
}

/// One value of the document, with its place.
package struct SettingsNode: Sendable {
    indirect enum Content: Sendable {
        case scalar(String)
        case list([SettingsNode])
        case mapping([Entry])
        /// No value, `~` or `null`.
        case empty
    }

    package struct Entry: Sendable {
        package var key: String
        var place: SettingsPlace
        var value: SettingsNode
    }

    var content: Content
    var place: SettingsPlace
    /// True for a single value that is a text even if it looks like a number.
    var isQuoted = false

    /// The kind of the node in words, for error messages.
    var kindName: String {
        switch content {
        case .scalar: "a single value"
        case .list: "a list"
        case .mapping: "a group of keys"
        case .empty: "nothing"
        }
    }
}
