import ByteText

/// The vocabularies that we read, known by their addresses, because prefixes are the publisher's choice. It is a set,
/// so that one comparison can accept several vocabularies.
package struct MarkupNamespace: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// No namespace, or an unknown default namespace of the root element.
    package static let none = Self(rawValue: 1 << 0)
    /// Any namespace that is not named here.
    package static let other = Self(rawValue: 1 << 1)
    package static let xml = Self(rawValue: 1 << 2)
    /// Namespaces that publishers use for RSS 0.92 and 2.0, although these formats have no namespace.
    package static let userland = Self(rawValue: 1 << 3)
    package static let rss090 = Self(rawValue: 1 << 4)
    package static let rss10 = Self(rawValue: 1 << 5)
    package static let rdf = Self(rawValue: 1 << 6)
    package static let atom10 = Self(rawValue: 1 << 7)
    package static let atom03 = Self(rawValue: 1 << 8)
    package static let content = Self(rawValue: 1 << 9)
    package static let dc = Self(rawValue: 1 << 10)
    package static let dcterms = Self(rawValue: 1 << 11)
    package static let syndication = Self(rawValue: 1 << 12)
    package static let media = Self(rawValue: 1 << 13)
    package static let feedburner = Self(rawValue: 1 << 14)
    package static let prism = Self(rawValue: 1 << 15)
    package static let tombstones = Self(rawValue: 1 << 16)
    /// The Atom Publishing Protocol's namespace.
    package static let app = Self(rawValue: 1 << 17)
    package static let itunes = Self(rawValue: 1 << 18)
    package static let xhtml = Self(rawValue: 1 << 19)
    /// The namespace of NewsML-G2.
    package static let newsML = Self(rawValue: 1 << 20)
    package static let nitf = Self(rawValue: 1 << 21)

    package static let rss: Self = [.none, .userland, .rss090, .rss10]
    package static let atom: Self = [.atom10, .atom03]
    package static let any = Self(rawValue: .max)
}

extension MarkupNamespace {
    /// Finds a namespace by its address, in any case, with or without the last slash, over http or https.
    init(address: String) {
        var key = address.trimmed.asciiLowercased
        if key.hasPrefix("https:") { key = "http" + key.dropFirst(5) }
        while let last = key.utf8.last, last == UInt8(ascii: "/") || last == UInt8(ascii: "#") { key.removeLast() }
        if let known = Self.addresses[key] {
            self = known
        } else if key.hasPrefix("http://prismstandard.org/namespaces")
            || key.hasPrefix("http://www.prismstandard.org/namespaces")
        {
            self = .prism
        } else {
            self = key.isEmpty ? .none : .other
        }
    }

    /// The usual meaning of a prefix that the document does not declare.
    init(usualPrefix prefix: String) {
        self = Self.usualPrefixes[prefix.asciiLowercased] ?? .other
    }

    private static let addresses: [String: MarkupNamespace] = [
        "http://www.w3.org/xml/1998/namespace": .xml,
        "http://backend.userland.com/rss": .userland,
        "http://backend.userland.com/rss2": .userland,
        "http://backend.userland.com/rss091": .userland,
        "http://backend.userland.com/rss092": .userland,
        "http://blogs.law.harvard.edu/tech/rss": .userland,
        "http://cyber.law.harvard.edu/rss": .userland,
        "http://cyber.law.harvard.edu/rss/rss.html": .userland,
        "http://my.netscape.com/rdf/simple/0.9": .rss090,
        "http://channel.netscape.com/rdf/simple/0.9": .rss090,
        "http://my.netscape.com/publish/formats/rss-0.91.dtd": .userland,
        "http://purl.org/rss/1.0": .rss10,
        "http://purl.org/net/rss1.1": .rss10,
        "http://www.w3.org/1999/02/22-rdf-syntax-ns": .rdf,
        "http://www.w3.org/2005/atom": .atom10,
        "http://purl.org/atom/ns": .atom03,
        "http://example.com/newformat": .atom03,
        "http://example.com/necho": .atom03,
        "http://purl.org/echo": .atom03,
        "uri/of/echo/namespace": .atom03,
        "http://purl.org/pie": .atom03,
        "http://purl.org/rss/1.0/modules/content": .content,
        "http://purl.org/dc/elements/1.1": .dc,
        "http://purl.org/dc/elements/1.0": .dc,
        "http://purl.org/dc/terms": .dcterms,
        "http://purl.org/rss/1.0/modules/dcterms": .dcterms,
        "http://purl.org/rss/1.0/modules/syndication": .syndication,
        "http://search.yahoo.com/mrss": .media,
        "http://www.rssboard.org/media-rss": .media,
        "http://rssnamespace.org/feedburner/ext/1.0": .feedburner,
        "http://purl.org/atompub/tombstones/1.0": .tombstones,
        "http://www.w3.org/2007/app": .app,
        "http://purl.org/atom/app": .app,
        "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
        "http://www.w3.org/1999/xhtml": .xhtml,
        "http://iptc.org/std/nar/2006-10-01": .newsML,
        "http://iptc.org/std/nitf/2006-10-18": .nitf,
    ]

    private static let usualPrefixes: [String: MarkupNamespace] = [
        "xml": .xml, "rdf": .rdf, "atom": .atom10, "atom10": .atom10, "a10": .atom10, "content": .content, "dc": .dc,
        "dcterms": .dcterms, "sy": .syndication, "media": .media, "feedburner": .feedburner, "prism": .prism,
        "at": .tombstones, "app": .app, "itunes": .itunes, "xhtml": .xhtml, "rss": .userland,
    ]
}
