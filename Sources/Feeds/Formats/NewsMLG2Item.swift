import ByteText
import NewsModel

/// Reads one `newsItem` or `packageItem`.
struct NewsMLG2Item {
    private(set) var unreadableDates = 0

    private let item: MarkupElement
    private let itemMeta: MarkupElement?
    private let contentMeta: MarkupElement?
    private let message: NewsMLG2.Message
    private let inherited: InheritedAttributes
    private let zoneMinutes: Int

    init(_ item: MarkupElement, _ message: NewsMLG2.Message, _ inherited: InheritedAttributes, zoneMinutes: Int) {
        self.item = item
        itemMeta = item.first("itemMeta", in: NewsMLG2.namespaces)
        contentMeta = item.first("contentMeta", in: NewsMLG2.namespaces)
        self.message = message
        self.inherited = inherited
        self.zoneMinutes = zoneMinutes
    }

    mutating func read() -> FeedEntry {
        var entry = FeedEntry(id: item["guid"].flatMap(\.nonBlank))
        entry.story = entry.id
        // The schema's default is 1.
        entry.version = NewsEvent.Version(item["version"].flatMap(\.nonBlank) ?? "1")
        entry.itemClass = first("itemClass", in: itemMeta).flatMap { Code($0, alias: "ninat") }?.name
        entry.status = status
        entry.language = language
        entry.headline = headline(in: entry.language)
        entry.summary = summary(in: entry.language)
        entry.link = entry.id.flatMap { WebAddress($0)?.text }
        entry.image = image
        entry.author = text("by", in: contentMeta) ?? first("creator", in: contentMeta).flatMap(name)
        readDates(into: &entry)
        entry.embargo = embargo()
        entry.urgency = text("urgency", in: contentMeta).flatMap(NewsMLG2.urgency) ?? message.priority
        readSubjects(into: &entry)
        // The limit exceeds any real item. It bounds the work, because each signal is compared with all before it.
        for signal in all("signal", in: itemMeta).prefix(EventLimits.categories) {
            guard let code = Code(signal, alias: "sig")?.name, !entry.signals.contains(code) else { continue }
            entry.signals.append(code)
        }
        let notes = all("edNote", in: itemMeta).compactMap { plain($0, limit: EventLimits.summary) }
        entry.editorialNote = notes.isEmpty ? nil : notes.joined(separator: " ")
        return entry
    }

    // MARK: - Status and time

    /// A status that is unknown or has no code is not `usable`, so that nothing is published under it. Of several, the strictest
    /// counts.
    private var status: NewsEvent.Status {
        let codes = all("pubStatus", in: itemMeta).map { Code($0, alias: "stat")?.name.asciiLowercased }
        if codes.contains(where: { $0 == "canceled" || $0 == "cancelled" }) { return .canceled }
        return codes.allSatisfy { $0 == "usable" } ? .usable : .withheld
    }

    /// An `embargoed` that is empty or unreadable has no known end, so that no embargo is broken by mistake. Of several, the last end
    /// counts.
    private mutating func embargo() -> FeedEntry.Embargo {
        var end: Instant?
        for embargoed in all("embargoed", in: itemMeta) {
            guard let date = date(embargoed.text) else { return .untilFurtherNotice }
            end = max(end ?? date, date)
        }
        return end.map { .until($0) } ?? .none
    }

    private mutating func readDates(into entry: inout FeedEntry) {
        entry.updatedAt = date(text("versionCreated", in: itemMeta))
        entry.publishedAt =
            entry.updatedAt ?? date(text("contentModified", in: contentMeta))
            ?? date(text("contentCreated", in: contentMeta)) ?? date(text("firstCreated", in: itemMeta))
            ?? date(message.sent)
        // Some expiries apply to one kind of use only, such as the archive. The earliest is then the careful choice.
        let expiries = all("expires", in: itemMeta)
        if let general = expiries.first(where: { $0["pubconstraint"] == nil && $0["pubconstrainturi"] == nil }) {
            entry.expiresAt = date(general.text)
        } else {
            entry.expiresAt = expiries.compactMap { date($0.text) }.min()
        }
    }

    private mutating func date(_ text: String?) -> Instant? {
        guard let text = text?.nonBlank else { return nil }
        let date = FeedDate.read(text, zoneMinutes: zoneMinutes)
        if date == nil { unreadableDates += 1 }
        return date
    }

    // MARK: - Texts

    private var language: String? {
        let tagged = all("language", in: contentMeta)
        let main = tagged.first { $0["role"] == nil } ?? tagged.first
        return (main?["tag"] ?? inherited.language(of: item)).flatMap(\.nonBlank)
    }

    /// The main headline in the item's language, or else a title, or else a slugline.
    private func headline(in language: String?) -> String? {
        let limit = EventLimits.headline
        let candidates = all("headline", in: contentMeta).filter { !$0.isEmpty }
        if let best = best(of: candidates, roles: ["main"], language), let text = plain(best, limit: limit) {
            return text
        }
        for (name, meta) in [("title" as StaticString, itemMeta), ("slugline", contentMeta)] {
            if let text = first(name, in: meta).flatMap({ plain($0, limit: limit) }) { return text }
        }
        return nil
    }

    private func summary(in language: String?) -> String? {
        let candidates = all("description", in: contentMeta).filter { !$0.isEmpty }
        return best(of: candidates, roles: ["summary", "abstract"], language)
            .flatMap { plain($0, limit: EventLimits.summary) }
    }

    /// Ranks by role first: the wanted roles, no role, any other role. Then ranks by language, then by position.
    private func best(of elements: [MarkupElement], roles: [String], _ language: String?) -> MarkupElement? {
        func rank(_ element: MarkupElement) -> Int {
            var rank = roles.count
            if element["role"] != nil || element["roleuri"] != nil {
                let code = Code(element["roleuri"] ?? element["role"] ?? "", isAddress: element["roleuri"] != nil)
                rank = code.flatMap { roles.firstIndex(of: $0.code) } ?? roles.count + 1
            }
            let own = element["lang", in: .xml]
            let isForeign = own != nil && language != nil && own?.asciiLowercased != language?.asciiLowercased
            return rank * 2 + (isForeign ? 1 : 0)
        }
        return elements.enumerated().min { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }?.element
    }

    /// Markup that is escaped in XML is text here, and is not read as markup. Inline elements have no meaning for us.
    private func plain(_ element: MarkupElement, limit: Int) -> String? {
        PlainText.ofHTML(element.source, limit: limit)
    }

    private func name(_ element: MarkupElement) -> String? {
        element.first("name", in: NewsMLG2.namespaces).flatMap { plain($0, limit: EventLimits.category) }
    }

    // MARK: - Subjects and pictures

    /// Reads media topics by their address or by the alias from IPTC's own catalog. No catalog is ever fetched, so the
    /// feed's rules must give a meaning to other aliases.
    private func readSubjects(into entry: inout FeedEntry) {
        for subject in all("subject", in: contentMeta) {
            guard entry.subjects.count + entry.categories.count < EventLimits.categories else { return }
            let code = Code(subject)
            if let topic = [subject["uri"], subject["qcode"]].lazy.compactMap({ $0.flatMap(MediaTopic.known) }).first {
                if !entry.subjects.contains(topic) { entry.subjects.append(topic) }
            } else if let term = code?.code ?? subject["literal"].flatMap(\.nonBlank) ?? name(subject) {
                entry.categories.append(FeedEntry.Term(term, label: name(subject), scheme: code?.scheme))
            }
        }
    }

    /// The widest picture up to 1,200 pixels, which fills a phone's notification, or else the narrowest one.
    private var image: String? {
        let remote =
            item.first("contentSet", in: NewsMLG2.namespaces)?.all("remoteContent", in: NewsMLG2.namespaces) ?? []
        let pictures = remote.filter { $0["contenttype"]?.hasPrefixIgnoringASCIICase("image/") ?? false }
        let scored = (pictures + all("icon", in: contentMeta)).prefix(100).compactMap { element in
            element["href"].flatMap { WebAddress($0)?.text }
                .map { (score: Self.score(Int(element["width"] ?? "") ?? 0), address: $0) }
        }
        return scored.max { $0.score < $1.score }?.address
    }

    private static func score(_ width: Int) -> Int { width <= 1_200 ? width : -width }

    // MARK: - Elements

    private func first(_ name: StaticString, in parent: MarkupElement?) -> MarkupElement? {
        parent?.first(name, in: NewsMLG2.namespaces)
    }

    private func all(_ name: StaticString, in parent: MarkupElement?) -> [MarkupElement] {
        parent?.all(name, in: NewsMLG2.namespaces) ?? []
    }

    private func text(_ name: StaticString, in parent: MarkupElement?) -> String? {
        first(name, in: parent).flatMap { plain($0, limit: EventLimits.category) }
    }
}

/// A controlled value: an address, or a code with the alias of its vocabulary.
struct Code {
    /// The alias, or the vocabulary's address.
    var scheme: String
    var code: String
    /// The code alone if it is from the requested vocabulary, otherwise with its scheme.
    var name: String

    /// - Parameter alias: the alias of IPTC's own vocabulary for this element.
    init?(_ element: MarkupElement, alias: String = "") {
        let address = element["uri"].flatMap(\.nonBlank)
        guard let text = address ?? element["qcode"].flatMap(\.nonBlank), text.utf8.count <= EventLimits.address else {
            return nil
        }
        self.init(text, isAddress: address != nil, alias: alias)
    }

    init?(_ text: String, isAddress: Bool, alias: String = "") {
        let mark = UInt8(ascii: isAddress ? "/" : ":")
        // A code may contain colons, an address ends in its code.
        let split = isAddress ? text.utf8.lastIndex(of: mark) : text.utf8.firstIndex(of: mark)
        let start = split.map { text.utf8.index(after: $0) } ?? text.startIndex
        code = String(text[start...])
        guard !code.isEmpty else { return nil }
        scheme = split.map { String(text[..<$0]) } ?? ""
        let isIPTC = isAddress ? scheme.contains("//cv.iptc.org/newscodes/") : scheme == alias || scheme.isEmpty
        name = isIPTC ? code : text
    }
}

extension MediaTopic {
    /// Returns `nil` for bare digits, which mean nothing in a document that has vocabularies.
    fileprivate static func known(_ text: String) -> String? {
        let text = text.trimmed
        return text.utf8.count > 8 ? canonical(Array(text.utf8)) : nil
    }
}
