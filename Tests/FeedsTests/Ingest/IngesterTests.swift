import NewsModel
import Testing

@testable import Feeds

/// A topic, a lane and a publisher around one ingester at a time. Its actions are carried out step by step, so that it
/// can end between any two.
struct IngesterFixture {
    var settings = IngestSettings()
    var document: [FeedEntry] = []
    var isCutOff = false
    var etag: String?
    var requests: [FetchRequest] = []
    /// The records in the order of the partition.
    var topic: [StateRecord] = []
    var written: [FeedEvent] = []
    var now = FollowedFeed.start

    private enum Step {
        case input(IngestInput)
        case store(WriteID, Int32, [StateRecord])
        case publish(WriteID, [FeedEvent])
    }

    init() {
        var rules = FeedRules(name: "wire", url: "https://example.org/feed")
        rules.category = "World"
        settings.feeds = [rules]
    }

    var moment: Moment { Moment(steady: now, wall: now) }

    /// Starts a process that reads the topic and follows `polls` documents completely, or ends after `steps`.
    /// - Returns: number of steps that the process has done.
    @discardableResult
    mutating func live(as writer: String, polls: Int = 1, steps stepsMax: Int = .max) -> Int {
        settings.writer = writer
        var ingester = Ingester(settings)
        var queue: [Step] = [.input(.assigned([0]))]
        queue += inputs(of: topic, from: 0).map(Step.input)
        queue.append(.input(.restored(partition: 0)))
        var steps = 0
        var wake: Instant?
        var documents = 0
        while steps < stepsMax {
            if queue.isEmpty {
                guard documents < polls, let at = wake else { break }
                now = max(now, at)
                queue.append(.input(.tick))
            }
            steps += 1
            switch queue.removeFirst() {
            case .store(_, _, let records):
                queue += inputs(of: records, from: topic.count).map(Step.input)
                topic += records
            case .publish(let id, let events):
                written += events
                queue.append(.input(.published(id)))
            case .input(let input):
                for action in ingester.handle(input, at: moment) {
                    switch action {
                    case .fetch(let id, let request):
                        requests.append(request)
                        documents += 1
                        queue.append(.input(.fetched(id, answer)))
                    case .store(let id, let partition, let records): queue.append(.store(id, partition, records))
                    case .publish(let id, _, let events): queue.append(.publish(id, events))
                    case .wake(let at): wake = at
                    default: break
                    }
                }
            }
        }
        return steps
    }

    /// Assigns the partition to `ingester`, which reads the topic and the document once.
    /// - Parameter late: records of another process that it reads between the two.
    /// - Returns: the records that it writes. They are not on the topic yet.
    mutating func follow(with ingester: inout Ingester, after late: [StateRecord] = []) -> [StateRecord] {
        var inputs: [IngestInput] = [.assigned([0])]
        inputs += self.inputs(of: topic, from: 0)
        inputs.append(.restored(partition: 0))
        inputs += self.inputs(of: late, from: topic.count)
        var records: [StateRecord] = []
        var wake: Instant?
        var isRead = false
        while !inputs.isEmpty {
            for action in ingester.handle(inputs.removeFirst(), at: moment) {
                switch action {
                case .fetch(let id, _):
                    isRead = true
                    inputs.append(.fetched(id, answer))
                case .store(_, _, let stored): records += stored
                case .wake(let at): wake = at
                default: break
                }
            }
            if inputs.isEmpty, !isRead, let at = wake {
                now = max(now, at)
                inputs.append(.tick)
            }
        }
        return records
    }

    func inputs(of records: [StateRecord], from offset: Int) -> [IngestInput] {
        records.enumerated().map {
            .record(partition: 0, offset: Int64(offset + $0.offset), key: $0.element.key, value: $0.element.value)
        }
    }

    private var answer: FetchResult {
        var feed = FeedDocument(format: .rss20, entries: document)
        feed.isCutOff = isCutOff
        let headers = etag.map { [HeaderField("etag", $0)] } ?? []
        return .answered(
            FetchAnswer(status: 200, headers: headers, finalURL: "https://example.org/feed", document: .feed(feed)))
    }

    mutating func publish(_ id: String) {
        var entry = FeedEntry(id: id, headline: "Headline of \(id)")
        entry.link = "https://example.org/\(id)"
        entry.publishedAt = now
        document.insert(entry, at: 0)
    }

    /// Number of intents on the topic that are not done.
    var intents: Int {
        var last: [String: Bool] = [:]
        for record in topic {
            last[record.key] = record.value.map { String(decoding: $0, as: UTF8.self).contains("\"intent\"") }
        }
        return last.values.count { $0 }
    }

    /// The written events as `id version headline`, without repetitions.
    var texts: [String] {
        var texts: [String] = []
        for event in written {
            let text = String(decoding: event.value, as: UTF8.self)
            let parts = ["id", "version", "headline"].map { name in
                text.split(separator: "\"\(name)\":\"").dropFirst().first?.split(separator: "\"").first ?? ""
            }
            let line = parts.joined(separator: " ")
            if !texts.contains(line) { texts.append(line) }
        }
        return texts
    }

    /// A fixture whose feed has been read, with two new stories that have not been polled.
    static var withTwoStories: IngesterFixture {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.publish("b")
        return fixture
    }

    static let stepsOfTwoStories: Int = {
        var fixture = IngesterFixture.withTwoStories
        return fixture.live(as: "second")
    }()
}

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

    // MARK: - Held back

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
        #expect(ingester.queue.isBlocked("example.org", at: now.steady) == now.steady + .seconds(900))
    }

    @Test func `repeated requests for polls that must wait do not accumulate timers`() {
        let now = Moment(steady: FollowedFeed.start, wall: FollowedFeed.start)
        var ingester = Ingester(IngesterFixture().settings)
        _ = ingester.handle(.assigned([0]), at: now)
        let state = #"{"url":"https://example.org/feed","retryUntil":"2030-01-01T00:00:00Z"}"#
        _ = ingester.handle(.record(partition: 0, offset: 0, key: "feed/wire", value: Array(state.utf8)), at: now)
        _ = ingester.handle(.restored(partition: 0), at: now)
        let before = ingester.load.timers
        for _ in 0..<1_000 { _ = ingester.handle(.pollNow, at: now) }
        #expect(ingester.load.timers <= before + 1)
    }
}
