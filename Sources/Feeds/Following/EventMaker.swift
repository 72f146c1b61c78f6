import ByteText
import NewsModel

/// Makes events from entries.
struct EventMaker {
    let rules: FeedRules
    /// The language that the document declares.
    let language: String?

    /// Makes the event of an entry, or fails with the reason why the entry cannot become one.
    /// - Parameter id: the event's id.
    func event(
        _ keyed: EntryIdentity.Keyed, id: String, version: NewsEvent.Version, change: Change?, meaning: EntryMeaning
    ) -> Result<NewsEvent, Refusal> {
        var entry = keyed.entry
        entry.headline = entry.headline.map(stripped)
        entry.summary = entry.summary.map(stripped)
        entry.language = entry.language ?? language
        entry.status = meaning.status
        var event: NewsEvent
        do throws(NotAnEvent) {
            event = try entry.newsEvent(
                id: id, story: entry.story, version: version,
                categories: categories(of: entry))
        } catch {
            return .failure(Refusal(error.description))
        }
        if let change {
            event.data = [NewsEvent.DataField(name: "update", value: change.rawValue)]
            // An update at this urgency makes no sound on a phone: it replaces the text there.
            event.urgency = max(event.urgency ?? Self.updateUrgency, Self.updateUrgency)
        }
        if !rules.categoryMap.isEmpty, event.categories.isEmpty, event.subjects.isEmpty, meaning.status == .usable {
            return .failure(Refusal("none of its categories is in the feed's `map`, and the feed has no `default`"))
        }
        return .success(event)
    }

    static let updateUrgency = 5

    enum Change: String { case correction, update }

    struct Refusal: Error {
        var because: String
        init(_ because: String) { self.because = because }
    }

    /// Removes one of the feed's `strip` texts from the end, unless nothing would remain.
    private func stripped(_ text: String) -> String {
        for suffix in rules.strip where !suffix.isEmpty && text.hasSuffix(suffix) {
            let rest = text.dropLast(suffix.count).trimmed
            if !rest.isEmpty { return String(rest) }
        }
        return text
    }

    private func categories(of entry: FeedEntry) -> [String] {
        if let category = rules.category { return [category] }
        guard !rules.categoryMap.isEmpty || rules.otherwise != nil else {
            return entry.categories.map { $0.label ?? $0.name }
        }
        var found: [String] = []
        for term in entry.categories {
            for name in [term.name, term.label].compactMap({ $0?.lowercased() }) {
                guard let ours = rules.categoryMap[name], !found.contains(ours) else { continue }
                found.append(ours)
            }
        }
        if found.isEmpty, let otherwise = rules.otherwise { return [otherwise] }
        return found
    }
}
