import NewsModel

/// Makes events of entries.
struct EventMaker {
    let rules: FeedRules
    /// The document's language.
    let language: String?

    /// The event of an entry; `nil` with the reason if it cannot become one.
    func event(
        _ keyed: EntryIdentity.Keyed, version: NewsEvent.Version, change: Change?, meaning: EntryMeaning
    ) -> Result<NewsEvent, Refusal> {
        let entry = keyed.entry
        guard let headline = entry.headline, !headline.isEmpty else {
            return .failure(Refusal("it has no text that could stand for a headline"))
        }
        let id = EntryIdentity.eventID(feed: rules.name, key: keyed.key)
        let categories = categories(of: entry)
        var event = NewsEvent(
            id: id, headline: headline, categories: categories, subjects: entry.subjects, summary: entry.summary,
            language: entry.language ?? language, urgency: entry.urgency, story: entry.story ?? id, version: version,
            status: meaning.status, publishedAt: entry.publishedAt, expiresAt: entry.expiresAt,
            link: entry.link, image: entry.image)
        if case .until(let end) = entry.embargo { event.embargoUntil = end }
        if let change {
            event.data = [NewsEvent.DataField(name: "update", value: change.rawValue)]
            // Below this a phone makes no sound: the text on it is replaced.
            event.urgency = max(event.urgency ?? Self.updateUrgency, Self.updateUrgency)
        }
        if !rules.categoryMap.isEmpty, event.categories.isEmpty, event.subjects.isEmpty, meaning.status != .canceled {
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
