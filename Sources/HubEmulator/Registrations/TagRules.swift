import ByteText
import NotificationHub

/// What tags a client may put on a registration or an installation.
enum TagRules {
    /// A comma-separated list, blanks around each tag ignored.
    static func split(_ text: String?, max: Int) throws(Refusal) -> [String] {
        guard let text, !text.trimmed.isEmpty else { return [] }
        return try check(text.split(separator: ",").map { String($0.trimmed) }.filter { !$0.isEmpty }, max: max)
    }

    /// The tags without repeats; those that differ in letter case alone are repeats.
    static func check(_ tags: [String], max: Int) throws(Refusal) -> [String] {
        var seen: Set<Tag> = []
        var kept: [String] = []
        for text in tags {
            guard !text.hasPrefix("$") else { throw .badRequest("tags cannot start with $") }
            let tag: Tag
            do { tag = try Tag(text) } catch { throw .badRequest("Invalid tag '\(text.prefix(120))': \(error)") }
            if seen.insert(tag).inserted { kept.append(text) }
        }
        guard kept.count <= max else { throw .badRequest("There are more than \(max) tags") }
        return kept
    }
}
