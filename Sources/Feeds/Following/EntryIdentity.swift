import NewsModel

/// Gives an entry the key by which later documents recognize it.
///
/// Once the ids or links of a feed repeat within a document, its links or headlines identify its entries for good. If the
/// rule alternated, every entry would be new each time.
struct EntryIdentity {
    private let rule: FeedRules.IdentityRule
    private let fallback: IdentityFallback
    private let expression: BoundedExpression?

    init(rule: FeedRules.IdentityRule, fallback: IdentityFallback = .none) {
        self.rule = rule
        self.fallback = rule == .automatic ? fallback : .none
        if case .pattern(let text) = rule { expression = BoundedExpression(text) } else { expression = nil }
    }

    /// One entry of a document with its key.
    struct Keyed {
        /// The entry's index in the document.
        var index: Int
        var entry: FeedEntry
        var key: String
        var hash: EntryHash
        /// 0 without a link.
        var link: UInt64
        /// 0 without a headline.
        var title: UInt64
        /// The entry that this one continues under another id.
        var former: EntryHash?
        /// The name of the entry that this one continues. Without it, the key names the entry's events.
        var continues: EventName?
        /// True if the expression took too many steps, so that the key is the id or the link.
        var isBeyondSearch = false
    }

    struct Result {
        /// Entries in document order, without exact repeats and without entries that have no identity.
        var entries: [Keyed] = []
        /// Indices in the document of entries that have neither id, link nor headline.
        var nameless: [Int] = []
        /// Indices in the document of entries that repeat an earlier one.
        var repeats: [Int] = []
        /// The fallback from now on, which may be a later one because of this document.
        var fallback = IdentityFallback.none
    }

    /// - Complexity: O(n)
    func keys(of entries: some Sequence<(offset: Int, element: FeedEntry)>) -> Result {
        let all = Array(entries)
        var fallback = fallback
        while true {
            var (result, shared) = keyed(all, by: fallback.rule ?? rule)
            // More than 5 % of the entries share their id or link with another one.
            let next =
                shared.ids * 20 > all.count && fallback < .link
                ? IdentityFallback.link : shared.links * 20 > all.count ? .linkAndTitle : .none
            guard rule == .automatic, fallback < next else {
                result.fallback = fallback
                return result
            }
            fallback = next
        }
    }

    /// - Returns: the keys, and the numbers of entries that share their key with another one: an id with another link, or a link
    ///   with another headline.
    private func keyed(
        _ entries: [(offset: Int, element: FeedEntry)], by rule: FeedRules.IdentityRule
    ) -> (keys: Result, shared: (ids: Int, links: Int)) {
        var result = Result()
        var taken: [String: (link: UInt64, title: UInt64)] = [:]
        // Places in `result.entries`.
        var places: [String: Int] = [:]
        var shared = (ids: 0, links: 0)
        for (index, entry) in entries {
            let search = expression?.firstMatch(in: entry)
            guard var key = search?.text ?? key(of: entry, by: rule) else {
                result.nameless.append(index)
                continue
            }
            let link = entry.link.map { StableHash.of(LinkKey.of($0)) } ?? 0
            let title = entry.headline.map { StableHash.of(FoldedText.headline($0)) } ?? 0
            if rule == .automatic || rule == .guid, entry.id == key, let place = places[key],
                let isNewer = Self.isNewer(entry, than: result.entries[place].entry)
            {
                let other = result.entries[place]
                result.repeats.append(isNewer ? other.index : index)
                guard isNewer else { continue }
                taken[key] = (link, title)
                result.entries[place] = Keyed(
                    index: index, entry: entry, key: key, hash: EntryHash(key), link: link, title: title)
                continue
            }
            if let first = taken[key] {
                if first == (link, title) {
                    result.repeats.append(index)
                    continue
                }
                if link != 0 {
                    if first.link == link { shared.links += 1 } else { shared.ids += 1 }
                }
                key +=
                    "|" + (entry.link.map(LinkKey.of) ?? "") + (first.link == link ? "|" + (entry.headline ?? "") : "")
                guard taken[key] == nil else {
                    result.repeats.append(index)
                    continue
                }
            }
            taken[key] = (link, title)
            places[key] = result.entries.count
            result.entries.append(
                Keyed(
                    index: index, entry: entry, key: key, hash: EntryHash(key), link: link, title: title,
                    isBeyondSearch: search == .stopped))
        }
        return (result, shared)
    }

    /// Compares two entries with the same id: a document may list the history of an item.
    ///
    /// - Returns: `nil` if nothing shows that they are versions of one item.
    private static func isNewer(_ entry: FeedEntry, than other: FeedEntry) -> Bool? {
        if let version = entry.version, let former = other.version {
            switch EntryVersion.age(of: version.text, comparedWith: former.text) {
            case .newer: return true
            case .older: return false
            case .same, nil: break
            }
        }
        let isCanceled = entry.status == .canceled
        guard isCanceled != (other.status == .canceled) else { return nil }
        guard let time = entry.updatedAt ?? entry.publishedAt, let former = other.updatedAt ?? other.publishedAt,
            time != former
        else { return isCanceled }
        return former < time
    }

    private func key(of entry: FeedEntry, by rule: FeedRules.IdentityRule) -> String? {
        let id = entry.id.flatMap { $0.isEmpty ? nil : $0 }
        let link = entry.link.map(LinkKey.of)
        switch rule {
        case .automatic, .guid, .pattern: return id ?? link ?? titleAndDate(entry)
        case .link: return link ?? id ?? titleAndDate(entry)
        case .linkAndTitle:
            guard let link, let headline = entry.headline else { return link ?? id ?? titleAndDate(entry) }
            return link + "|" + FoldedText.whitespace(headline)
        }
    }

    private func titleAndDate(_ entry: FeedEntry) -> String? {
        guard let headline = entry.headline else { return nil }
        let title = FoldedText.whitespace(headline)
        return entry.publishedAt.map { "\(title)|\($0)" } ?? title
    }

    /// The id of the entry's events: `{feed name}:{key}`. A hash replaces the key if the id would be too long, or would
    /// carry a control character into record keys and request headers.
    static func eventID(feed name: String, key: String) -> String {
        let prefix = idPrefix(ofFeed: name)
        let id = prefix + key
        let isClean = id.unicodeScalars.allSatisfy {
            $0.isASCII ? $0 >= " " && $0 != "\u{7F}" : $0.properties.generalCategory != .control
        }
        if isClean, id.utf8.count <= FeedLimits.eventID { return id }
        return "\(prefix)sha256-\(StableHash.full(key))"
    }

    /// The beginning of all ids of a feed's events. A slash, which no name contains, replaces each colon of the name, so that feed
    /// `a:b` has no id of feed `a`.
    static func idPrefix(ofFeed name: String) -> String {
        String(decoding: name.utf8.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "/") : $0 }, as: UTF8.self) + ":"
    }
}

/// The rule that replaces `FeedRules.IdentityRule.automatic` in a feed whose ids or links repeat. The raw value is stored, and
/// each fallback continues the text of the one before it.
enum IdentityFallback: String, Sendable, Hashable, Comparable {
    case none = ""
    case link
    case linkAndTitle = "link+title"

    static func < (lhs: IdentityFallback, rhs: IdentityFallback) -> Bool { lhs.rawValue < rhs.rawValue }

    fileprivate var rule: FeedRules.IdentityRule? {
        switch self {
        case .none: nil
        case .link: .link
        case .linkAndTitle: .linkAndTitle
        }
    }
}
