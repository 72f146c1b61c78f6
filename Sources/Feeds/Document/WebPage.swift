import ByteText

/// A web page where a feed was expected.
enum WebPage {
    private static let namedMax = 5
    private static let types: Set<String> = ["application/rss+xml", "application/atom+xml", "application/feed+json"]

    /// Makes an error with the feeds that the page offers, so that a person can choose one.
    static func notAFeed(_ page: MarkupDocument, from source: DocumentSource) -> NotAFeed {
        // A person reads them in a log that anyone may read, so that they have no query.
        var feeds: [String] = []
        for index in 0..<page.nodes.count where feeds.count < namedMax {
            let element = MarkupElement(document: page, index: index)
            guard element.isNamed("link", in: [.none, .xhtml]), let type = element["type"], let href = element["href"],
                types.contains(String(type.prefix { $0 != ";" }).asciiLowercased),
                LinkRelation.alternate.isNamed(by: element["rel"]),
                let address = WebAddress.resolve(href, against: [source.address])?.shown,
                !feeds.contains(address)
            else { continue }
            feeds.append(address)
        }
        return NotAFeed(
            .webPage,
            feeds.isEmpty
                ? "The document is a web page and names no feed; use the address of the feed itself"
                : "The document is a web page; use the address of a feed that it names: \(feeds.joined(separator: ", "))"
        )
    }
}

/// The relation of a link's target to the page.
enum LinkRelation: String {
    case alternate, enclosure, hub
    case itself = "self"

    /// - Parameter list: a `rel` attribute: names in any case, separated by blanks, either short or as addresses in the
    ///   registry. RFC 4287 §4.2.7.2.
    func isNamed(by list: String?) -> Bool {
        guard let list else { return false }
        return list.split(whereSeparator: \.isWhitespace).contains {
            $0.equalsIgnoringASCIICase(rawValue) || $0 == Self.registry + rawValue
        }
    }

    private static let registry = "http://www.iana.org/assignments/relation/"
}
