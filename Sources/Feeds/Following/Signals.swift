import NewsModel

/// Properties of an entry beyond its text: whether it is a correction, withheld or withdrawn.
struct EntryMeaning {
    var status: NewsEvent.Status
    /// True for a correction or a refile.
    var isCorrection: Bool
    /// The kind of change that a new version of the entry names.
    var change: EventMaker.Change

    /// True if the entry must not be published yet.
    var isHeld: Bool { status == .withheld }

    init(_ entry: FeedEntry, rules: FeedRules) {
        var found: Set<FeedRules.Signal> = []
        for (signal, prefixes) in rules.signals {
            let hasIt = prefixes.contains { prefix in
                !prefix.isEmpty && [entry.headline, entry.editorialNote].contains { $0?.hasPrefix(prefix) ?? false }
            }
            if hasIt { found.insert(signal) }
        }
        for word in entry.signals {
            if let signal = FeedRules.Signal(rawValue: word.lowercased()) { found.insert(signal) }
        }
        let isHeld =
            entry.status == .withheld || found.contains(.hold) || entry.embargo == .untilFurtherNotice
        status = found.contains(.kill) || entry.status == .canceled ? .canceled : isHeld ? .withheld : .usable
        isCorrection = found.contains(.correction) || found.contains(.refile)
        // A refile repairs what no reader needs to be told.
        change = found.contains(.correction) ? .correction : .update
    }
}
