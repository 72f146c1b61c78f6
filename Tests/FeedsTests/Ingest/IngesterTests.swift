import NewsModel
import Testing

@testable import Feeds

/// The records and events of processes that follow a feed one after another or at the same time.
@Suite struct IngesterTests {
    @Test func `two new stories are written once, and no intent remains`() {
        var fixture = IngesterFixture.withTwoStories
        fixture.live(as: "second", polls: 5)
        #expect(fixture.written.count == 2)
        #expect(fixture.texts == ["wire:a 1 Headline of a", "wire:b 1 Headline of b"])
        #expect(fixture.intents == 0)
    }

    @Test(arguments: 0...IngesterFixture.stepsOfTwoStories)
    func `a process that ends after any step leaves the rest to the next, and no event changes`(
        _ steps: Int
    ) {
        var fixture = IngesterFixture.withTwoStories
        fixture.live(as: "second", steps: steps)
        // The topic has an event before it is published.
        if !fixture.written.isEmpty { #expect(fixture.topic.count { $0.key.hasPrefix("entry/") } >= 2) }
        let isIntended = fixture.intents > 0 || !fixture.written.isEmpty
        for place in fixture.document.indices { fixture.document[place].headline? += ", edited" }
        fixture.live(as: "third", polls: 3)
        let first = isIntended ? "" : ", edited"
        var expected = ["wire:a 1 Headline of a\(first)", "wire:b 1 Headline of b\(first)"]
        if isIntended { expected += ["wire:a 2 Headline of a, edited", "wire:b 2 Headline of b, edited"] }
        #expect(fixture.texts == expected)
        #expect(Set(fixture.written.map(\.value)).count == expected.count)
        #expect(fixture.written.count <= expected.count + 2)
        #expect(fixture.intents == 0)
    }

    @Test func `an intent that another process wrote first is published instead of one's own`() {
        var other = IngesterFixture.withTwoStories
        let before = other.topic.count
        other.live(as: "other", steps: 8 + before)
        let theirs = other.topic.dropFirst(before)
        #expect(!theirs.isEmpty)
        var fixture = IngesterFixture.withTwoStories
        for place in fixture.document.indices { fixture.document[place].headline? += ", edited" }
        fixture.topic += theirs
        fixture.live(as: "second", polls: 2)
        #expect(fixture.texts.prefix(2) == ["wire:a 1 Headline of a", "wire:b 1 Headline of b"])
    }

    /// The partition is revoked before or after the broker's answer.
    @Test(arguments: [false, true])
    func `a revoked partition is released even if its records are not read back`(isAnswered: Bool) throws {
        var ingester = Ingester(IngesterFixture.withTwoStories.settings)
        var now = Moment(steady: FollowedFeed.start, wall: FollowedFeed.start)
        _ = ingester.handle(.assigned([0]), at: now)
        _ = ingester.handle(.restored(partition: 0), at: now)
        now.steady = now.steady + .seconds(61)
        now.wall = now.wall + .seconds(61)
        let fetch = ingester.handle(.tick, at: now).compactMap { if case .fetch(let id, _) = $0 { id } else { nil } }
        let id = try #require(fetch.first)
        let document = FeedDocument(format: .rss20, entries: IngesterFixture.withTwoStories.document)
        let answer = FetchAnswer(status: 200, finalURL: "https://example.org/feed", document: .feed(document))
        let writes = ingester.handle(.fetched(id, .answered(answer)), at: now).compactMap {
            if case .store(let id, _, _) = $0 { id } else { nil }
        }
        let write = try #require(writes.first)
        let order: [IngestInput] = isAnswered ? [.stored(write), .revoked([0])] : [.revoked([0]), .stored(write)]
        #expect(!ingester.handle(order[0], at: now).contains(.released([0])))
        #expect(ingester.handle(order[1], at: now).contains(.released([0])))
        #expect(ingester.load.batches == 0 && ingester.load.writes == 0)
    }

    @Test func `records that cannot be read back are known since the broker has them`() throws {
        var fixture = IngesterFixture()
        var ingester = Ingester(fixture.settings)
        let records = fixture.follow(with: &ingester)
        #expect(!records.isEmpty && ingester.unreadSince == nil)
        _ = ingester.handle(.stored(try #require(ingester.writes.keys.first)), at: fixture.moment)
        #expect(ingester.unreadSince == fixture.moment.steady)
        for input in fixture.inputs(of: records, from: 0) { _ = ingester.handle(input, at: fixture.moment) }
        #expect(ingester.unreadSince == nil)
    }

    @Test func `a partition that is assigned again without a release is read again`() {
        let now = Moment(steady: FollowedFeed.start, wall: FollowedFeed.start)
        var ingester = Ingester(IngesterFixture().settings)
        _ = ingester.handle(.assigned([0]), at: now)
        _ = ingester.handle(.revoked([0]), at: now)
        _ = ingester.handle(.assigned([0]), at: now)
        _ = ingester.handle(.restored(partition: 0), at: now)
        #expect(ingester.status(at: now).map(\.name) == ["wire"])
    }

    @Test func `a process that got its partition back does not repeat a story whose first intent arrives late`() {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        var ingester = Ingester(fixture.settings)
        let late = fixture.follow(with: &ingester)
        _ = ingester.handle(.lost([0]), at: fixture.moment)
        fixture.document[0].id = "b"
        fixture.document[0].headline = "The same story, edited"
        let records = late + fixture.follow(with: &ingester)
        var published: [FeedEvent] = []
        for input in fixture.inputs(of: records, from: fixture.topic.count) {
            for action in ingester.handle(input, at: fixture.moment) {
                if case .publish(_, _, let events) = action { published += events }
            }
        }
        #expect(published.map(\.key) == [])
    }

    /// The id of a story changes. Its process ends before some of its records are on the topic, and both change again.
    @Test(arguments: 0...4)
    func `a story keeps its name if its process ends while it stores a new id`(_ stored: Int) {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.live(as: "second", polls: 2)
        let before = fixture.topic.count
        fixture.document[0].id = "b"
        fixture.live(as: "third")
        fixture.topic.removeLast(max(fixture.topic.count - before - stored, 0))
        fixture.document[0].id = "c"
        fixture.document[0].headline = "Edited"
        fixture.live(as: "fourth", polls: 2)
        #expect(fixture.texts == ["wire:a 1 Headline of a", "wire:a 2 Edited"])
    }

    @Test func `a story keeps its name if a process repeats its record after another one has stored a new id`() {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        var slow = Ingester(fixture.settings)
        let late = fixture.follow(with: &slow)
        let read = fixture.topic.count
        fixture.live(as: "second", polls: 2)
        fixture.topic += late
        var repeated: [StateRecord] = []
        for input in fixture.inputs(of: Array(fixture.topic.dropFirst(read)), from: read) {
            for action in slow.handle(input, at: fixture.moment) {
                if case .store(_, _, let records) = action { repeated += records }
            }
        }
        #expect(!repeated.isEmpty)
        for (id, headline) in [("b", "Edited"), ("c", "Edited again")] {
            fixture.document[0].id = id
            fixture.document[0].headline = headline
            fixture.live(as: id, polls: 2)
            fixture.topic += repeated
        }
        #expect(fixture.texts == ["wire:a 1 Headline of a", "wire:a 2 Edited", "wire:a 3 Edited again"])
    }

    /// Two processes follow the feed, and the id of a story changes between their readings. The second one finds the
    /// story beyond `maxPerPoll`, and does not write it.
    @Test(arguments: [false, true])
    func `readers of an alert get the next text although the new id was not news`(isAlertLate: Bool) {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.settings.writer = "second"
        var one = Ingester(fixture.settings)
        let alert = fixture.follow(with: &one)
        fixture.document[0].id = "b"
        fixture.publish("c")
        fixture.settings.feeds[0].maxPerPoll = 1
        fixture.settings.writer = "third"
        var other = Ingester(fixture.settings)
        let silent = fixture.follow(with: &other)
        fixture.topic += isAlertLate ? silent + alert : alert + silent
        fixture.live(as: "fourth")
        fixture.document[1].headline = "Edited"
        fixture.live(as: "fifth", polls: 2)
        #expect(fixture.texts.filter { $0.hasPrefix("wire:c") } == ["wire:c 1 Headline of c"])
        #expect(fixture.texts.filter { !$0.hasPrefix("wire:c") } == ["wire:a 1 Headline of a", "wire:a 2 Edited"])
    }

    /// With the validators of the second process, "not changed" would hide the text that the story has under its new id.
    @Test(arguments: [false, true])
    func `a process that finds a late alert reads the whole document`(isAlertLate: Bool) throws {
        var fixture = IngesterFixture()
        fixture.etag = "tag"
        fixture.live(as: "first")
        fixture.publish("a")
        var slow = Ingester(fixture.settings)
        let alert = fixture.follow(with: &slow)
        fixture.document[0].id = "b"
        fixture.settings.feeds[0].maxPerPoll = 0
        fixture.live(as: "second")
        if isAlertLate { fixture.topic += alert }
        fixture.live(as: "third")
        #expect(try #require(fixture.requests.last).validators?.etag == (isAlertLate ? nil : "tag"))
    }

    @Test func `a host's request to wait applies even if nobody needs the answer any more`() {
        var settings = IngesterFixture().settings
        settings.feeds[0].group = "left"
        var ingester = Ingester(settings)
        var now = Moment(steady: FollowedFeed.start, wall: FollowedFeed.start)
        _ = ingester.handle(.assigned([0]), at: now)
        _ = ingester.handle(.restored(partition: 0), at: now)
        now.steady = now.steady + .seconds(61)
        now.wall = now.wall + .seconds(61)
        let fetch = ingester.handle(.tick, at: now).compactMap { if case .fetch(let id, _) = $0 { id } else { nil } }
        #expect(fetch.count == 1)
        _ = ingester.handle(.lost([0]), at: now)
        let answer = FetchAnswer(
            status: 429, headers: [HeaderField("retry-after", "900")], finalURL: "https://example.org/feed")
        for id in fetch { _ = ingester.handle(.fetched(id, .answered(answer)), at: now) }
        #expect(ingester.queue.blockedUntil("example.org", at: now.steady) == now.steady + .seconds(900))
    }

    @Test func `a feed whose group changes is followed on the group's partition`() throws {
        var settings = IngesterFixture().settings
        settings.partitions = 2
        var ingester = Ingester(settings)
        var now = Moment(steady: FollowedFeed.start, wall: FollowedFeed.start)
        _ = ingester.handle(.assigned([0, 1]), at: now)
        for partition in 0..<2 as Range<Int32> { _ = ingester.handle(.restored(partition: partition), at: now) }
        let before = settings.feeds[0].partition(among: 2)
        settings.feeds[0].group = (0..<100).map { "g\($0)" }.first { name in
            var rules = settings.feeds[0]
            rules.group = name
            return rules.partition(among: 2) != before
        }
        _ = ingester.handle(.rules(settings), at: now)
        now.steady = now.steady + .seconds(61)
        now.wall = now.wall + .seconds(61)
        let isFetched = ingester.handle(.tick, at: now).contains { if case .fetch = $0 { true } else { false } }
        #expect(isFetched)
        // The same settings change nothing.
        #expect(ingester.handle(.rules(settings), at: now).isEmpty)
    }

    @Test func `a hub that calls an unknown path is told to call again unless this process has all feeds`() {
        var settings = IngesterFixture().settings
        settings.partitions = 2
        var ingester = Ingester(settings)
        let now = Moment(steady: FollowedFeed.start, wall: FollowedFeed.start)
        func status() -> Int? {
            let call = WebSubCall(path: "0123", kind: .verification([:]))
            return ingester.handle(.called(CallbackID(1), call), at: now).lazy
                .compactMap { if case .answer(_, let answer) = $0 { answer.status } else { nil } }.first
        }
        #expect(status() == 503)
        _ = ingester.handle(.assigned([0, 1]), at: now)
        _ = ingester.handle(.restored(partition: 0), at: now)
        #expect(status() == 503)
        _ = ingester.handle(.restored(partition: 1), at: now)
        #expect(status() == 404)
        _ = ingester.handle(.revoked([1]), at: now)
        #expect(status() == 503)
    }

    @Test func `repeated requests for polls that must wait do not accumulate timers`() {
        let now = Moment(steady: FollowedFeed.start, wall: FollowedFeed.start)
        var ingester = IngesterFixture().ingesterThatMustWait
        let before = ingester.load.timers
        for _ in 0..<1_000 { _ = ingester.handle(.pollNow, at: now) }
        #expect(ingester.load.timers <= before + 1)
    }

    // MARK: - Moved

    @Test func `a feed at another host of which nothing is known is not sent`() {
        var fixture = IngesterFixture()
        for id in ["a", "b"] { fixture.publish(id) }
        fixture.live(as: "first")
        let own = fixture.document
        fixture.redirectsTo = "parked.example"
        fixture.document = []
        fixture.live(as: "second")
        fixture.publish("casino")
        fixture.live(as: "third", polls: 3)
        #expect(fixture.written.isEmpty)
        #expect(fixture.notes.count { $0.contains("parked.example") } == 3)
        // It is the same feed as soon as one of its entries is there.
        fixture.document = own
        fixture.publish("c")
        fixture.live(as: "fourth")
        fixture.document = []
        fixture.publish("d")
        fixture.live(as: "fifth")
        #expect(fixture.texts == ["wire:c 1 Headline of c", "wire:d 1 Headline of d"])
    }

    @Test(arguments: [(404, 3), (410, 1)])
    func `a feed whose new address fails is polled at its url again`(status: Int, polls: Int) {
        let (old, new) = ("https://example.org/feed", "https://new.example/feed")
        let move = #"{"from":"\#(old)","to":"\#(new)","since":"2026-01-01T00:00:00Z","polls":3}"#
        let state = #"{"url":"\#(old)","primedAt":"2026-01-01T00:00:00Z","move":\#(move)}"#
        var fixture = IngesterFixture()
        fixture.topic = [StateRecord(key: "feed/wire", value: Array(state.utf8))]
        fixture.statuses = [new: status]
        fixture.live(as: "first", polls: polls + 1)
        #expect(fixture.requests.map(\.url) == Array(repeating: new, count: polls) + [old])
    }

    // MARK: - Messages

    @Test(arguments: [0, 1, 3]) func `a feed with more entries than are read is reported once`(leftOut: Int) {
        var fixture = IngesterFixture()
        fixture.publish("old")
        fixture.entriesLeftOut = leftOut
        fixture.live(as: "one", polls: 3)
        let notes = fixture.notes.filter { $0.contains("more than 2,000") }
        #expect(notes.count == (leftOut > 0 ? 1 : 0))
        let entries = leftOut == 1 ? "1 entry" : "3 entries"
        #expect(notes.allSatisfy { $0.hasPrefix("\(entries) at the end of the feed not read") })
    }

    @Test(arguments: [false, true])
    func `messages of a rehearsal say that nothing is written`(isRehearsal: Bool) {
        var fixture = IngesterFixture()
        fixture.settings.isRehearsal = isRehearsal
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.live(as: "second")
        #expect(fixture.notes.contains(isRehearsal ? "1 event would be written." : "1 event written."))
        #expect(fixture.notes.count { $0.contains("would be") } == (isRehearsal ? 2 : 0))
    }
}
