import Feeds
import NewsModel
import Testing

struct NewsMLG2Tests {
    @Test func `the properties of an item reach its entry`() throws {
        let document = try NewsSample.item(
            itemMeta: """
                <itemClass qcode="ninat:text"/><provider qcode="nprov:XX"/>
                <versionCreated>2026-11-21T12:00:00+01:00</versionCreated>
                <firstCreated>2026-11-20T12:00:00Z</firstCreated>
                <pubStatus qcode="stat:usable"/>
                <title>not this</title>
                <edNote>First &amp; foremost.</edNote><edNote>Check <br/>names.</edNote>
                <signal qcode="sig:correction"/><signal uri="http://cv.iptc.org/newscodes/signal/update"/>
                <signal qcode="sig:update"/><signal qcode="own:flash"/>
                <expires pubconstraint="usage:web">2026-11-22T00:00:00Z</expires><expires>2026-11-30T00:00:00Z</expires>
                """,
            contentMeta: """
                <urgency>3</urgency><language tag="en-GB"/>
                <subject qcode="medtop:20000523"><name>labour market</name></subject>
                <subject uri="http://cv.iptc.org/newscodes/mediatopic/04000000" qcode="x:1"/>
                <subject qcode="subj:04008000"/>
                <subject qcode="own:berlin" type="cpnat:geoArea"><name xml:lang="de">Berlin</name></subject>
                <subject literal="gold"/>
                <slugline>US-FINANCE</slugline>
                <headline role="hlrole:short">Short</headline>
                <headline xml:lang="de" role="hlrole:main">Die Zinsen</headline>
                <headline role="hlrole:main"> Rates &lt;rise&gt;
                   at AT&amp;T </headline>
                <description role="drol:caption">A bank.</description>
                <description role="drol:summary">Up by<br/>a quarter.</description>
                <by>Ann Author</by>
                """)
        let entry = try #require(document.entries.first)
        #expect(document.format == .newsMLG2)
        #expect(document.entries.count == 1)
        #expect(entry.id == "urn:newsml:example.org:20261121:1")
        #expect(entry.story == entry.id)
        #expect(entry.version?.text == "7")
        #expect(entry.itemClass == "text")
        #expect(entry.isStory)
        #expect(entry.status == .usable)
        #expect(entry.embargo == .none)
        #expect(entry.language == "en-GB")
        #expect(entry.headline == "Rates <rise> at AT&T")
        #expect(entry.summary == "Up by a quarter.")
        #expect(entry.author == "Ann Author")
        #expect(entry.publishedAt?.description == "2026-11-21T11:00:00.000Z")
        #expect(entry.updatedAt == entry.publishedAt)
        #expect(entry.expiresAt?.description == "2026-11-30T00:00:00.000Z")
        #expect(entry.urgency == 3)
        #expect(entry.subjects == ["medtop:20000523", "medtop:04000000"])
        #expect(entry.categories == [.init("berlin", label: "Berlin", scheme: "own"), .init("gold")])
        #expect(entry.signals == ["correction", "update", "own:flash"])
        #expect(entry.editorialNote == "First & foremost. Check names.")
    }

    @Test(arguments: [
        ("", FeedEntry.Embargo.none),
        ("<embargoed/>", .untilFurtherNotice),
        ("<embargoed> </embargoed>", .untilFurtherNotice),
        ("<embargoed>soon</embargoed>", .untilFurtherNotice),
        ("<embargoed>2026-11-21T12:00:00Z</embargoed>", .until(Instant(milliseconds: 1_795_262_400_000))),
        ("<embargoed>2026-11-21T12:00:00.000+0000</embargoed>", .until(Instant(milliseconds: 1_795_262_400_000))),
        (
            "<embargoed>2026-11-21T12:00:00Z</embargoed><embargoed>2020-01-01T00:00:00Z</embargoed>",
            .until(Instant(milliseconds: 1_795_262_400_000))
        ),
        ("<embargoed>2020-01-01T00:00:00Z</embargoed><embargoed/>", .untilFurtherNotice),
    ])
    func `an embargo without a readable end has no known end`(element: String, embargo: FeedEntry.Embargo) throws {
        let document = try NewsSample.item(itemMeta: element)
        #expect(document.entries.first?.embargo == embargo)
        #expect(document.unreadableDates == (element.contains("soon") ? 1 : 0))
    }

    @Test(arguments: [
        ("", NewsEvent.Status.usable),
        (#"<pubStatus qcode="stat:usable"/>"#, .usable),
        (#"<pubStatus qcode="stat:withheld"/>"#, .withheld),
        (#"<pubStatus qcode="stat:canceled"/>"#, .canceled),
        (#"<pubStatus uri="http://cv.iptc.org/newscodes/pubstatusg2/canceled"/>"#, .canceled),
        (#"<pubStatus qcode="own:spiked"/>"#, .withheld),
        ("<pubStatus>withheld</pubStatus>", .withheld), ("<pubStatus/>", .withheld),
        (#"<pubStatus qcode="stat:usable"/><pubStatus qcode="stat:withheld"/>"#, .withheld),
        (#"<pubStatus qcode="stat:withheld"/><pubStatus qcode="stat:canceled"/>"#, .canceled),
        (#"<pubStatus qcode="stat:usable"/><pubStatus qcode="stat:usable"/>"#, .usable),
    ])
    func `an item that is not usable is never published`(element: String, status: NewsEvent.Status) throws {
        let entry = try #require(try NewsSample.item(itemMeta: element).entries.first)
        #expect(entry.status == status)
        #expect(entry.id == "urn:newsml:example.org:20261121:1")
    }

    @Test(arguments: [
        ("<headline>A</headline><headline role='hlrole:main'>B</headline>", "B"),
        ("<headline role='x:sub'>A</headline><headline>B</headline>", "B"),
        ("<headline xml:lang='fr'>A</headline><headline xml:lang='en'>B</headline>", "B"),
        ("<headline xml:lang='fr'>A</headline>", "A"),
        ("<headline roleuri='http://cv.iptc.org/newscodes/headlinerole/main'>A</headline><headline>B</headline>", "A"),
        ("<headline/><headline> </headline><slugline>S</slugline>", "T"),
        ("<description>D</description>", "T"),
        ("<headline><![CDATA[A & B]]></headline>", "A & B"),
    ])
    func `the headline is chosen by role, language and position`(contentMeta: String, headline: String) throws {
        let document = try NewsSample.item(itemMeta: "<title>T</title>", contentMeta: contentMeta)
        #expect(document.entries.first?.headline == headline)
    }

    @Test func `a slugline is the headline only if there is no other text`() throws {
        #expect(try NewsSample.item(contentMeta: "<slugline>S</slugline>").entries.first?.headline == "S")
        #expect(try NewsSample.item().entries.first?.headline == nil)
    }

    @Test func `the items of a message become entries, and items that are not news are reported`() throws {
        let document = try NewsSample.read(
            """
            <newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><header><sent>2026-11-21T12:00:00Z</sent>
            <priority>2</priority></header><itemSet>
            <newsItem guid="urn:a"><contentMeta><headline>A</headline></contentMeta></newsItem>
            <conceptItem guid="urn:c"/><planningItem guid="urn:p"/><other/>
            <packageItem guid="urn:b" version="2"><itemMeta><title>B</title></itemMeta>
            <contentMeta><urgency>5</urgency></contentMeta></packageItem>
            <newsItem guid="urn:d"><itemMeta><itemClass qcode="ninat:picture"/></itemMeta></newsItem>
            </itemSet></newsMessage>
            """)
        #expect(document.entries.map(\.id) == ["urn:a", "urn:b", "urn:d"])
        #expect(document.entries.map(\.urgency) == [2, 5, 2])
        #expect(document.entries.map(\.version?.text) == ["1", "2", "1"])
        #expect(document.entries.map(\.isStory) == [true, true, false])
        #expect(document.entries.first?.publishedAt?.description == "2026-11-21T12:00:00.000Z")
        #expect(document.skipped.map(\.id) == ["urn:c", "urn:p", nil])
        #expect(document.skipped.allSatisfy { $0.reason.contains("not") })
    }

    @Test func `an item that is cut off is not read, because its embargo may be missing`() throws {
        let start = #"<newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><itemSet><newsItem guid="urn:a"/>"#
        let document = try NewsSample.read(start + #"<newsItem guid="urn:b"><contentMeta><headline>B</headline>"#)
        #expect(document.entries.map(\.id) == ["urn:a"])
        #expect(document.skipped.map(\.id) == ["urn:b"])
        #expect(try NewsSample.read(start).skipped.map(\.id) == [nil])
        #expect(try NewsSample.read(start + "</itemSet></newsMessage>").skipped == [])
        #expect(throws: NotAFeed.self) { try NewsSample.read("<nitf><head><title>T</title><docdata>") }
    }

    @Test func `the chosen picture fits a phone`() throws {
        let document = try NewsSample.read(
            """
            <newsItem xmlns="http://iptc.org/std/nar/2006-10-01/" guid="g"><contentSet>
            <remoteContent href="http://example.org/4000.jpg" contenttype="image/jpeg" width="4000"/>
            <remoteContent href="http://example.org/800.jpg" contenttype="image/jpeg" width="800"/>
            <remoteContent href="http://example.org/900.mp4" contenttype="video/mp4" width="900"/>
            <remoteContent href="file:///1000.jpg" contenttype="image/jpeg" width="1000"/></contentSet></newsItem>
            """)
        #expect(document.entries.first?.image == "http://example.org/800.jpg")
    }

    @Test func `a subject under another alias than IPTC's is not a media topic`() throws {
        let document = try NewsSample.item(
            contentMeta:
                #"<subject qcode="20000523"/><subject qcode="afp:20000523"/><subject uri="http://x.org/20000523"/>"#)
        #expect(document.entries.first?.subjects == [])
        #expect(document.entries.first?.categories.map(\.name) == ["20000523", "20000523", "20000523"])
    }
}

enum NewsSample {
    static func read(_ text: String) throws(NotAFeed) -> FeedDocument {
        try FeedReader.read(Array(text.utf8), from: DocumentSource(address: "https://example.org/feed"))
    }

    static func item(itemMeta: String = "", contentMeta: String = "") throws(NotAFeed) -> FeedDocument {
        try read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <newsItem xmlns="http://iptc.org/std/nar/2006-10-01/" guid="urn:newsml:example.org:20261121:1" version="7"
              standard="NewsML-G2" standardversion="2.35" conformance="power" xml:lang="en">
              <itemMeta>\(itemMeta)</itemMeta><contentMeta>\(contentMeta)</contentMeta>
            </newsItem>
            """)
    }
}
