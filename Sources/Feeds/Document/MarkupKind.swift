import ByteText

/// The format of an XML document, detected from its first elements and never from the server's declaration.
enum MarkupKind {
    case rss(MarkupElement)
    case atom(MarkupElement)
    case newsMLG2(MarkupElement)
    case nitf(MarkupElement)
    case webPage
    /// A format that is recognized but cannot be read.
    case unsupported(String)
    case unknown

    /// Number of elements examined. A feed may follow the warnings of the program that wrote it.
    private static let elementsMax = 50

    init(_ document: MarkupDocument) {
        for index in 0..<min(document.nodes.count, Self.elementsMax) {
            if let kind = Self(root: MarkupElement(document: document, index: index)) {
                self = kind
                return
            }
        }
        let isHTML = document.documentType?.trimmed.hasPrefixIgnoringASCIICase("html") ?? false
        self = isHTML ? .webPage : .unknown
    }

    /// `nil` if no format begins with the element.
    private init?(root: MarkupElement) {
        let rss = MarkupNamespace.rss
        if root.isNamed("rss", in: rss.union(.other)) || root.isNamed("RDF", in: [.rdf, .none])
            || root.isNamed("channel", in: rss)
        {
            self = .rss(root)
        } else if root.isNamed("feed", in: [.atom, .none]) || root.isNamed("entry", in: .atom) {
            self = .atom(root)
        } else if Self.newsMLG2.contains(where: { root.isNamed($0, in: [.newsML, .none]) }) {
            self = .newsMLG2(root)
        } else if root.isNamed("nitf", in: [.nitf, .none]) {
            self = .nitf(root)
        } else if root.isNamed("html", in: [.none, .xhtml]) {
            self = .webPage
        } else if let (_, name) = Self.unsupported.first(where: { root.isNamed($0.element, in: .any) }) {
            self = .unsupported(name)
        } else {
            return nil
        }
    }

    private static let newsMLG2: [StaticString] = [
        "newsMessage", "newsItem", "packageItem", "conceptItem", "planningItem", "knowledgeItem", "catalogItem",
    ]

    private static let unsupported: [(element: StaticString, name: String)] = [
        ("NewsML", "NewsML 1"), ("opml", "OPML, a list of feeds"), ("kml", "KML"), ("urlset", "a sitemap"),
        ("sitemapindex", "a list of sitemaps"), ("OpenSearchDescription", "an OpenSearch description"),
        ("service", "an Atom service document"),
    ]
}
