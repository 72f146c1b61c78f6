import Feeds

/// The reasons for reading a value differently from feedparser.
enum Reason: CaseIterable {
    /// An entry without a title gets the beginning of its text, because an alert needs one.
    case headlineFromText
    /// An event's link is a web address; feedparser also returns empty ones, `urn:`, `tag:` and `ftp:`.
    case onlyWebAddresses
    /// An id is compared letter by letter, so it is neither resolved nor normalised.
    case idsAsWritten
    /// An id that is not an address does not become a link.
    case idsAreNotRelativeLinks
    /// RSS 1.0 puts an item's address into `rdf:about`.
    case aboutIsTheLink
    /// The first of several elements counts; feedparser takes the last.
    case firstOfSeveral
    /// Only the entry's own children count. feedparser takes a title from any depth.
    case onlyDirectChildren
    /// `title` counts before `dc:title`, and the publisher's link before FeedBurner's.
    case ownElementsFirst
    /// The enclosures of an entry are not its link.
    case enclosuresAreNotLinks
    /// Addresses are normalised: the host is in lower case and ASCII, and blanks are escaped.
    case addressesAreNormal
    /// Text in base64 is HTML, as gofeed takes it.
    case base64IsHTML
    /// Text in CDATA without a type has markup, whatever Atom says.
    case markupInCDATA
    /// Only HTML's entities are known.
    case noDeclaredEntities
    /// HTML 5 changed the characters of some names, and keeps the `&copy=` of an address.
    case entitiesOfHTML5
    /// Characters that XML forbids are dropped.
    case forbiddenCharacters
    /// Bytes that are not UTF-8 in a document that is.
    case brokenUTF8
    /// Text with an undeclared encoding would be unreadable. It waits until the publisher declares the right one.
    case undeclaredEncodings
    /// UTF-8 that was mistaken for Latin-1 before it reached the feed, and then written as entities.
    case wrongSinceBefore
    /// A feed's date cannot be 31 June, 25 o'clock or in 1983.
    case impossibleDates
    /// `2003-01-01T182030` has a time of day.
    case timesWithoutColons
    /// An update is not a publication, except in Atom.
    case updatesAreNotPublications
    /// CDF, which preceded RSS, and RSS items in Atom.
    case notAFeed
    /// Forms that only we read: RSS 1.1, an Atom title with elements, and comments in dates.
    case readByUsOnly

    func explains(_ difference: Difference, in source: String) -> Bool {
        let (ours, theirs) = (difference.ours, difference.theirs)
        let name = difference.path.split(separator: "/").last.map { String($0) } ?? ""
        switch (self, difference.field) {
        case (.headlineFromText, .headline):
            guard theirs == nil, let ours, let text = difference.entry?.summary else { return false }
            return text.hasPrefix(ours.hasSuffix("…") ? String(ours.dropLast()) : ours)
        case (.onlyWebAddresses, .link):
            return theirs.map { !$0.hasPrefix("http://") && !$0.hasPrefix("https://") } ?? false
        case (.idsAsWritten, .id): return ours.map { source.contains($0) } ?? false && theirs?.contains("://") ?? false
        case (.idsAreNotRelativeLinks, .link):
            let id = difference.entry?.id ?? "none"
            return ours == nil && theirs.map { $0.hasPrefix("http://corpus.example/") || $0.hasSuffix(id) } ?? false
        case (.aboutIsTheLink, .link):
            return theirs == nil && source.contains("rdf:about=") && ours == difference.entry?.id
        case (.firstOfSeveral, .link), (.firstOfSeveral, .id), (.firstOfSeveral, .publishedAt),
            (.firstOfSeveral, .updatedAt):
            return ["multiple", "node_precedence", "item_links", "link-same-rel", "link-rel-iana"]
                .contains { difference.path.contains($0) } && ours != nil
        case (.onlyDirectChildren, .headline): return ours == nil && source.contains(theirs ?? "none")
        case (.onlyDirectChildren, .count): return source.contains("<sx:conflicts>") || source.contains("<entry/>")
        case (.onlyDirectChildren, .id): return theirs == nil && ours != nil
        case (.ownElementsFirst, .feedTitle): return theirs.map { source.contains("<dc:title>\($0)") } ?? false
        case (.ownElementsFirst, .summary): return ours.map { source.contains("<description>\($0)") } ?? false
        case (.ownElementsFirst, .updatedAt): return source.contains("<dc:date>")
        case (.ownElementsFirst, .link): return ours.map { source.contains(">\($0)</feedburner:origLink>") } ?? false
        case (.enclosuresAreNotLinks, .link):
            return theirs.map { source.contains("rel=\"enclosure\" type=\"text/html\">\($0)") } ?? false
        case (.addressesAreNormal, .link):
            return ours.map(Self.normal) == theirs.map(Self.normal) || ours?.hasPrefix("http://www.xn--") ?? false
        case (.base64IsHTML, .headline), (.base64IsHTML, .summary), (.base64IsHTML, .feedTitle):
            return source.contains("base64") || source.contains("application/octet-stream")
        case (.markupInCDATA, .summary):
            return source.contains("<![CDATA[") && theirs.map { $0.contains("&nbsp;") || $0.contains("</b>") } ?? false
        case (.markupInCDATA, .headline), (.markupInCDATA, .feedTitle): return source.contains("<title><![CDATA[")
        case (.noDeclaredEntities, .id): return source.contains("<!ENTITY")
        case (.entitiesOfHTML5, .feedTitle):
            return ["&rang;", "&lang;", "&copy="].contains { source.contains($0) }
        case (.forbiddenCharacters, .headline):
            return theirs == "&#0"
                || theirs?.unicodeScalars.filter { $0.value >= 0x20 }.elementsEqual((ours ?? "").unicodeScalars)
                    ?? false
        case (.brokenUTF8, .feedTitle): return ours?.contains("\u{FFFD}") ?? false
        case (.undeclaredEncodings, .refused): return difference.ours?.contains("not in the encoding") ?? false
        case (.wrongSinceBefore, .summary): return ours == "â€¦" || name == "bozo_linenoise.xml"
        case (.impossibleDates, .publishedAt), (.impossibleDates, .updatedAt):
            return name.contains("_bad_") || (ours == nil && theirs.flatMap(Int.init).map { $0 < 631_152_000 } ?? false)
        case (.timesWithoutColons, .publishedAt): return name.contains("no_colons")
        case (.updatesAreNotPublications, .publishedAt):

            return ours == nil && ["modified>", "atom:updated>", "<updated>"].contains { source.contains($0) }
        case (.notAFeed, _):
            return source.contains("<CHANNEL") || (difference.field == .count && source.contains("madeup"))
        case (.readByUsOnly, .feedTitle), (.readByUsOnly, .publishedAt): return theirs == nil && ours != nil
        case (.readByUsOnly, .count): return theirs == "0" && difference.path.contains("rss11")
        default: return false
        }
    }

    private static func normal(_ address: String) -> String {
        let address = address.lowercased().replacing(" ", with: "%20").replacing("com:/", with: "com/")
        return String(address.reversed().drop { "?#/".contains($0) }.reversed())
    }
}
