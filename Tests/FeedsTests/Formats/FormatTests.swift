import Feeds
import NewsModel
import Testing

struct FormatTests {
    @Test func `elements of RSS count only in their own places`() throws {
        let feed = try Samples.read(Samples.rss)
        #expect(feed.format == .rss20 && feed.title == "World & News" && feed.language == "en-GB")
        #expect(feed.selfLink == "http://news.example/feed.xml" && feed.hubs == ["https://hub.example/"])
        #expect(feed.hints.timeToLive == .seconds(900) && feed.hints.updatePeriod == .seconds(900))
        #expect(feed.hints.skippedHours == [0, 7] && feed.hints.skippedDays == [7])
        let entry = try #require(feed.entries.first)
        #expect(entry.id == "urn:1" && entry.headline == "AT&T <b> buys AT&T" && entry.summary == "First one.")
        #expect(entry.link == "http://news.example/world/1.html" && entry.image == "http://news.example/1.jpg")
        #expect(entry.publishedAt == Instant(milliseconds: 1_136_214_245_000))
        #expect(entry.language == "de" && entry.author == "Jane Doe")
        #expect(entry.subjects == ["medtop:20000574"] && entry.categories == [FeedEntry.Term("Politik")])
    }

    @Test func `an RSS item without a title and a link gets both from its other elements`() throws {
        let feed = try Samples.read(Samples.rss)
        let entry = try #require(feed.entries.last)
        #expect(
            entry.headline == "Only text." && entry.summary == "Only text." && entry.link == "http://news.example/2")
        #expect(entry.publishedAt == nil && feed.unreadableDates == 1 && entry.author == "Jane")
        #expect(entry.subjects == ["medtop:11000000"] && entry.language == "en-GB")
    }

    @Test(arguments: [
        ("<id>urn:1</id><summary>S</summary><updated>2026-01-02T00:00:00Z</updated>", "urn:1", "S"),
        ("<guid>1</guid><body><p>S</p></body><category><![CDATA[R &amp; D]]></category>", "1", "S"),
        ("<guid>1</guid><title/><itunes:title>S</itunes:title>", "1", nil),
    ])
    func `an RSS item may contain elements of other formats`(inside: String, id: String, summary: String?) throws {
        let entry = try #require(try Samples.read("<rss><channel><item>\(inside)</item></channel></rss>").entries.first)
        #expect(entry.id == id && entry.headline == "S" && entry.summary == summary)
        #expect((entry.updatedAt != nil) == inside.contains("updated"))
        #expect(entry.categories == (inside.contains("category") ? [FeedEntry.Term("R & D")] : []))
    }

    @Test func `Atom accepts items, Dublin Core's description and long names of relations`() throws {
        let feed = try Samples.read(
            """
            <feed xmlns="http://www.w3.org/2005/Atom"><item><id>urn:1</id><dc:description>D</dc:description>
            <link rel="http://www.iana.org/assignments/relation/alternate" href="http://news.example/1"/></item></feed>
            """)
        let entry = try #require(feed.entries.first)
        #expect(entry.id == "urn:1" && entry.summary == "D" && entry.link == "http://news.example/1")
    }

    @Test(arguments: ["http://www.w3.org/2005/Atom", "http://www.w3.org/1999/xhtml", "http://example.com/", ""])
    func `RSS is recognized in any namespace`(namespace: String) throws {
        let feed = try Samples.read(
            """
            <rss xmlns="\(namespace)" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title>
            <atom:link rel="self" href="/feed"/><item><title/><title>A</title><guid>1</guid></item></channel></rss>
            """)
        #expect(feed.title == "T" && feed.selfLink == "http://news.example/feed")
        #expect(feed.entries.map(\.headline) == ["A"] && feed.entries.map(\.id) == ["1"])
    }

    @Test func `one wrong character does not make JSON unreadable`() throws {
        let feed = try Samples.read(
            #"{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"\\u1","title":"a\ud83d \udE00b"# + "\u{1}\n"
                + #"c\ud83d\ude00"}]}"#)
        #expect(feed.entries.first?.id == #"\u1"# && feed.entries.first?.headline == "a\u{FFFD} \u{FFFD}b c😀")
        #expect(throws: NotAFeed.self) { try Samples.read(#"{"items":[\ud83d\"#) }
    }

    @Test func `RSS 1.0 has the address in rdf:about`() throws {
        let feed = try Samples.read(Samples.rdf)
        #expect(feed.format == .rss10 && feed.title == "R")
        #expect(
            feed.entries.first?.id == "http://news.example/1" && feed.entries.first?.link == "http://news.example/1")
    }

    @Test func `Atom texts are read by their type, and links by their base`() throws {
        let feed = try Samples.read(Samples.atom)
        #expect(
            feed.format == .atom10 && feed.selfLink == "http://news.example/a/feed"
                && feed.hubs == ["https://hub.example/"])
        let entry = try #require(feed.entries.first)
        #expect(entry.headline == "5 < 6" && entry.summary == "A b & c" && entry.link == "http://news.example/a/b/one")
        #expect(entry.image == "http://news.example/a/b/p.png" && entry.author == "Jo" && entry.language == "en")
        #expect(entry.categories == [FeedEntry.Term("x", label: "X", scheme: "http://s.example/")])
        #expect(entry.publishedAt == Instant(milliseconds: 1_767_225_600_000) && entry.updatedAt != entry.publishedAt)
        let second = feed.entries[1]
        #expect(second.headline == "<b> is a tag" && second.link == "http://news.example/2" && second.summary == nil)
        #expect(second.language == "fr" && second.publishedAt == second.updatedAt)
    }

    @Test func `a draft is withheld, and a tombstone recalls its entry`() throws {
        let feed = try Samples.read(Samples.atom)
        #expect(feed.entries.map(\.status) == [.usable, .usable, .withheld, .canceled] && feed.skipped.isEmpty)
        #expect(feed.entries.suffix(2).map(\.id) == ["urn:3", "urn:4"])
    }

    @Test func `JSON Feed is read as plain text`() throws {
        let feed = try Samples.read(Samples.jsonFeed)
        #expect(feed.format == .jsonFeed11 && feed.hubs == ["https://hub.example/"])
        #expect(feed.selfLink == "http://news.example/j.json")
        let entry = try #require(feed.entries.first)
        #expect(entry.id == "7" && entry.headline == "<b> & co" && entry.summary == "x < y")
        #expect(entry.image == "http://news.example/feeds/7.png" && entry.subjects == ["medtop:15000000"])
        #expect(feed.entries.last?.headline == "Only HTML" && feed.entries.last?.language == "en")
    }

    @Test func `numbers out of range are read as texts`() throws {
        let feed = try Samples.read(
            #"{"items":[{"id":123456789012345678901234,"title":"\"7 \u0041","n":[-1e999,1e400]},{"id":-7,"n":2.5e3}]}"#)
        #expect(feed.entries.map(\.id) == ["123456789012345678901234", "-7"])
        #expect(feed.entries.first?.headline == "\"7 A")
    }

    @Test func `a hyphen in a text stays in JSON that is repaired`() throws {
        let feed = try Samples.read("{\"items\":[{\"id\":\"1\",\"title\":\"well-known\u{1} 1-0\",\"n\":-1e999}]}")
        #expect(feed.entries.map(\.headline) == ["well-known 1-0"])
    }

    @Test func `RSS in JSON is read as RSS`() throws {
        let entry = try #require(try Samples.read(Samples.rssJSON).entries.first)
        #expect(entry.id == "urn:1" && entry.headline == "One & two" && entry.link == "http://news.example/1")
        #expect(entry.publishedAt != nil && entry.categories == [FeedEntry.Term("X")])
    }

    @Test(arguments: [
        (#"<rss version="0.91"><channel/></rss>"#, FeedFormat.rss091),
        (#"<rss version="0.92"><channel/></rss>"#, .rss092),
        ("<rss><channel/></rss>", .rss20), (#"<!DOCTYPE rss SYSTEM "rss-0.91.dtd"><rss><channel/></rss>"#, .rss091),
        (
            #"<RDF xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:r="http://my.netscape.com/rdf/simple/0.9/"><r:channel/></RDF>"#,
            .rss090
        ),
        (#"<feed xmlns="http://purl.org/atom/ns#"/>"#, .atom03), (#"<feed version="0.3"/>"#, .atom03),
        (#"  <?xml version="1.0"?><a:feed xmlns:a="http://www.w3.org/2005/Atom"/>"#, .atom10),
        (#"<entry xmlns="http://www.w3.org/2005/Atom"><id>x</id></entry>"#, .atom10),
        (#"<br /><b>Warning</b>: no<rss version="2.0"><channel/></rss>"#, .rss20),
        (#"{"version":"https://jsonfeed.org/version/1","items":[]}"#, .jsonFeed10), (#"{"items":[]}"#, .jsonFeed11),
        (#"<rss version="2.0" xmlns="http://example.com/unknown"><channel/></rss>"#, .rss20),
    ])
    func `the content decides the format`(document: String, format: FeedFormat) throws {
        #expect(try Samples.read(document).format == format)
    }

    @Test(arguments: [
        ("", NotAFeed.Reason.empty), (" \n", .empty), ("no feed", .unknown), ("<a/>", .unknown), ("{", .broken),
        ("{\"a\":1}", .unknown), ("<NewsML><NewsItem/></NewsML>", .unsupported), ("<opml/>", .unsupported),
        ("<html><body/></html>", .webPage), ("<!DOCTYPE html><p>x", .webPage), ("<rss/>", .broken),
        (#"<entry xmlns="http://www.w3.org/2005/Atom"><id>x"#, .broken),
    ])
    func `a document that is not a feed is refused with the reason`(document: String, reason: NotAFeed.Reason) {
        #expect { try Samples.read(document) } throws: { ($0 as? NotAFeed)?.reason == reason }
    }

    @Test func `the refusal of a web page lists its feeds`() {
        let page =
            #"<html><head><link rel="alternate" type="application/rss+xml" href="/rss?key=canary"><link rel=icon href=x></head></html>"#
        #expect { try Samples.read(page) } throws: {
            ($0 as? NotAFeed)?.detail.hasSuffix(": http://news.example/rss?…") ?? false
        }
    }

    @Test func `entries beyond the limit are counted and not kept`() throws {
        let items = String(repeating: "<item><title>x</title></item>", count: FeedLimits.entriesRead + 5)
        let feed = try Samples.read("<rss><channel>\(items)</channel></rss>")
        #expect(feed.entries.count == FeedLimits.entriesRead && feed.entriesLeftOut == 5)
    }

    @Test func `texts are cut to the limits of an event`() throws {
        let long = String(repeating: "word ", count: 20_000)
        let feed = try Samples.read(
            "<rss><channel><item><title>\(long)</title><description>\(long)</description><link>http://a.example/\(long)</link>"
                + "<category>\(long)</category></item></channel></rss>")
        let entry = try #require(feed.entries.first)
        #expect(entry.headline?.utf8.count == 4_096 && entry.summary?.utf8.count == 16_384 && entry.link == nil)
        #expect(entry.categories.first?.name.utf8.count == 256)
    }

    @Test func `the language of a title is that of its entry`() throws {
        let rss = """
            <rss version="2.0"><channel><language>en</language><item xml:lang="de"><guid>1</guid>
            <title xml:lang="fr">Titre</title></item></channel></rss>
            """
        let atom = """
            <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><entry><id>urn:1</id><title xml:lang="fr">Titre</title></entry></feed>
            """
        for text in [rss, atom] {
            let document = try FeedReader.read(Array(text.utf8), from: DocumentSource(address: "https://a.b/"))
            #expect(document.entries.map(\.language) == ["fr"])
        }
    }

    @Test func `the title of an entry's only medium replaces a missing headline`() throws {
        let media = "<media:content url='https://a.b/1.jpg'><media:title>Storm</media:title></media:content>"
        func read(_ inside: String) throws -> String? {
            let text = """
                <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><item><guid>1</guid>\(inside)</item></channel></rss>
                """
            return try FeedReader.read(Array(text.utf8), from: DocumentSource(address: "https://a.b/")).entries.first?
                .headline
        }
        #expect(try read(media) == "Storm")
        #expect(try read("<media:group>\(media)</media:group>") == "Storm")
        #expect(try read(media + media) == nil)
        #expect(try read("<title>Own</title>\(media)") == "Own")
    }
}
