import NewsModel

/// What makes an entry the same entry in the next document: its key.
///
/// A feed whose ids repeat within a document is known by its links from then on, for good: a rule that goes back and forth
/// makes every entry new each time.
struct EntryIdentity {
    private let name: String
    private let rule: FeedRules.IdentityRule
    private let pattern: KeyPattern?

    init(feed name: String, rule: FeedRules.IdentityRule, hasDegraded: Bool) {
        self.name = name
        self.rule = rule == .automatic && hasDegraded ? .link : rule
        if case .pattern(let text) = rule { pattern = KeyPattern(text) } else { pattern = nil }
    }

    /// One entry of a document with its key.
    struct Keyed {
        /// Its place in the document.
        var index: Int
        var entry: FeedEntry
        var key: String
        var hash: EntryHash
        /// 0 without a link.
        var link: UInt64
        /// 0 without a headline.
        var title: UInt64
        /// For an entry that continues another one; else its events are named by its key.
        var continues: EventName?
    }

    struct Result {
        /// In document order; entries without anything to know them by, and exact repeats, are left out.
        var entries: [Keyed] = []
        /// Places in the document of entries that have neither id, link nor headline.
        var nameless: [Int] = []
        /// Places in the document of entries that stand there twice.
        var repeats: [Int] = []
        /// The ids of this document repeat, so the feed is known by its links from now on.
        var degrades = false
    }

    /// - Complexity: O(n)
    func keys(of entries: some Sequence<(offset: Int, element: FeedEntry)>) -> Result {
        let all = Array(entries)
        let result = keyed(all, by: rule)
        guard rule == .automatic, Self.mustDegrade(result.shared, of: all) else { return result.keys }
        var degraded = keyed(all, by: .link).keys
        degraded.degrades = true
        return degraded
    }

    /// More than 5 % of the entries share their id with another one whose link is different.
    private static func mustDegrade(_ shared: Int, of entries: [(offset: Int, element: FeedEntry)]) -> Bool {
        shared * 20 > entries.count
    }

    private func keyed(
        _ entries: [(offset: Int, element: FeedEntry)], by rule: FeedRules.IdentityRule
    ) -> (keys: Result, shared: Int) {
        var result = Result()
        var taken: [String: (link: UInt64, title: UInt64)] = [:]
        var shared = 0
        for (index, entry) in entries {
            guard var key = key(of: entry, by: rule) else {
                result.nameless.append(index)
                continue
            }
            let link = entry.link.map { StableHash.of(LinkKey.of($0)) } ?? 0
            let title = entry.headline.map { StableHash.of(FoldedText.headline($0)) } ?? 0
            if let first = taken[key] {
                if first == (link, title) {
                    result.repeats.append(index)
                    continue
                }
                if first.link != link, link != 0 { shared += 1 }
                key +=
                    "|" + (entry.link.map(LinkKey.of) ?? "") + (first.link == link ? "|" + (entry.headline ?? "") : "")
                guard taken[key] == nil else {
                    result.repeats.append(index)
                    continue
                }
            }
            taken[key] = (link, title)
            result.entries.append(
                Keyed(index: index, entry: entry, key: key, hash: EntryHash(key), link: link, title: title))
        }
        return (result, shared)
    }

    private func key(of entry: FeedEntry, by rule: FeedRules.IdentityRule) -> String? {
        let id = entry.id.flatMap { $0.isEmpty ? nil : $0 }
        let link = entry.link.map(LinkKey.of)
        switch rule {
        case .automatic, .guid: return id ?? link ?? titleAndDate(entry)
        case .link: return link ?? id ?? titleAndDate(entry)
        case .linkAndTitle:
            guard let link, let headline = entry.headline else { return link ?? id ?? titleAndDate(entry) }
            return link + "|" + FoldedText.whitespace(headline)
        case .pattern: return pattern?.match(in: [id, entry.link]) ?? id ?? link ?? titleAndDate(entry)
        }
    }

    private func titleAndDate(_ entry: FeedEntry) -> String? {
        guard let headline = entry.headline else { return nil }
        let title = FoldedText.whitespace(headline)
        return entry.publishedAt.map { "\(title)|\($0)" } ?? title
    }

    /// The id of the entry's events: `{feed name}:{key}`, or a hash of the key if that would be too long or would carry a
    /// control character into record keys and request headers.
    static func eventID(feed name: String, key: String) -> String {
        let id = "\(name):\(key)"
        let isClean = id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        if isClean, id.utf8.count <= FeedLimits.eventID { return id }
        return "\(name):sha256-\(StableHash.full(key))"
    }
}

/// A regular expression that finds an entry's key in its id or its link.
private struct KeyPattern {
    private let expression: Regex<AnyRegexOutput>?

    /// An expression that cannot be read finds nothing; the settings have refused it before.
    init(_ text: String) {
        expression = try? Regex(text)
    }

    /// The first group, or the whole match, in the first of the texts that has one.
    func match(in texts: [String?]) -> String? {
        guard let expression else { return nil }
        for case let text? in texts {
            guard let match = try? expression.firstMatch(in: text) else { continue }
            let found = match.output.count > 1 ? match.output[1].substring : match.output.first?.substring
            if let found, !found.isEmpty { return String(found) }
        }
        return nil
    }
}
