import NewsModel
import Testing

@testable import Feeds

/// First readings of a feed that were cut off, interrupted, or done twice.
@Suite struct IngesterFirstReadingTests {
    /// Either all records of the first reading were stored, or all except the last ones.
    @Test(arguments: [0, 1, 2])
    func `an entry that appears after an unfinished first reading is news`(missing: Int) {
        var fixture = IngesterFixture()
        fixture.publish("old")
        fixture.publish("older")
        var steps = 0
        while fixture.topic.isEmpty {
            steps += 1
            fixture = IngesterFixture()
            fixture.publish("old")
            fixture.publish("older")
            fixture.now = fixture.now + .seconds(120)
            fixture.live(as: "first", steps: steps)
        }
        fixture.topic.removeLast(missing)
        fixture.now = fixture.now + .seconds(120)
        fixture.publish("new")
        fixture.live(as: "second", polls: 2)
        #expect(fixture.texts == ["wire:new 1 Headline of new"])
    }

    /// The second process stood still before its first reading. The first one has completed its own in the meantime.
    @Test(arguments: [[], ["old"]], [false, true])
    func `an entry that only the later of two first readings found is news`(backlog: [String], isUndated: Bool) {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].isUndated = isUndated
        func publish(_ id: String) {
            fixture.publish(id)
            if isUndated { fixture.document[0].publishedAt = nil }
        }
        for id in backlog { publish(id) }
        let before = fixture
        fixture.live(as: "first")
        publish("new")
        var standing = before
        (standing.document, standing.now, standing.settings.writer) = (fixture.document, fixture.now, "second")
        var slow = Ingester(standing.settings)
        fixture.topic += standing.follow(with: &slow)
        fixture.live(as: "third", polls: 2)
        #expect(fixture.texts == ["wire:new 1 Headline of new"])
    }

    /// The second process stood still before its first reading. The publisher withheld the entry in between.
    @Test func `an entry that only the later of two first readings found withheld stays backlog`() {
        var fixture = IngesterFixture()
        fixture.publish("old")
        var standing = fixture
        fixture.live(as: "first")
        fixture.document[0].status = .withheld
        (standing.document, standing.now, standing.settings.writer) = (fixture.document, fixture.now, "second")
        var slow = Ingester(standing.settings)
        fixture.topic += standing.follow(with: &slow)
        fixture.live(as: "third", polls: 2)
        fixture.document[0].status = .usable
        fixture.live(as: "fourth", polls: 2)
        #expect(fixture.written.isEmpty)
    }

    /// With the validators of the slow process, "not changed" would hide the entries that its first reading has found.
    @Test func `a process whose first reading came second does not store its validators`() throws {
        var fixture = IngesterFixture()
        let before = fixture
        fixture.live(as: "first")
        fixture.publish("new")
        var standing = before
        (standing.document, standing.etag, standing.settings.writer) = (fixture.document, "tag", "second")
        var slow = Ingester(standing.settings)
        fixture.topic += standing.follow(with: &slow)
        var closing: [StateRecord] = []
        for input in fixture.inputs(of: fixture.topic, from: 0) {
            for action in slow.handle(input, at: standing.moment) {
                if case .store(_, _, let records) = action { closing += records }
            }
        }
        #expect(closing.last?.key == "feed/wire")
        fixture.topic += closing
        fixture.live(as: "third")
        #expect(try #require(fixture.requests.last).validators == nil)
    }

    @Test(arguments: [true, false])
    func `undated entries are not news after a first reading that was cut off`(_ isCutOff: Bool) {
        var fixture = IngesterFixture()
        fixture.isCutOff = isCutOff
        fixture.live(as: "a")
        fixture.isCutOff = false
        fixture.document = [FeedEntry(id: "old", headline: "It may have stood in the feed")]
        fixture.live(as: "b")
        #expect(fixture.written.isEmpty == isCutOff)
        fixture.document.insert(FeedEntry(id: "new", headline: "It is certainly new"), at: 0)
        fixture.live(as: "c")
        #expect(fixture.written.count == (isCutOff ? 1 : 2))
    }

    @Test func `the backlog is not news if the first documents are cut off before their entries`() {
        var fixture = IngesterFixture()
        fixture.isCutOff = true
        fixture.live(as: "a", polls: 3)
        fixture.isCutOff = false
        fixture.document = [FeedEntry(id: "old", headline: "It stood in the feed")]
        fixture.live(as: "b")
        #expect(fixture.written.isEmpty)
        fixture.document.insert(FeedEntry(id: "new", headline: "It is certainly new"), at: 0)
        fixture.live(as: "c")
        #expect(fixture.written.count == 1)
    }

    @Test func `an undated entry is not news after a first reading that may be stored in part`() {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].isUndated = true
        for id in ["a", "b", "c"] { fixture.publish(id) }
        for index in fixture.document.indices { fixture.document[index].publishedAt = nil }
        fixture.live(as: "first")
        fixture.topic.removeAll { $0.key.hasPrefix("feed/") }
        fixture.topic.removeLast()
        fixture.live(as: "second", polls: 2)
        #expect(fixture.written.isEmpty)
        fixture.publish("new")
        fixture.live(as: "third", polls: 2)
        #expect(fixture.texts == ["wire:new 1 Headline of new"])
    }

    /// A process stores a part of the first reading of a feed. After another process has taken over, it repeats the write.
    @Test(arguments: [false, true])
    func `an undated entry is news once another process has stored the first reading`(_ isCutOff: Bool) {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].isUndated = true
        fixture.isCutOff = isCutOff
        fixture.document = ["a", "b"].map { FeedEntry(id: $0, headline: $0) }
        var slow = Ingester(fixture.settings)
        let reading = fixture.follow(with: &slow)
        #expect(reading.map(\.key.first) == ["e", "e", "f"])
        fixture.topic = Array(reading.prefix(1))
        fixture.document.insert(FeedEntry(id: "new", headline: "new"), at: 0)
        var next = Ingester(fixture.settings)
        let records = fixture.follow(with: &next, after: reading)
        let isNews = records.contains { String(decoding: $0.value ?? [], as: UTF8.self).contains("\"intent\"") }
        #expect(isNews == !isCutOff)
    }

    /// The process ends after it has stored the entries, before it stores the feed's final state.
    @Test func `an undated entry is not news after a first reading that was cut off and whose process ended early`() {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].isUndated = true
        fixture.isCutOff = true
        fixture.document = [FeedEntry(id: "a", headline: "a")]
        var first = Ingester(fixture.settings)
        fixture.topic = fixture.follow(with: &first)
        #expect(fixture.topic.map(\.key.first) == ["e", "f"])
        fixture.isCutOff = false
        fixture.document.append(FeedEntry(id: "b", headline: "b"))
        fixture.live(as: "second", polls: 2)
        #expect(fixture.written.isEmpty)
    }

    /// Another process found a part of the first reading, had a failed poll, and stored its view after the first reading had been
    /// completed.
    @Test(arguments: [true, false])
    func `an undated entry is news after a complete first reading although a later record says that it is incomplete`(
        _ isCutOff: Bool
    ) {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].isUndated = true
        fixture.isCutOff = isCutOff
        fixture.live(as: "first")
        fixture.isCutOff = false
        let late = #"{"primedAt":"2026-01-01T00:00:00Z","halfPrimed":true,"failures":1}"#
        fixture.topic.append(StateRecord(key: "feed/wire", value: Array(late.utf8)))
        fixture.document = [FeedEntry(id: "new", headline: "Headline of new")]
        fixture.live(as: "second", polls: 2)
        #expect(fixture.texts == (isCutOff ? [] : ["wire:new 1 Headline of new"]))
    }

    /// The first process ended after it had stored a part of its first reading, which had found all entries free.
    @Test(arguments: [false, true])
    func `an entry that is withheld after a first reading that was stored in part stays backlog`(isUndated: Bool) {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].isUndated = isUndated
        for id in ["a", "b"] { fixture.publish(id) }
        if isUndated { for index in fixture.document.indices { fixture.document[index].publishedAt = nil } }
        fixture.now = fixture.now + .seconds(120)
        var first = Ingester(fixture.settings)
        fixture.topic = Array(fixture.follow(with: &first).prefix(1))
        for index in fixture.document.indices { fixture.document[index].status = .withheld }
        fixture.live(as: "second")
        for index in fixture.document.indices { fixture.document[index].status = .usable }
        fixture.live(as: "third", polls: 2)
        #expect(fixture.written.isEmpty)
    }

    /// The first process ended after it had stored a part of its first reading.
    @Test(arguments: [false, true])
    func `all entries go to the backfill lane if the feed says so and the first reading was stored in part`(
        isWithheld: Bool
    ) {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].onFirstSight = .all
        for id in ["a", "b"] { fixture.publish(id) }
        fixture.now = fixture.now + .seconds(120)
        var first = Ingester(fixture.settings)
        fixture.topic = Array(fixture.follow(with: &first).prefix(1))
        if isWithheld {
            for index in fixture.document.indices { fixture.document[index].status = .withheld }
            fixture.live(as: "second")
            for index in fixture.document.indices { fixture.document[index].status = .usable }
        }
        fixture.live(as: "third", polls: 2)
        #expect(Set(fixture.written.map(\.key)).count == 2)
        #expect(fixture.lanes == ["backfill"])
    }

    /// The first process ends before or after it has stored that the feed was read, and nobody polls for hours.
    @Test(arguments: [1, 2])
    func `an entry of an outage after an unfinished first reading goes to the backfill lane`(stored: Int) {
        var fixture = IngesterFixture()
        fixture.publish("old")
        fixture.now = fixture.now + .seconds(120)
        var first = Ingester(fixture.settings)
        fixture.topic = Array(fixture.follow(with: &first).prefix(stored))
        fixture.now = fixture.now + .seconds(3_600)
        fixture.publish("missed")
        fixture.now = fixture.now + .seconds(10_800)
        fixture.live(as: "second", polls: 2)
        #expect(fixture.texts == ["wire:missed 1 Headline of missed"])
        #expect(fixture.lanes == ["backfill"])
    }
}
