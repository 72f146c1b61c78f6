import ByteText
import NewsModel

/// Reads Atom 0.3 and 1.0: a feed, or a single entry.
enum Atom {
    private static let atom: MarkupNamespace = [.atom, .none]

    static func read(_ root: MarkupElement, from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        let isOld = root.namespace == .atom03 || root["version"] == "0.3"
        var document = FeedDocument(format: isOld ? .atom03 : .atom10)
        var parts = EntryParts(source: source)
        if root.isNamed("entry", in: atom) {
            guard !root.isCutOff else { throw NotAFeed(.broken, "The document ends before its Atom entry does") }
            document.add(entry(root, &parts))
        } else {
            document.title = text(root.first("title", in: atom), limit: EventLimits.headline)
            document.language =
                EntryParts.language(root["lang", in: .xml])
                ?? EntryParts.language(root.first("language", in: .dc)?.text)
            parts.addLinks(of: root, to: &document)
            document.hints = PollHints(channel: root)
            addEntries(of: root, to: &document, &parts)
        }
        document.unreadableDates = parts.unreadableDates
        return document
    }

    /// Adds entries recursively, because an entry that was never closed contains the next one.
    private static func addEntries(
        of element: MarkupElement, to document: inout FeedDocument, _ parts: inout EntryParts
    ) {
        for child in element.children {
            // Publishers who are used to RSS call an entry an item.
            if child.isNamed("entry", in: atom) || child.isNamed("item", in: atom) {
                if child.isCutOff, child.first("entry", in: atom) == nil {
                    document.skipped.append(.cutOff(id: parts.identifier(child.first("id", in: atom))))
                } else {
                    document.add(entry(child, &parts))
                }
                addEntries(of: child, to: &document, &parts)
            } else if child.isNamed("deleted-entry", in: .tombstones), let id = parts.identifier(child["ref"]) {
                guard document.entries.count < FeedLimits.entriesRead else {
                    document.entriesLeftOut += 1
                    continue
                }
                var entry = FeedEntry(id: id)
                entry.status = .canceled
                // In some feeds links identify the entries. A link is found as for the entry itself.
                entry.link = parts.alternate(of: child, in: atom) ?? parts.absolute(id)
                entry.updatedAt = child["when"].flatMap { parts.date($0) }
                document.entries.append(entry)
            }
        }
    }

    private static func entry(_ element: MarkupElement, _ parts: inout EntryParts) -> FeedEntry {
        var entry = FeedEntry()
        // A draft is not to be published yet, also if it is one of an entry whose alert waits.
        let draft = element.first("control", in: .app)?.first("draft", in: .app)
        if draft?.text.trimmed.equalsIgnoringASCIICase("yes") ?? false { entry.status = .withheld }
        entry.id = parts.identifier(element.first("id", in: atom))
        let content = element.first("content", in: atom)
        entry.summary =
            text(element.first("summary", in: atom), limit: EventLimits.summary)
            ?? (content?["src"] == nil ? text(content, limit: EventLimits.summary) : nil)
            ?? parts.mediaDescription(of: element)
            ?? parts.text(element.first("description", in: .dc), limit: EventLimits.summary)
        entry.headline =
            text(element.first("title", in: atom), limit: EventLimits.headline)
            ?? parts.text(element.first("title", in: .dc), limit: EventLimits.headline)
            ?? parts.mediaTitle(of: element) ?? EntryParts.headline(from: entry.summary)
        entry.link =
            parts.originalLink(of: element)
            ?? parts.alternate(of: element, in: atom)
            ?? entry.id.flatMap { parts.absolute($0) }
        entry.updatedAt = parts.date(
            element.first("updated", in: atom), element.first("modified", in: atom), element.first("edited", in: .app))
        entry.publishedAt =
            parts.date(
                element.first("published", in: atom), element.first("issued", in: atom),
                element.first("created", in: atom), element.first("date", in: .dc),
                element.first("issued", in: .dcterms))
            ?? entry.updatedAt
        entry.isDatedMidnight = parts.isMidnight(entry.publishedAt)
        entry.expiresAt = parts.expiry(of: element)
        entry.language =
            EntryParts.language(element.first("title", in: atom)?["lang", in: .xml])
            ?? EntryParts.language(parts.inherited.language(of: element))
            ?? EntryParts.language(element.first("language", in: .dc)?.text)
        for category in element.all("category", in: atom) {
            entry.add(category: category["term"] ?? category.text, label: category["label"], scheme: category["scheme"])
        }
        entry.addExtensionTerms(of: element)
        entry.image = parts.image(of: element)
        entry.author = parts.text(
            element.first("author", in: atom)?.first("name", in: atom), element.first("creator", in: .dc),
            limit: EventLimits.dataValue)
        return entry
    }

    /// Reads a text construct by its type: plain text, escaped HTML, or XHTML. Text without a type is plain, unless it
    /// is in CDATA, which only markup needs.
    private static func text(_ element: MarkupElement?, limit: Int) -> String? {
        guard let element else { return nil }
        let type = (element["type"] ?? "").asciiLowercased
        if type == "application/octet-stream" || element["mode"]?.equalsIgnoringASCIICase("base64") ?? false {
            return base64(element, isHTML: type != "text/plain", limit: limit)
        }
        // Other content, such as a picture, is not for readers. A headline with an odd type is still a headline.
        let isText = !type.contains("/") || type.hasPrefix("text/") || type.hasSuffix("xml") || type.contains("html")
        guard isText || !element.isNamed("content", in: atom) else { return nil }
        if type.contains("xhtml") { return PlainText.ofHTML(element.source, limit: limit) }
        if type.contains("html") || (type.isEmpty && element.source.contains(sequence: "<![CDATA[")) {
            return PlainText.ofHTML(element.markup, limit: limit)
        }
        return PlainText.ofText(element.text, limit: limit)
    }

    private static func base64(_ element: MarkupElement, isHTML: Bool, limit: Int) -> String? {
        guard let bytes = Base64.decode(element.text.filter { !$0.isWhitespace }), !bytes.contains(where: { $0 < 0x09 })
        else { return nil }
        let text = DocumentText.utf8(bytes, charset: nil)
        return isHTML
            ? PlainText.ofHTML(text, limit: limit)
            : PlainText.ofText(String(decoding: text, as: UTF8.self), limit: limit)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func contains(sequence text: StaticString) -> Bool {
        withUnsafeBufferPointer { $0.index(of: text, from: 0, to: $0.count) != nil }
    }
}
