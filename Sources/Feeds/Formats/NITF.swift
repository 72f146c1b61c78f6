import ByteText
import NewsModel

/// Reads NITF 3.x: one story, and possibly the recall of another one.
enum NITF {
    private static let namespaces: MarkupNamespace = [.nitf, .none]

    static func read(_ root: MarkupElement, from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        let head = root.first("head", in: namespaces)
        let body = root.first("body", in: namespaces)?.first("body.head", in: namespaces)
        // The missing part may have contained the status, the embargo, or the rest of the headline.
        guard head?.isCutOff != true, body?.isCutOff != true else {
            throw NotAFeed(.broken, "The NITF document ends inside its head or its headline; fetch or write it again")
        }
        var document = FeedDocument(format: .nitf)
        document.language = root["lang", in: .xml].flatMap(\.nonBlank)
        let data = head?.first("docdata", in: namespaces)

        func date(_ name: StaticString) -> FeedDate.Reading? {
            guard let text = data?.first(name, in: namespaces)?["norm"].flatMap(\.nonBlank) else { return nil }
            let date = FeedDate.reading(text, zoneMinutes: source.zoneMinutes)
            if date == nil { document.unreadableDates += 1 }
            return date
        }

        let key = data?.first("du-key", in: namespaces)
        let story = key?["key"].flatMap(\.nonBlank)
        var entry = FeedEntry(id: data?.first("doc-id", in: namespaces)?["id-string"].flatMap(\.nonBlank) ?? story)
        entry.story = story
        entry.version = key?["version"].flatMap(\.nonBlank).map { NewsEvent.Version($0) }
        entry.headline = headline(body, head)
        entry.summary = body?.first("abstract", in: namespaces).flatMap { text($0, limit: EventLimits.summary) }
        entry.language = document.language
        entry.author = body?.first("byline", in: namespaces).flatMap { text($0, limit: EventLimits.category) }
        let issue = date("date.issue")
        entry.publishedAt = issue?.instant
        entry.isDatedMidnight = issue?.isMidnight ?? false
        entry.expiresAt = date("date.expire")?.instant
        entry.urgency = data?.first("urgency", in: namespaces)?["ed-urg"].flatMap(NewsMLG2.urgency)
        readSubjects(head, data, into: &entry)
        let notes = data?.all("ed-msg", in: namespaces).compactMap { $0["info"].flatMap(\.nonBlank) } ?? []
        entry.editorialNote = notes.isEmpty ? nil : notes.joined(separator: " ")
        if data?.first("correction", in: namespaces) != nil { entry.signals = ["correction"] }

        let managed = Management(data?["management-status"])
        entry.status = managed.status
        if data?.first("date.release", in: namespaces)?["norm"].flatMap(\.nonBlank) != nil {
            // A date that cannot be read is still an embargo.
            entry.embargo = date("date.release").map { .until($0.instant) } ?? .untilFurtherNotice
        } else if managed.isEmbargoed {
            entry.embargo = .untilFurtherNotice
        }
        if let data { recall(by: entry, data, into: &document) }
        document.entries.append(entry)
        return document
    }

    /// Adds the recall of another document, which this one may order by naming it. The recalled document comes first,
    /// so that none of its events can follow those of its replacement.
    private static func recall(by entry: FeedEntry, _ data: MarkupElement, into document: inout FeedDocument) {
        guard let id = data["management-doc-idref"].flatMap(\.nonBlank), id != entry.id else { return }
        let managed = Management(data["management-idref-status"])
        guard managed.status != .usable || managed.isEmbargoed else {
            document.skipped.append(
                SkippedItem(id: id, "the document was released by another one; only sent again it can be published"))
            return
        }
        var recalled = FeedEntry(id: id, headline: entry.headline)
        recalled.status = managed.status == .canceled ? .canceled : .withheld
        // The key of the story is left out if this document is published, because a recall of the story would stop it.
        if entry.status != .usable { recalled.story = entry.story }
        recalled.publishedAt = entry.publishedAt
        recalled.language = entry.language
        recalled.editorialNote = entry.editorialNote
        document.entries.append(recalled)
    }

    private struct Management {
        var status: NewsEvent.Status
        var isEmbargoed = false

        /// - Parameter text: the status. An unknown one is not `usable`, so that nothing is published under it.
        init(_ text: String?) {
            switch text.flatMap(\.nonBlank)?.asciiLowercased {
            case nil, "usable": status = .usable
            case "embargoed": (status, isEmbargoed) = (.usable, true)
            case "canceled", "cancelled": status = .canceled
            default: status = .withheld
            }
        }
    }

    // MARK: - Texts and subjects

    private static func headline(_ body: MarkupElement?, _ head: MarkupElement?) -> String? {
        let first = body?.first("hedline", in: namespaces)?.first("hl1", in: namespaces)
        for element in [first, head?.first("title", in: namespaces)] {
            if let text = element.flatMap({ text($0, limit: EventLimits.headline) }) { return text }
        }
        return nil
    }

    private static func text(_ element: MarkupElement, limit: Int) -> String? {
        PlainText.ofHTML(element.source, limit: limit)
    }

    /// Reads eight digits as IPTC's unless another provider is named. Keywords become the publisher's categories.
    private static func readSubjects(_ head: MarkupElement?, _ data: MarkupElement?, into entry: inout FeedEntry) {
        for subject in head?.first("tobject", in: namespaces)?.all("tobject.subject", in: namespaces) ?? [] {
            guard entry.subjects.count + entry.categories.count < EventLimits.categories else { return }
            let number = subject["tobject.subject.refnum"].flatMap(\.nonBlank)
            let provider = subject["tobject.subject.ipr"].flatMap(\.nonBlank)
            let isIPTC = provider?.equalsIgnoringASCIICase("iptc") ?? true
            if isIPTC, let topic = number.flatMap({ MediaTopic.canonical(Array($0.utf8)) }) {
                if !entry.subjects.contains(topic) { entry.subjects.append(topic) }
            } else {
                let names = [
                    subject["tobject.subject.detail"], subject["tobject.subject.matter"],
                    subject["tobject.subject.type"],
                ]
                let name = names.lazy.compactMap { $0.flatMap(\.nonBlank) }.first
                guard let term = number ?? name else { continue }
                entry.categories.append(FeedEntry.Term(term, label: name, scheme: provider))
            }
        }
        for keyword in data?.first("key-list", in: namespaces)?.all("keyword", in: namespaces) ?? [] {
            guard entry.subjects.count + entry.categories.count < EventLimits.categories else { return }
            if let key = keyword["key"].flatMap(\.nonBlank) { entry.categories.append(FeedEntry.Term(key)) }
        }
    }
}
