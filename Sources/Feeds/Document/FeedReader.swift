/// Reads feed documents of all formats. The same bytes always give the same document.
///
/// These parsers are our own, because libraries that map feeds to Codable types (FeedKit, XMLCoder) refuse a whole document
/// for one invalid field, and none reads NewsML-G2 and NITF.
public enum FeedReader {
    /// Detects the format from the content, never from its declared type alone.
    ///
    /// - Parameters:
    ///   - bytes: the whole document, decompressed. At most `FeedLimits.document` bytes are read.
    ///   - source: the origin of the bytes.
    /// - Throws: the reason why this is not a feed, with the remedy. No input makes it trap.
    public static func read(_ bytes: [UInt8], from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        let (text, isLegible) = DocumentText.decode(
            bytes.count > FeedLimits.document ? Array(bytes.prefix(FeedLimits.document)) : bytes,
            charset: source.charset)
        guard isLegible else {
            throw NotAFeed(
                .broken,
                "The document is not in the encoding that it declares, and its text would be gibberish; the publisher must declare the right one"
            )
        }
        guard let first = text.first(where: { !$0.isMarkupBlank && $0 != 0 }) else {
            throw NotAFeed(.empty, "The document is empty")
        }
        var document =
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
            ? try JSONDocument.read(text, from: source) : try read(MarkupDocument(text), from: source)
        document.keepWithinLimits()
        return document
    }

    private static func read(_ document: MarkupDocument, from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        switch MarkupKind(document) {
        case .rss(let root): return try RSS.read(root, from: source).noting(root)
        case .atom(let root): return try Atom.read(root, from: source).noting(root)
        case .newsMLG2(let root): return try NewsMLG2.read(root, from: source).noting(root)
        case .nitf(let root): return try NITF.read(root, from: source)
        case .webPage: throw WebPage.notAFeed(document, from: source)
        case .unsupported(let name): throw NotAFeed(.unsupported, "The document is \(name), which is not supported")
        case .unknown:
            throw NotAFeed(
                .unknown, "The document is not a feed: none of its first elements begins RSS, Atom, NewsML-G2 or NITF")
        }
    }
}

extension FeedDocument {
    /// Returns the document with `isCutOff` set if its root element has no end.
    fileprivate func noting(_ root: MarkupElement) -> FeedDocument {
        var document = self
        document.isCutOff = root.isCutOff
        return document
    }
}

/// The origin of a document, as far as its reading depends on it.
public struct DocumentSource: Sendable, Hashable {
    /// The address after redirects. Relative links are resolved against it.
    public var address: String
    /// The `charset` of Content-Type.
    public var charset: String?
    /// The value of the `Content-Location` header.
    public var contentLocation: String?
    /// Minutes east of UTC for dates without a zone, from the feed's `zone:` setting.
    public var zoneMinutes: Int

    public init(
        address: String, charset: String? = nil, contentLocation: String? = nil, zoneMinutes: Int = 0
    ) {
        self.address = address
        self.charset = charset
        self.contentLocation = contentLocation
        self.zoneMinutes = zoneMinutes
    }
}

/// The reason why a document is not a feed.
public struct NotAFeed: Error, Sendable, Hashable {
    public var reason: Reason
    /// One sentence, with the finding and the remedy. It never contains the document's text.
    public var detail: String

    public init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The raw value is a stable code.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case empty
        /// A web page. `detail` has the addresses of the feeds that it links to.
        case webPage = "web-page"
        /// A format that is recognized but cannot be read.
        case unsupported
        case tooLarge = "too-large"
        /// Begins like a feed, but the rest cannot be read.
        case broken
        case unknown
    }
}
