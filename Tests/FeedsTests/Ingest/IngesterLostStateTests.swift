import NewsModel
import Testing

@testable import Feeds

/// State topics that were emptied, or deleted and recreated, while processes ran.
@Suite struct IngesterLostStateTests {
    /// A fixture whose feed was read. Its entries have no dates, so that only the state distinguishes them from news.
    private static var read: IngesterFixture {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].isUndated = true
        fixture.etag = "tag"
        for id in ["a", "b", "c"] { fixture.publish(id) }
        for index in fixture.document.indices { fixture.document[index].publishedAt = nil }
        fixture.live(as: "first")
        return fixture
    }

    private static func feedRecord(_ fixture: IngesterFixture) throws -> StateRecord {
        try #require(fixture.topic.last { $0.key == "feed/wire" })
    }

    /// A process that went on has stored the feed again.
    @Test func `a feed whose entries were removed from the topic is first read again, once`() throws {
        var fixture = Self.read
        let feed = try Self.feedRecord(fixture)
        (fixture.removed, fixture.topic) = (fixture.topic.count, [feed])
        let polls = fixture.requests.count
        fixture.live(as: "second", polls: 2)
        #expect(fixture.written.isEmpty)
        #expect(fixture.notes.count { $0.hasPrefix("Records of 1 feed were removed") } == 1)
        #expect(fixture.requests[polls].validators == nil)
        fixture.publish("new")
        fixture.live(as: "third", polls: 2)
        fixture.live(as: "fourth", polls: 2)
        #expect(fixture.texts == ["wire:new 1 Headline of new"])
        #expect(fixture.notes.count { $0.hasPrefix("Records of 1 feed were removed") } == 1)
    }

    /// The topic loses all records of the feed, or those of its entries, or is copied.
    @Test(arguments: [0, 1, 2])
    func `entries of the first reading are not sent again after the topic has lost records`(kind: Int) throws {
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].onFirstSight = .last(3)
        for id in ["a", "b", "c"] { fixture.publish(id) }
        fixture.live(as: "first")
        #expect(fixture.written.count == 3)
        let feed = try Self.feedRecord(fixture)
        let records = fixture.topic.count
        fixture.topic = kind == 0 ? [] : [feed]
        if kind < 2 { fixture.removed = records }
        fixture.live(as: "second", polls: 2)
        #expect(fixture.written.count == 3)
    }

    @Test(arguments: [nil, "tag"]) func `a process that goes on writes the state of its feeds again`(etag: String?) {
        var fixture = Self.read
        fixture.losesRecords = true
        fixture.etag = etag
        fixture.live(as: "second")
        let warning = "Records were removed from the state topic: the state of 1 feed is written again"
        #expect(fixture.notes.contains { $0.hasPrefix(warning) })
        #expect(fixture.topic.count { $0.key.hasPrefix("entry/wire/") } == 3)
        #expect(fixture.topic.last?.key == "feed/wire")
        fixture.publish("new")
        fixture.live(as: "third", polls: 2)
        #expect(fixture.texts == ["wire:new 1 Headline of new"])
        #expect(!fixture.notes.contains { $0.hasPrefix("Records of 1 feed were removed") })
    }

    @Test func `a feed whose record is in flight when records are removed is stored again`() {
        var feed = Feeds.FollowedFeed(name: "wire", partition: 0, writer: "w", rules: nil)
        feed.state.primedAt = FollowedFeed.start
        feed.batch = FeedBatch(feed: feed.state, storesFeed: true)
        feed.batch?.beginClosing()
        let isKnown = feed.storeAgain(after: 9)
        _ = feed.endBatch()
        #expect(isKnown && feed.state.primedAfter == 9)
        #expect(feed.mustStore(feed.state))
    }

    @Test func `a feed that is first read after records were removed is not read again`() {
        var fixture = IngesterFixture()
        fixture.removed = 100
        fixture.publish("old")
        fixture.live(as: "first")
        fixture.publish("new")
        fixture.live(as: "second", polls: 2)
        #expect(fixture.texts == ["wire:new 1 Headline of new"])
        #expect(!fixture.notes.contains { $0.contains("removed") })
    }

    /// The client of a process sends pending records again when the topic exists again.
    @Test(arguments: [(intent: true, feed: true), (true, false), (false, true)])
    func `records of a deleted topic do not make a feed known in the topic that replaces it`(
        pending: (intent: Bool, feed: Bool)
    ) throws {
        var fixture = Self.read
        let feed = try Self.feedRecord(fixture)
        fixture.publish("new")
        var second = Ingester(fixture.settings)
        let intent = fixture.follow(with: &second)
        #expect(intent.count == 1)
        fixture.topic = (pending.intent ? intent : []) + (pending.feed ? [feed] : [])
        fixture.live(as: "third", polls: 2)
        let news = pending.intent ? ["wire:new 1 Headline of new"] : []
        #expect(fixture.texts == news)
        fixture.publish("newer")
        fixture.live(as: "fourth", polls: 2)
        #expect(fixture.texts == news + ["wire:newer 1 Headline of newer"])
    }

    /// A copy keeps the last record of each key, so that records stand at lower offsets than those that their writers had read.
    @Test func `a state topic that was copied is reported once, and what appears afterwards is sent`() {
        var fixture = Self.read
        for id in ["d", "e", "f"] {
            fixture.publish(id)
            fixture.live(as: "first")
        }
        let written = fixture.written.count
        let last = Dictionary(fixture.topic.enumerated().map { ($1.key, $0) }, uniquingKeysWith: max)
        fixture.topic = last.values.sorted().map { fixture.topic[$0] }
        fixture.live(as: "second")
        fixture.publish("new")
        fixture.live(as: "third", polls: 2)
        #expect(fixture.written.count == written + 1)
        #expect(fixture.texts.last == "wire:new 1 Headline of new")
        #expect(fixture.notes.count { $0.hasPrefix("The state of 1 feed was written to another state topic") } == 1)
    }

    @Test func `a feed record of a deleted topic that an owner reads late does not make its feed known`() throws {
        var fixture = Self.read
        let feed = try Self.feedRecord(fixture)
        fixture.topic = []
        var next = Ingester(fixture.settings)
        let records = fixture.follow(with: &next, after: [feed])
        let texts = records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(texts.count { $0.contains("\"firstReading\"") } == 3)
        #expect(!texts.contains { $0.contains("\"intent\"") })
    }

    /// The topic is recreated while no process runs.
    @Test(arguments: [("canceled", NewsEvent.Status.canceled), ("withheld", .withheld)])
    func `what withdraws an alert is written after the topic was recreated`(
        word: String, status: NewsEvent.Status
    ) throws {
        var fixture = IngesterFixture.withTwoStories
        fixture.live(as: "second")
        fixture.topic = []
        fixture.document[0].status = status
        fixture.live(as: "third", polls: 2)
        fixture.live(as: "fourth", polls: 2)
        #expect(fixture.written.count == 3 && fixture.intents == 0)
        let last = String(decoding: try #require(fixture.written.last).value, as: UTF8.self)
        #expect(last.contains("\"id\":\"wire:b\"") && last.contains("\"status\":\"\(word)\""))
        #expect(fixture.notes.contains("First reading: 2 entries known, 0 sent, 1 recalled or withheld."))
    }

    // MARK: - Other feeds

    @Test(arguments: [(600, true), (90_000, false)])
    func `a process warns of feeds on its partitions that only another one has`(later: Int, warns: Bool) {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.now = fixture.now + .seconds(later)
        fixture.settings.feeds[0].name = "other"
        fixture.live(as: "second", polls: 0)
        #expect(fixture.notes.contains { $0.hasPrefix("`wire` of the state topic") } == warns)
        fixture.notes = []
        fixture.settings.otherFeeds = ["wire"]
        fixture.live(as: "third", polls: 0)
        fixture.settings.otherFeeds = []
        fixture.settings.feeds[0].name = "wire"
        fixture.live(as: "fourth", polls: 0)
        #expect(fixture.notes.isEmpty)
    }
}
