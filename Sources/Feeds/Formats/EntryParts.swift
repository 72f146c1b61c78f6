import ByteText
import NewsModel

/// Reads the parts that all XML formats share. Counts the dates that cannot be read.
struct EntryParts {
    let source: DocumentSource
    let inherited: InheritedAttributes
    private(set) var unreadableDates = 0
    /// Dates whose text gave midnight in a zone of their own.
    private var midnights: Set<Instant> = []
    /// The address of the site. Some feeds write their links relative to it.
    var site: String?

    init(source: DocumentSource) {
        self.source = source
        // The address of the document, as its publisher gives it.
        let address = source.contentLocation.flatMap { WebAddress.resolve($0, base: source.address) }
        inherited = InheritedAttributes(document: address ?? source.address)
    }

    // MARK: - Texts

    /// Returns the visible text of the first element that has any, read as HTML. The formats allow different content in
    /// these elements, but publishers ignore that.
    func text(_ elements: MarkupElement?..., limit: Int) -> String? {
        for case let element? in elements {
            if let text = PlainText.ofHTML(element.markup, limit: limit) { return text }
        }
        return nil
    }

    /// An element's text for programs, such as an id; `nil` if it is blank.
    func identifier(_ element: MarkupElement?) -> String? {
        identifier(element?.text)
    }

    func identifier(_ text: String?) -> String? {
        text.flatMap { PlainText.ofText($0, limit: EventLimits.address) }
    }

    /// Makes a headline for an entry without one from the beginning of its text.
    static func headline(from text: String?) -> String? {
        guard let text, let cut = text.index(text.startIndex, offsetBy: lengthOfBeginning, limitedBy: text.endIndex),
            cut < text.endIndex
        else { return text }
        let beginning = text[..<cut]
        // The cut is between words, if there are several.
        let end = text[cut] == " " ? cut : beginning.lastIndex(of: " ") ?? cut
        return beginning[..<end] + "…"
    }

    private static let lengthOfBeginning = 100

    // MARK: - Dates

    /// Returns the first of these dates that can be read.
    mutating func date(_ elements: MarkupElement?...) -> Instant? {
        for case let element? in elements {
            if let date = date(element.text) { return date }
        }
        return nil
    }

    mutating func date(_ text: String) -> Instant? {
        guard !text.trimmed.isEmpty else { return nil }
        guard let date = FeedDate.reading(text, zoneMinutes: source.zoneMinutes) else {
            unreadableDates += 1
            return nil
        }
        if date.isMidnight { midnights.insert(date.instant) }
        return date.instant
    }

    /// Returns true if the text of the date gave midnight, which may stand for the whole day.
    func isMidnight(_ date: Instant?) -> Bool { date.map(midnights.contains) ?? false }

    /// Reads the time of expiry. `dcterms:valid` may be a period: `start=…; end=…`.
    mutating func expiry(of entry: MarkupElement) -> Instant? {
        if let valid = entry.first("valid", in: .dcterms)?.text {
            guard valid.contains("=") else { return date(valid) }
            let end = valid.split(separator: ";").first { $0.trimmed.hasPrefixIgnoringASCIICase("end=") }
            if let end { return date(String(end.trimmed.dropFirst(4))) }
        }
        return date(entry.first("expirationDate", in: .prism))
    }

    // MARK: - Links

    /// Resolves a reference at the place of its element.
    func address(_ reference: String, at element: MarkupElement) -> String? {
        let reference = reference.trimmed
        guard !reference.isEmpty else { return nil }
        // Checked first, because a normal address needs no base.
        if WebAddress.isNormal(reference) { return String(reference) }
        let base = inherited.base(of: element)
        if let site, base == nil, !reference.hasPrefix("/"), !reference.contains(":") {
            return WebAddress.resolve(String(reference), base: site)
        }
        return WebAddress.resolve(String(reference), base: base ?? inherited.document)
    }

    /// An element's text as an address, or else its `href`, which some RSS feeds use.
    func address(of element: MarkupElement) -> String? {
        address(element.text, at: element) ?? element["href"].flatMap { address($0, at: element) }
    }

    /// Adds the links of a feed to its hubs and to itself.
    func addLinks(of channel: MarkupElement, to document: inout FeedDocument) {
        for link in channel.children where link.isNamed("link", in: [.atom, .rss]) {
            guard let relation = link["rel"], let href = link["href"] else { continue }
            if document.hubs.count < FeedDocument.hubsMax, LinkRelation.hub.isNamed(by: relation),
                let hub = address(href, at: link), !document.hubs.contains(hub)
            {
                document.hubs.append(hub)
            }
            if document.selfLink == nil, LinkRelation.itself.isNamed(by: relation) {
                document.selfLink = address(href, at: link)
            }
        }
    }

    // MARK: - Languages

    /// Returns the text as a language tag with hyphens; `nil` if it cannot be one.
    static func language(_ text: String?) -> String? {
        guard let text = text.map({ String($0.trimmed) }), !text.isEmpty,
            text.utf8.allSatisfy({
                $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            })
        else { return nil }
        return text.replacing("_", with: "-")
    }
}
