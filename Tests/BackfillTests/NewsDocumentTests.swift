import Backfill
import Feeds
import Foundation
import NewsModel
import Testing

/// NewsML-G2 and NITF documents as files of events.
struct NewsDocumentTests {
    private static let message = """
        <?xml version="1.0" encoding="UTF-8"?>
        <newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><itemSet>
        <newsItem guid="urn:a" version="3"><itemMeta><versionCreated>2026-11-21T12:00:00Z</versionCreated>
          <embargoed>2026-11-22T06:00:00Z</embargoed><expires>2026-11-30T00:00:00Z</expires></itemMeta>
          <contentMeta><urgency>2</urgency><subject qcode="medtop:04000000"/><subject qcode="own:1"><name>Banks</name></subject>
          <headline>Rates rise</headline></contentMeta></newsItem>
        <newsItem guid="urn:b"><itemMeta><pubStatus qcode="stat:canceled"/></itemMeta></newsItem>
        <newsItem guid="urn:c"><itemMeta><embargoed/></itemMeta><contentMeta><headline>C</headline></contentMeta></newsItem>
        <newsItem guid="urn:p"><itemMeta><itemClass qcode="ninat:picture"/></itemMeta>
          <contentMeta><headline>P</headline></contentMeta></newsItem>
        <newsItem guid="urn:d"/><newsItem><contentMeta><headline>E</headline></contentMeta></newsItem>
        <planningItem guid="urn:e"/></itemSet></newsMessage>
        """

    private func items(_ text: String, pieces: Int = .max) -> [EventFileItem.Content] {
        BackfillTests.items(of: text, .newsML, pieces: pieces).map(\.content)
    }

    private func events(_ contents: [EventFileItem.Content]) throws -> [NewsEvent] {
        try contents.compactMap { content in
            guard case .event(let bytes) = content else { return nil }
            return try NewsDecoder().decode(SourceRecord(offset: 0, value: bytes))
        }
    }

    @Test func `each item becomes an event, and an item that cannot is a bad line`() throws {
        let items = items(Self.message)
        let events = try events(items)
        #expect(events.map(\.id) == ["urn:a", "urn:b", "urn:c"])
        #expect(events.map(\.status) == [.usable, .canceled, .withheld])
        let first = try #require(events.first)
        #expect(first.version?.text == "3")
        #expect(first.headline == "Rates rise")
        #expect(first.urgency == 2)
        #expect(first.subjects == ["medtop:04000000"])
        #expect(first.categories == ["Banks"])
        #expect(first.embargoUntil?.description == "2026-11-22T06:00:00.000Z")
        #expect(first.expiresAt?.description == "2026-11-30T00:00:00.000Z")
        #expect(first.publishedAt?.description == "2026-11-21T12:00:00.000Z")
        let reasons = items.compactMap { content in
            if case .bad(let reason) = content { reason } else { nil }
        }
        #expect(reasons.map { $0.prefix(6) } == ["urn:p:", "urn:d:", "item 6", "urn:e:"])
    }

    @Test func `the items do not depend on how the document arrives`() {
        let whole = items(Self.message)
        for pieces in [1, 7, 1_000] { #expect(items(Self.message, pieces: pieces) == whole) }
    }

    @Test func `a NITF document is an event of its story, and recalls the one that it names`() throws {
        let events = try events(
            items(
                """
                <nitf><head><title>T</title><docdata management-doc-idref="d1" management-idref-status="canceled">
                <doc-id id-string="d2"/><du-key key="s" version="2"/></docdata></head></nitf>
                """))
        #expect(events.map(\.id) == ["d1", "d2"])
        #expect(events.map(\.status) == [.canceled, .usable])
        #expect(events.map(\.orderKey) == ["d1", "s"])
    }

    @Test(arguments: [
        ("<rss version='2.0'><channel><item><title>x</title></item></channel></rss>", "ingest"),
        ("<html/>", "web page"), ("", "empty"), ("<nitf><head><docdata>", "ends"),
    ])
    func `another document is refused with a reason`(text: String, reason: String) throws {
        let items = items(text)
        #expect(items.count == 1)
        guard case .broken(let found) = try #require(items.first) else {
            Issue.record("\(items)")
            return
        }
        #expect(found.contains(reason))
    }

    @Test func `a document that is too long is refused, and its memory is released`() {
        let items = items("<nitf>" + String(repeating: " ", count: FeedLimits.document), pieces: 1 << 20)
        guard case .broken(let reason)? = items.first else {
            Issue.record("\(items.count) items")
            return
        }
        #expect(reason.contains("15 MiB"))
    }

    @Test func `a truncated item is never published, but the other items are`() throws {
        let cut = Self.message.range(of: "<embargoed/>").map { String(Self.message[..<$0.lowerBound]) } ?? ""
        let items = items(cut)
        #expect(try events(items).map(\.id) == ["urn:a", "urn:b"])
        #expect(items.contains(.bad("urn:c: the document ends in the middle of the item")))
    }
}
