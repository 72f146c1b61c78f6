import ByteText
import NewsModel

/// Reads RSS 0.90 to 2.0 and RSS 1.0. Elements count only where the format puts them: a `title` inside a picture is not
/// the headline.
enum RSS {
    /// - Parameter root: `rss`, `RDF`, or a bare `channel`.
    static func read(_ root: MarkupElement, from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        let found = Items(root)
        guard let channel = found.channel ?? found.items.first?.parent else {
            throw NotAFeed(.broken, "The document begins like RSS but has neither a channel nor an item")
        }
        var document = FeedDocument(format: format(root, found))
        var parts = EntryParts(source: source)
        parts.site = channel.first("link", in: .rss).flatMap { parts.address(of: $0) }
        document.title = parts.text(
            channel.first("title", in: .rss), channel.first("title", in: .dc), limit: EventLimits.headline)
        document.language =
            EntryParts.language(channel.first("language", in: .rss)?.text)
            ?? EntryParts.language(channel.first("language", in: .dc)?.text)
            ?? EntryParts.language(parts.inherited.language(of: channel))
        parts.addLinks(of: channel, to: &document)
        document.hints = PollHints(channel: channel)
        for item in found.items { document.entries.append(entry(item, &parts)) }
        document.entriesLeftOut = found.leftOut
        if let item = found.cutOff {
            document.skipped.append(.cutOff(id: parts.identifier(item.first("guid", in: .rss))))
        }
        document.unreadableDates = parts.unreadableDates
        return document
    }

    private static func format(_ root: MarkupElement, _ found: Items) -> FeedFormat {
        if root.isNamed("RDF", in: .any) {
            return found.channel?.namespace == .rss090 || found.items.first?.namespace == .rss090 ? .rss090 : .rss10
        }
        guard let version = root["version"], root.isNamed("rss", in: .any) else {
            let isNetscape = root.document.documentType?.contains("rss-0.91") ?? false
            return isNetscape ? .rss091 : root.namespace == .rss10 ? .rss10 : .rss20
        }
        switch version {
        case "0.9", "0.90": return .rss090
        case "0.91": return .rss091
        case "0.92", "0.93", "0.94": return .rss092
        case "1.0", "1.1": return .rss10
        default: return .rss20
        }
    }

    /// Elements of Atom, which some feeds write into RSS without their namespace.
    private static let atom = MarkupNamespace.atom.union(.rss)
    private static let bodies = MarkupNamespace.rss.union(.xhtml)

    private static func entry(_ item: MarkupElement, _ parts: inout EntryParts) -> FeedEntry {
        let guid = item.first("guid", in: .rss)
        var entry = FeedEntry()
        entry.id =
            parts.identifier(guid) ?? parts.identifier(item["about", in: .rdf])
            ?? parts.identifier(item.first("id", in: atom))
        entry.summary =
            parts.text(
                item.first("description", in: .rss), item.first("summary", in: atom), limit: EventLimits.summary)
            ?? parts.mediaDescription(of: item)
            ?? item.first("encoded", in: .content).flatMap { FirstParagraph.text(of: $0.markup) }
            ?? parts.text(
                item.first("summary", in: .itunes), item.first("description", in: .dc),
                item.first("content", in: .atom),
                item.first("body", in: bodies), item.first("fullitem", in: bodies), limit: EventLimits.summary)
        entry.headline =
            parts.text(
                item.first("title", in: .rss), item.first("title", in: .dc), item.first("title", in: .atom),
                item.first("title", in: .itunes), limit: EventLimits.headline)
            ?? parts.mediaTitle(of: item) ?? EntryParts.headline(from: entry.summary)
        entry.link = link(item, guid: guid, parts)
        entry.publishedAt = parts.date(
            item.first("pubDate", in: .rss), item.first("date", in: .dc), item.first("issued", in: .dcterms),
            item.first("created", in: .dcterms),
            item.first("published", in: atom))
        entry.isDatedMidnight = parts.isMidnight(entry.publishedAt)
        entry.updatedAt = parts.date(item.first("updated", in: atom), item.first("modified", in: .dcterms))
        entry.expiresAt = parts.expiry(of: item)
        entry.language =
            EntryParts.language(item.first("title", in: .rss)?["lang", in: .xml])
            ?? EntryParts.language(item.first("language", in: .dc)?.text)
            ?? EntryParts.language(item["lang", in: .xml])
        for category in item.all("category", in: .rss) {
            // Publishers escape names before they put them into CDATA.
            let name = PlainText.ofHTML(category.markup, limit: EventLimits.category) ?? ""
            entry.add(category: name, scheme: category["domain"])
        }
        entry.addExtensionTerms(of: item)
        entry.image = parts.image(of: item)
        entry.author = author(item)
        return entry
    }

    private static func link(_ item: MarkupElement, guid: MarkupElement?, _ parts: EntryParts) -> String? {
        if let link = parts.originalLink(of: item) { return link }
        for link in item.all("link", in: .rss) {
            if let address = parts.address(of: link) { return address }
        }
        if let link = parts.alternate(of: item) { return link }
        if let guid, !(guid["isPermaLink"]?.equalsIgnoringASCIICase("false") ?? false), let id = parts.identifier(guid),
            let link = parts.absolute(id)
        {
            return link
        }
        return item["about", in: .rdf].flatMap { parts.address($0, at: item) }
    }

    /// Returns Jane Doe for `jane@example.org (Jane Doe)`.
    private static func author(_ item: MarkupElement) -> String? {
        for element in [
            item.first("creator", in: .dc), item.first("author", in: .rss), item.first("author", in: .itunes),
            item.first("author", in: .atom)?.first("name", in: .atom),
        ] {
            guard let text = element.flatMap({ PlainText.ofHTML($0.markup, limit: EventLimits.dataValue) }) else {
                continue
            }
            if text.contains("@"), text.last == ")", let start = text.lastIndex(of: "(") {
                let name = text[text.index(after: start)...].dropLast().trimmed
                if !name.isEmpty { return String(name) }
            }
            return text
        }
        return nil
    }
}

extension RSS {
    /// Collects items, which the versions of RSS keep in the channel, beside it, or in a list of their own.
    private struct Items {
        private(set) var channel: MarkupElement?
        private(set) var items: [MarkupElement] = []
        private(set) var leftOut = 0
        /// The item in which the document ends.
        private(set) var cutOff: MarkupElement?

        init(_ root: MarkupElement) {
            collect(from: root)
        }

        /// Collects recursively, because an unclosed item contains the next one. The depth is at most the document's.
        private mutating func collect(from element: MarkupElement) {
            if channel == nil, element.isNamed("channel", in: .rss) { channel = element }
            for child in element.children {
                if child.isNamed("item", in: .rss) {
                    if child.isCutOff, child.first("item", in: .rss) == nil {
                        cutOff = child
                    } else if items.count < FeedLimits.entriesRead {
                        items.append(child)
                    } else {
                        leftOut += 1
                    }
                    collect(from: child)
                } else if child.isNamed("channel", in: .rss) || child.isNamed("items", in: .rss)
                    || child.isNamed("rss", in: .rss) || child.isNamed("RDF", in: .rdf)
                {
                    collect(from: child)
                }
            }
        }
    }
}
