import ByteText
import Feeds
import Testing

struct NewsFuzzTests {
    private static let samples = [
        """
        <newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><header><priority>2</priority></header><itemSet>
        <newsItem guid="urn:a" version="3" xml:lang="en"><itemMeta><itemClass qcode="ninat:text"/><embargoed/>
        <versionCreated>2026-11-21T12:00:00Z</versionCreated><pubStatus qcode="stat:canceled"/><edNote>N<br/></edNote>
        <signal uri="http://cv.iptc.org/newscodes/signal/update"/><expires>2026-11-22</expires></itemMeta>
        <contentMeta><headline role="hlrole:main">A &amp; b</headline><subject qcode="medtop:20000523"/>
        <description>S</description></contentMeta></newsItem><conceptItem guid="c"/></itemSet></newsMessage>
        """,
        """
        <nitf><head><title>T</title><tobject><tobject.subject tobject.subject.refnum="04000000"/></tobject>
        <docdata management-status="usable" management-doc-idref="d" management-idref-status="canceled">
        <doc-id id-string="d2"/><date.release norm="20261121T120000Z"/><du-key key="k" version="3"/></docdata></head>
        <body><body.head><hedline><hl1>H</hl1></hedline></body.head></body></nitf>
        """,
        #"[{"uri":"urn:1","version":"2","headline":"A \"b\"","embargoed":"2026-11-21T12:00:00Z"},{"uri":"urn:2"}]"#,
    ].map { Array($0.utf8) }

    @Test func `no mutation causes a trap, and a second reading gives the same result`() {
        var random = SeededRandom(seed: 7)
        let spice = Array("<>/&;\"'=:[]{}\\ -09az\u{0}é".utf8) + [0xFF, 0xFE]
        for round in 0..<4_000 {
            var bytes = Self.samples[round % Self.samples.count]
            if round % 5 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let place = Int.random(in: 0...bytes.count, using: &random)
                let end = min(place + Int.random(in: 0...20, using: &random), bytes.count)
                let more = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
                    spice.randomElement(using: &random)
                }
                bytes.replaceSubrange(place..<end, with: more)
            }
            let source = DocumentSource(address: "https://example.org/")
            let document = try? FeedReader.read(bytes, from: source)
            #expect(document == (try? FeedReader.read(bytes, from: source)))
            for entry in document?.entries ?? [] { _ = try? entry.newsEvent(id: entry.id ?? "") }
        }
    }

    @Test func `the time for a message is in proportion to its items`() throws {
        func seconds(_ count: Int) throws -> Duration {
            let item = """
                <newsItem guid="urn:a"><contentMeta><headline role="x">A</headline><headline>B</headline>
                <subject qcode="medtop:20000523"/></contentMeta></newsItem>
                """
            let text =
                #"<newsMessage xmlns="http://iptc.org/std/nar/2006-10-01/"><itemSet>"#
                + String(repeating: item, count: count) + "</itemSet></newsMessage>"
            let bytes = Array(text.utf8)
            return try (0..<3).map { _ in
                try ContinuousClock().measure {
                    _ = try FeedReader.read(bytes, from: DocumentSource(address: "https://example.org/"))
                }
            }.min() ?? .zero
        }
        // If the time were quadratic, sixteen times the items would take 256 times as long.
        #expect(try seconds(1_600) < seconds(100) * 100)
    }
}
