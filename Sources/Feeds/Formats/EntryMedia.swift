import ByteText
import NewsModel

extension EntryParts {
    func mediaTitle(of item: MarkupElement) -> String? { media("title", of: item, limit: EventLimits.headline) }

    func mediaDescription(of item: MarkupElement) -> String? {
        media("description", of: item, limit: EventLimits.summary)
    }

    /// A text of Media RSS: of the item, of a group in it, or of its only medium. Of several media, no text is used.
    private func media(_ name: StaticString, of item: MarkupElement, limit: Int) -> String? {
        let groups = [item] + item.all("group", in: .media)
        for group in groups {
            if let text = text(group.first(name, in: .media), limit: limit) { return text }
        }
        let contents = groups.flatMap { $0.all("content", in: .media) }
        return contents.count == 1 ? text(contents[0].first(name, in: .media), limit: limit) : nil
    }

    /// The original address, which FeedBurner replaced by one of its own.
    func originalLink(of entry: MarkupElement) -> String? {
        identifier(entry.first("origLink", in: .feedburner)).flatMap { absolute($0) }
    }

    /// Resolves an id that is an address. Other ids are not relative references, even if they look like it.
    func absolute(_ id: String) -> String? {
        id.hasPrefixIgnoringASCIICase("http") ? WebAddress.resolve(id, base: source.address) : nil
    }

    /// The Atom link to the page that the entry is about. Web pages are preferred to other types.
    func alternate(of entry: MarkupElement, in namespaces: MarkupNamespace = .atom) -> String? {
        var other: String?
        for link in entry.all("link", in: namespaces) {
            let relation = link["rel"]
            guard relation?.nonEmpty == nil || LinkRelation.alternate.isNamed(by: relation),
                let address = address(link["href"]?.nonEmpty ?? link.text, at: link)
            else { continue }
            guard let type = link["type"]?.nonEmpty, !type.hasPrefixIgnoringASCIICase("text/html"),
                !type.hasPrefixIgnoringASCIICase("application/xhtml")
            else { return address }
            other = other ?? address
        }
        return other
    }
}

/// The beginning of a long text.
enum FirstParagraph {
    /// Returns the first part of HTML that ends with a paragraph and has visible text.
    static func text(of html: [UInt8]) -> String? {
        html.withUnsafeBufferPointer { bytes in
            var tokens = MarkupTokens(bytes)
            var start = 0
            while let token = tokens.next() {
                guard token.kind == .endTag, bytes.spells("p", in: token.name) else { continue }
                if let text = PlainText.ofHTML(bytes[start..<token.end], limit: EventLimits.summary) { return text }
                start = token.end
            }
            return PlainText.ofHTML(bytes[start...], limit: EventLimits.summary)
        }
    }
}
