import Feeds
import NewsModel
import Testing

struct NITFTests {
    private func read(_ docdata: String, data: String = "", head: String = "", body: String = "") throws -> FeedDocument
    {
        try NewsSample.read(
            """
            <?xml version="1.0"?><nitf xml:lang="en"><head><title>Title</title>\(head)<docdata \(data)>\(docdata)</docdata>
            </head><body><body.head>\(body)</body.head><body.content><p>Text</p></body.content></body></nitf>
            """)
    }

    @Test(arguments: ["", #" xmlns="http://iptc.org/std/NITF/2006-10-18/""#])
    func `the properties of a document reach its entry`(namespace: String) throws {
        let document = try NewsSample.read(
            """
            <nitf\(namespace) xml:lang="en"><head><title>Title</title>
            <tobject><tobject.subject tobject.subject.refnum="04000000" tobject.subject.type="Economy"/>
            <tobject.subject tobject.subject.refnum="15054000"/>
            <tobject.subject tobject.subject.ipr="own" tobject.subject.refnum="20000001" tobject.subject.type="Rates"/>
            </tobject>
            <docdata management-status="usable"><correction info="name"/><doc-id regsrc="XX" id-string="doc-1"/>
            <urgency ed-urg="2"/><date.issue norm="20261121T120000+0100"/><date.release norm="20261122T060000Z"/>
            <date.expire norm="20261130T0000Z"/><du-key key="story-1" version="3"/><ed-msg info="Check names."/>
            <key-list><keyword key="bank"/></key-list></docdata></head>
            <body><body.head><hedline><hl1>Rates <em>rise</em> at AT&amp;T</hl1><hl2>No</hl2></hedline>
            <byline>By Ann</byline><abstract><p>Up by</p><p>a quarter.</p></abstract></body.head></body></nitf>
            """)
        let entry = try #require(document.entries.first)
        #expect(document.format == .nitf)
        #expect(document.entries.count == 1)
        #expect(entry.id == "doc-1")
        #expect(entry.story == "story-1")
        #expect(entry.version?.text == "3")
        #expect(entry.headline == "Rates rise at AT&T")
        #expect(entry.summary == "Up by a quarter.")
        #expect(entry.author == "By Ann")
        #expect(entry.language == "en")
        #expect(entry.urgency == 2)
        #expect(entry.publishedAt?.description == "2026-11-21T11:00:00.000Z")
        #expect(entry.expiresAt?.description == "2026-11-30T00:00:00.000Z")
        #expect(entry.embargo == .until(Instant(milliseconds: 1_795_327_200_000)))
        #expect(entry.subjects == ["medtop:04000000", "medtop:15000000"])
        #expect(entry.categories == [.init("20000001", label: "Rates", scheme: "own"), .init("bank")])
        #expect(entry.editorialNote == "Check names.")
        #expect(entry.signals == ["correction"])
        #expect(entry.status == .usable)
    }

    @Test(arguments: [
        (#"management-status="withheld""#, "", NewsEvent.Status.withheld, FeedEntry.Embargo.none),
        (#"management-status="canceled""#, "", .canceled, .none),
        (#"management-status="spiked""#, "", .withheld, .none),
        (#"management-status="embargoed""#, "", .usable, .untilFurtherNotice),
        (
            #"management-status="embargoed""#, #"<date.release norm="20261121T120000Z"/>"#, .usable,
            .until(Instant(milliseconds: 1_795_262_400_000))
        ),
        ("", #"<date.release norm="tomorrow"/>"#, .usable, .untilFurtherNotice),
        ("", #"<date.release/>"#, .usable, .none),
    ])
    func `a document that must not be published has that status or an embargo`(
        data: String, docdata: String, status: NewsEvent.Status, embargo: FeedEntry.Embargo
    ) throws {
        let entry = try #require(try read(docdata, data: data).entries.first)
        #expect(entry.status == status)
        #expect(entry.embargo == embargo)
        #expect(entry.headline == "Title")
    }

    @Test func `a document that ends inside its headline is no feed`() {
        let text = "<nitf><head><docdata><doc-id id-string='1'/></docdata></head><body><body.head><hedline><hl1>Ten hu"
        #expect(throws: NotAFeed.self) { try FeedReader.read(Array(text.utf8), from: DocumentSource(address: "")) }
    }

    @Test func `a document recalls the document that it names`() throws {
        let document = try read(
            #"<doc-id id-string="doc-2"/><du-key key="story-1"/>"#,
            data: #"management-doc-idref="doc-1" management-idref-status="canceled""#,
            body: "<hedline><hl1>Corrected</hl1></hedline>")
        #expect(document.entries.map(\.id) == ["doc-1", "doc-2"])
        #expect(document.entries.map(\.status) == [.canceled, .usable])
        // A recall of the story would also stop the replacement.
        #expect(document.entries.map(\.story) == [nil, "story-1"])
    }

    @Test func `a document that is not published itself recalls the whole story`() throws {
        let document = try read(
            #"<doc-id id-string="doc-2"/><du-key key="story-1"/>"#,
            data: #"management-status="withheld" management-doc-idref="doc-1" management-idref-status="canceled""#)
        #expect(document.entries.map(\.status) == [.canceled, .withheld])
        #expect(document.entries.map(\.story) == ["story-1", "story-1"])
    }

    @Test func `a release of another document is reported, and nothing is sent again`() throws {
        let document = try read(
            #"<doc-id id-string="doc-2"/>"#, data: #"management-doc-idref="doc-1" management-idref-status="usable""#)
        #expect(document.entries.map(\.id) == ["doc-2"])
        #expect(document.skipped.map(\.id) == ["doc-1"])
    }

    @Test func `the key of the story replaces a missing document id`() throws {
        #expect(try read(#"<du-key key="k" version="2"/>"#).entries.first?.id == "k")
        #expect(try read("").entries.first?.id == nil)
    }
}
