import ByteText
package import Feeds
package import NewsModel

/// The report of `newswire ingest --explain` about a document: what was read of it, and what would happen to each entry.
/// Entries are judged as if the feed had been empty when it was first read.
package struct FeedExplanation: Sendable {
    private let document: FeedDocument
    private let rules: FeedRules
    private let decisions: [Decision]
    /// The answers of the expression of `identity` for each entry; empty without an expression.
    private let searches: [BoundedExpression.Answer]

    package init(_ document: FeedDocument, rules: FeedRules, at now: Instant) {
        self.document = document
        self.rules = rules
        decisions = Follower.explain(document, rules: rules, at: now)
        if case .pattern(let text) = rules.identity, let expression = BoundedExpression(text) {
            searches = document.entries.map { expression.firstMatch(in: $0) }
        } else {
            searches = []
        }
    }

    // MARK: For programs

    /// One JSON object for each entry, in document order, and for each item that cannot be read; absent values are left out.
    package var jsonLines: [String] {
        decisions.map { decision in
            let entry = entry(of: decision)
            let event = decision.event
            return JSONLine.object { json in
                json.field("id", decision.id.isEmpty ? nil : decision.id)
                json.field("story", event?.orderKey)
                json.field("version", event?.version?.text)
                json.field("headline", event?.headline ?? entry?.headline)
                json.field("summary", event?.summary ?? entry?.summary)
                json.field("link", event?.link ?? entry?.link)
                json.field("publishedAt", event?.publishedAt ?? entry?.publishedAt)
                json.field("language", event?.language ?? entry?.language ?? document.language)
                json.array("categories", of: event?.categories ?? [])
                json.array("subjects", of: event?.subjects ?? entry?.subjects ?? [])
                json.field("status", (event?.status ?? entry?.status)?.rawValue)
                json.field("embargoUntil", event?.embargoUntil)
                json.field("action", Self.word(decision.action))
            }
        }
    }

    /// The public word for an action, one of eight. An entry that changes nothing is noise for any reason.
    private static func word(_ action: Decision.Action) -> String {
        switch action {
        case .duplicate, .unchanged: Decision.Action.noise.rawValue
        default: action.rawValue
        }
    }

    // MARK: For people

    package func text(hasColours: Bool) -> String {
        var lines = [title]
        for decision in decisions {
            lines.append("")
            lines += self.lines(decision, hasColours: hasColours)
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private var title: String {
        var parts = [document.format.rawValue]
        if let title = document.title { parts.append("\"\(title.plain)\"") }
        parts.append(counted(document.entries.count, "entry", plural: "entries"))
        if document.entriesLeftOut > 0 { parts.append("\(document.entriesLeftOut) more not read") }
        if document.isCutOff { parts.append("cut off, so that some may be missing") }
        if document.unreadableDates > 0 { parts.append(counted(document.unreadableDates, "unreadable date")) }
        let stopped = searches.count { $0 == .stopped }
        if stopped > 0 {
            let entries = counted(stopped, "entry", plural: "entries")
            parts.append("\(entries) for which the expression of identity takes too many steps")
        }
        if !document.hubs.isEmpty { parts.append("offers WebSub") }
        return parts.joined(separator: ", ") + "; as feed \"\(rules.name.plain)\", if it was empty at first sight:"
    }

    private func lines(_ decision: Decision, hasColours: Bool) -> [String] {
        let entry = entry(of: decision)
        let word = Self.word(decision.action)
        let colour: TerminalColour =
            switch decision.action {
            case .alert, .update: .green
            case .canceled, .withheld: .yellow
            case .unreadable: .red
            case .noise, .limited, .stale, .backlog, .duplicate, .unchanged: .grey
            }
        var lines = ["\(hasColours ? colour.applied(to: word) : word): \(decision.because.plain)"]
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            lines.append("  \(name)\(String(repeating: " ", count: max(1, 11 - name.count)))\(value.plain)")
        }
        let headline = decision.event?.headline ?? entry?.headline
        add("headline", headline ?? "none")
        add("summary", (decision.event?.summary ?? entry?.summary).map { TextWidth.cut($0.plain, to: 160) })
        add("id", decision.id.isEmpty ? "none" : "\(decision.id) (\(identity(decision)))")
        if let event = decision.event, event.story != event.id { add("story", event.story) }
        add("version", decision.event?.version?.text)
        add("published", entry.map { $0.publishedAt?.description ?? "no date that can be read" })
        add("updated", entry?.updatedAt?.description)
        add("embargo", entry.flatMap(Self.embargo))
        add("categories", categories(decision, entry))
        add("subjects", decision.event?.subjects.joined(separator: ", "))
        add("link", entry?.link)
        add("lane", decision.lane)
        return lines
    }

    /// The origin of an entry's key.
    private func identity(_ decision: Decision) -> String {
        let entry = entry(of: decision)
        let usual =
            if let entry, entry.id == nil {
                entry.link == nil ? "from its headline" : "from its link, as it has no id"
            } else {
                "from its id"
            }
        switch rules.identity {
        case .automatic: return usual
        case .guid: return "from its id, as identity says"
        case .link: return "from its link, as identity says"
        case .linkAndTitle: return "from link and title, as identity says"
        case .pattern:
            guard searches.indices.contains(decision.index) else { return usual }
            return switch searches[decision.index] {
            case .found: "by the expression of identity"
            case .nothing: "\(usual); the expression of identity finds nothing"
            case .stopped: "\(usual); the expression of identity takes too many steps"
            }
        }
    }

    /// The categories of the event, and the rule that chose them.
    private func categories(_ decision: Decision, _ entry: FeedEntry?) -> String? {
        let ours = decision.event?.categories ?? []
        let theirs = entry?.categories.map { $0.label ?? $0.name } ?? []
        if rules.category != nil { return ours.joined(separator: ", ") + " (the feed's category)" }
        if rules.categoryMap.isEmpty && rules.otherwise == nil {
            return theirs.isEmpty ? nil : ours.joined(separator: ", ") + " (as the entry says)"
        }
        let said = theirs.isEmpty ? "the entry names none" : "the entry says \(theirs.joined(separator: ", "))"
        if ours.isEmpty { return "none (\(said); map has nothing for it)" }
        let isMapped = theirs.contains { rules.categoryMap[$0.lowercased()] != nil }
        return ours.joined(separator: ", ") + (isMapped ? " (by map; \(said))" : " (by default; \(said))")
    }

    private static func embargo(_ entry: FeedEntry) -> String? {
        switch entry.embargo {
        case .none: return nil
        case .until(let end): return "until \(end)"
        case .untilFurtherNotice: return "until a later version lifts it"
        }
    }

    private func entry(of decision: Decision) -> FeedEntry? {
        document.entries.indices.contains(decision.index) ? document.entries[decision.index] : nil
    }
}
