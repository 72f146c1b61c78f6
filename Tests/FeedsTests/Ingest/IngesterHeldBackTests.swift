import NewsModel
import Testing

@testable import Feeds

/// Events that wait in a feed's state because of a limit.
@Suite struct IngesterHeldBackTests {
    @Test func `the last text of an hour is sent when the hour ends, even by another process`() {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        for headline in ["One", "Two", "Three", "Wrong", "Right"] {
            fixture.document[0].headline = headline
            fixture.live(as: "first", polls: 1)
        }
        #expect(fixture.texts == ["wire:a 1 One", "wire:a 2 Two", "wire:a 3 Three"])
        // The entry has left the feed in the meantime.
        fixture.document = []
        fixture.live(as: "second", polls: 3)
        fixture.now = fixture.now + .seconds(3_600)
        fixture.live(as: "third", polls: 2)
        #expect(fixture.texts.suffix(1) == ["wire:a 4 Right"])
        #expect(fixture.written.count == 4)
    }

    /// An entry is stored with the publisher's version before it becomes an event.
    @Test(arguments: [(hold: false, most: 20), (true, 20), (false, 1), (true, 1)])
    func `an item that was withheld or unreadable at first is sent once, also if a limit holds it back`(
        hold: Bool, most: Int
    ) {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].maxPerHour = most
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.document[0].version = NewsEvent.Version("3")
        if hold { fixture.document[0].status = .withheld } else { fixture.document[0].headline = nil }
        fixture.publish("b")
        fixture.live(as: "second", polls: 2)
        fixture.document[1].headline = "Headline of a"
        fixture.document[1].status = .usable
        if hold { fixture.document[1].version = NewsEvent.Version("4") }
        for writer in ["third", "fourth"] {
            fixture.live(as: writer, polls: 2)
            fixture.now = fixture.now + .seconds(3_600)
        }
        #expect(fixture.texts == ["wire:b 1 Headline of b", "wire:a 4 Headline of a"])
        #expect(fixture.notes.count { $0.contains("held back: it has sent") } == (most == 1 ? 1 : 0))
        fixture.document[1].version = NewsEvent.Version("5")
        fixture.document[1].headline = "Corrected"
        fixture.live(as: "fifth", polls: 2)
        #expect(fixture.texts.last == "wire:a 5 Corrected")
    }

    @Test func `a recall that waits for maxPerHour is written although the publisher's document does not change`() {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].maxPerHour = 1
        fixture.live(as: "first")
        for id in ["a", "b"] { fixture.publish(id) }
        for index in fixture.document.indices { fixture.document[index].status = .canceled }
        fixture.etag = "tag"
        fixture.live(as: "second", polls: 2)
        #expect(fixture.written.count == 1)
        #expect(fixture.requests.last?.validators == nil && fixture.requests.last?.knownBodyHash == nil)
        fixture.now = fixture.now + .seconds(3_600)
        fixture.live(as: "third", polls: 2)
        #expect(fixture.written.count == 2)
        #expect(fixture.requests.last?.validators != nil)
    }

    @Test func `events beyond maxPerHour are sent later, corrections first, and alerts that are too old never`() {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].maxPerHour = 2
        fixture.live(as: "first")
        for id in ["a", "b", "c", "d"] { fixture.publish(id) }
        fixture.live(as: "first")
        #expect(fixture.texts == ["wire:c 1 Headline of c", "wire:d 1 Headline of d"])
        fixture.document[0].headline = "Corrected"
        fixture.live(as: "first")
        #expect(fixture.written.count == 2)
        fixture.now = fixture.now + .seconds(3_600)
        fixture.live(as: "second", polls: 3)
        #expect(fixture.texts.dropFirst(2) == ["wire:d 2 Corrected", "wire:b 1 Headline of b"])
        fixture.now = fixture.now + .seconds(3_600)
        fixture.live(as: "third", polls: 3)
        #expect(fixture.written.count == 4)
        // Every record names the last one that its writer had read.
        let entries = fixture.topic.filter { $0.key.hasPrefix("entry/") }.compactMap(\.value)
        #expect(entries.allSatisfy { String(decoding: $0, as: UTF8.self).contains(#""after":"#) })
    }
}
