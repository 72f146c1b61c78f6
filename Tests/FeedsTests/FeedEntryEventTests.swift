import Feeds
import NewsModel
import Testing

struct FeedEntryEventTests {
    private let now = Instant(milliseconds: 1_763_686_923_000)

    private func entry() -> FeedEntry {
        var entry = FeedEntry(id: "urn:x", headline: "Rates \"rise\"")
        entry.summary = "Up by a quarter."
        entry.link = "https://example.org/1"
        entry.image = "https://example.org/1.jpg"
        entry.publishedAt = now
        entry.expiresAt = now + .seconds(60)
        entry.language = "en"
        entry.subjects = ["medtop:04000000"]
        entry.urgency = 2
        entry.editorialNote = "never to readers"
        return entry
    }

    @Test func `an event has the entry's values and decodes to itself`() throws {
        let event = try entry().newsEvent(
            id: "feed:urn:x", story: "urn:x", version: .init("3"), categories: ["Economy"])
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        #expect(try NewsDecoder().decode(SourceRecord(offset: 0, value: bytes)) == event)
        #expect(event.id == "feed:urn:x")
        #expect(event.orderKey == "urn:x")
        #expect(event.version?.text == "3")
        #expect(event.categories == ["Economy"])
        #expect(event.subjects == ["medtop:04000000"])
        #expect(event.expiresAt == now + .seconds(60))
        #expect(event.urgency == 2)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("never to readers"))
    }

    @Test func `an embargo without an end withholds the event, and one with an end is kept`() throws {
        var entry = entry()
        entry.embargo = .untilFurtherNotice
        #expect(try entry.newsEvent(id: "a").status == .withheld)
        #expect(try entry.newsEvent(id: "a").embargoUntil == nil)
        entry.status = .canceled
        #expect(try entry.newsEvent(id: "a").status == .canceled)
        entry.status = .usable
        entry.embargo = .until(now)
        #expect(try entry.newsEvent(id: "a").status == .usable)
        #expect(try entry.newsEvent(id: "a").embargoUntil == now)
    }

    @Test func `an entry without a headline is refused unless it is withheld or recalled`() throws {
        var entry = FeedEntry(id: "urn:x")
        #expect(throws: NotAnEvent.self) { try entry.newsEvent(id: "a") }
        entry.status = .withheld
        #expect(try entry.newsEvent(id: "a").status == .withheld)
        entry.status = .canceled
        #expect(try entry.newsEvent(id: "a").status == .canceled)
    }

    @Test(arguments: ["", " ", "a\nb", String(repeating: "i", count: 513)])
    func `an id that is not allowed in events is refused`(id: String) {
        #expect(throws: NotAnEvent.self) { try entry().newsEvent(id: id) }
        #expect(throws: NotAnEvent.self) { try entry().newsEvent(id: "a", story: id) }
    }

    @Test func `a value that is too long is cut or dropped, so that the event can be decoded`() throws {
        var entry = entry()
        entry.headline = String(repeating: "ü", count: 4_000)
        entry.summary = String(repeating: "ü", count: 20_000)
        entry.link = "https://example.org/" + String(repeating: "a", count: 5_000)
        entry.language = String(repeating: "e", count: 100)
        entry.subjects = (0..<200).map { "medtop:\(20_000_000 + $0)" }
        entry.urgency = 12
        let event = try entry.newsEvent(id: "a", version: .init(String(repeating: "9", count: 100)))
        var bytes: [UInt8] = []
        event.encode(into: &bytes)
        #expect(try NewsDecoder().decode(SourceRecord(offset: 0, value: bytes)) == event)
        #expect(event.headline.utf8.count == 4_096)
        #expect(event.link == nil)
        #expect(event.urgency == nil)
        #expect(event.subjects.count == 128)
    }
}
