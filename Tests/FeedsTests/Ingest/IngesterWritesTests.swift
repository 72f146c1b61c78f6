import NewsModel
import Testing

@testable import Feeds

/// Writes without a reply, records of other processes that arrive late, and what a publisher must not reach.
struct IngesterWritesTests {
    @Test func `a state write without a reply is not written a second time until it has failed`() throws {
        var fixture = IngesterFixture()
        var ingester = Ingester(fixture.settings)
        #expect(!fixture.follow(with: &ingester).isEmpty)
        for _ in 0..<3 {
            fixture.now = fixture.now + .seconds(61)
            #expect(stores(ingester.handle(.tick, at: fixture.moment)) == 0)
        }
        let write = try #require(ingester.writes.keys.first)
        _ = ingester.handle(.writeFailed(write, because: "no leader"), at: fixture.moment)
        fixture.now = fixture.now + .seconds(2)
        #expect(stores(ingester.handle(.tick, at: fixture.moment)) == 1)
    }

    /// The broker refuses the records of a feed, or does not answer.
    @Test(arguments: [true, false]) func `a feed whose writes Kafka does not take is a problem`(isRefused: Bool) throws
    {
        var fixture = IngesterFixture()
        var ingester = Ingester(fixture.settings)
        let records = fixture.follow(with: &ingester)
        let began = fixture.now
        if isRefused {
            let write = try #require(ingester.writes.keys.first)
            _ = ingester.handle(.writeFailed(write, because: "too large"), at: fixture.moment)
        }
        #expect(ingester.unwrittenSince == began && !ingester.status(at: fixture.moment).contains { $0.isProblem })
        fixture.now = fixture.now + Ingester.unwrittenMax
        _ = ingester.handle(.tick, at: fixture.moment)
        let because = "Kafka does not take what it brought, so the feed stands still"
        #expect(
            ingester.status(at: fixture.moment).map(\.state) == [.failing(since: began, because: because)])
        for input in fixture.inputs(of: records, from: 0) {
            for action in ingester.handle(input, at: fixture.moment) {
                guard case .store(_, _, let closing) = action else { continue }
                for input in fixture.inputs(of: closing, from: records.count) {
                    _ = ingester.handle(input, at: fixture.moment)
                }
            }
        }
        #expect(ingester.unwrittenSince == nil && !ingester.status(at: fixture.moment).contains { $0.isProblem })
    }

    private func stores(_ actions: [IngestAction]) -> Int {
        actions.count { if case .store = $0 { true } else { false } }
    }

    @Test func `the whole document is read after a record of another owner that arrives during a poll`() throws {
        var fixture = IngesterFixture()
        fixture.etag = "\"1\""
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.etag = "\"2\""
        fixture.live(as: "second", polls: 2)
        // Another process has seen a wrong headline, and freezes while it writes.
        var frozen = fixture
        frozen.settings.writer = "frozen"
        frozen.document[0].headline = "Wrong"
        var other = Ingester(frozen.settings)
        let late = frozen.follow(with: &other)
        #expect(!late.isEmpty)

        fixture.settings.writer = "third"
        var ingester = Ingester(fixture.settings)
        let start: [IngestInput] = [.assigned([0])] + fixture.inputs(of: fixture.topic, from: 0)
        let poll = try poll(&ingester, start + [.restored(partition: 0)], &fixture)
        #expect(poll.request.validators?.etag == "\"2\"")
        let records = fixture.inputs(of: late, from: fixture.topic.count)
        fixture.topic += late
        let unchanged = FetchAnswer(status: 304, finalURL: poll.request.url)
        let next = try self.poll(&ingester, records + [.fetched(poll.id, .answered(unchanged))], &fixture)
        #expect(next.request.validators == nil && next.request.knownBodyHash == nil)
    }

    @Test func `the whole document is read soon after a hub has pushed a former text`() throws {
        let lease =
            #"{"hub":"https://hub.example/","topic":"https://example.org/feed","base":"https://push.example/","path":"0a","#
            + #""secret":"key","until":"2030-01-01T00:00:00Z","renewAt":"2030-01-01T00:00:00Z"}"#
        let state =
            #"{"url":"https://example.org/feed","primedAt":"2026-01-01T00:00:00Z","webSub":{"active":\#(lease)}}"#
        var fixture = IngesterFixture()
        fixture.settings.webSubURL = "https://push.example/"
        fixture.topic = [StateRecord(key: "feed/wire", value: Array(state.utf8))]
        fixture.publish("a")
        var ingester = Ingester(fixture.settings)
        let start: [IngestInput] = [.assigned([0])] + fixture.inputs(of: fixture.topic, from: 0)
        var next = try poll(&ingester, start + [.restored(partition: 0)], &fixture)
        for headline in ["Wrong", "Right"] {
            fixture.document[0].headline = headline
            let document = FeedDocument(format: .rss20, entries: fixture.document)
            let answer = FetchAnswer(
                status: 200, finalURL: next.request.url, bodyHash: headline, document: .feed(document))
            next = try poll(&ingester, [.fetched(next.id, .answered(answer))], &fixture)
        }
        #expect(next.request.knownBodyHash == "Right")
        let unchanged = FetchAnswer(status: 304, finalURL: next.request.url)
        let body = "<rss><channel><item><guid>a</guid><title>Wrong</title></item></channel></rss>"
        let call = WebSubCall(
            path: "0a",
            kind: .delivery(
                headers: [HeaderField("x-hub-signature", sha256(body, "key"))], body: Array(body.utf8)))
        let (before, pushedAt) = (fixture.topic.count, fixture.now)
        let answer = IngestInput.fetched(next.id, .answered(unchanged))
        next = try poll(&ingester, [answer, .called(CallbackID(1), call)], &fixture)
        let records = fixture.topic.dropFirst(before).map { String(decoding: $0.value ?? [], as: UTF8.self) }
        #expect(!records.contains { $0.contains("intent") })
        #expect(ingester.status(at: fixture.moment).map(\.counts?.pushes) == [1])
        #expect(next.request.knownBodyHash == nil && fixture.now <= pushedAt + fixture.settings.intervalMin)
    }

    @Test func `an event that Kafka refuses is named and counted`() throws {
        var fixture = IngesterFixture()
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.settings.writer = "second"
        var ingester = Ingester(fixture.settings)
        let intents = fixture.follow(with: &ingester)
        let inputs = fixture.inputs(of: intents, from: fixture.topic.count)
        let actions = inputs.flatMap { ingester.handle($0, at: fixture.moment) }
        let writes = actions.compactMap { if case .publish(let id, _, _) = $0 { id } else { nil } }
        let write = try #require(writes.first)
        let answers = ingester.handle(.refused(write, events: [0, 7], because: "too large"), at: fixture.moment)
        let notes = answers.compactMap { if case .note(let note) = $0 { note.text } else { nil } }
        #expect(notes == ["1 event not sent (wire:a): too large"])
        #expect(ingester.status(at: fixture.moment).map(\.counts?.refused) == [1])
    }

    /// Hands over inputs and carries out what follows, until the next poll.
    private func poll(
        _ ingester: inout Ingester, _ inputs: [IngestInput], _ fixture: inout IngesterFixture
    ) throws -> (id: FetchID, request: FetchRequest) {
        var queue = inputs
        var wake: Instant?
        while true {
            if queue.isEmpty {
                // A time that was announced during an earlier call is not announced again.
                fixture.now = max(fixture.now, wake ?? fixture.now + .seconds(1))
                try #require(fixture.now < FollowedFeed.start + .seconds(86_400))
                queue.append(.tick)
            }
            for action in ingester.handle(queue.removeFirst(), at: fixture.moment) {
                switch action {
                case .fetch(let id, let request): return (id, request)
                case .store(_, _, let records):
                    queue += fixture.inputs(of: records, from: fixture.topic.count)
                    fixture.topic += records
                case .publish(let id, _, _): queue.append(.published(id))
                case .wake(let at): wake = at
                default: break
                }
            }
        }
    }

    @Test func `times on the state topic that no clock can show do not end a process`() {
        var fixture = IngesterFixture()
        fixture.publish("old")
        fixture.live(as: "first")
        fixture.topic = fixture.topic.filter { $0.key.hasPrefix("entry/") }.map { record in
            let text = String(decoding: record.value ?? [], as: UTF8.self)
            let seconds = text.replacing(/"(firstSeen|hourBegan)":\d+/) { "\"\($0.output.1)\":4294967290" }
            return StateRecord(key: record.key, value: Array(seconds.utf8))
        }
        fixture.publish("a")
        let polls = fixture.requests.count
        fixture.live(as: "second", polls: 3)
        #expect(fixture.requests.count == polls + 3)
    }

    @Test(arguments: [("https://example.org/new", true), ("https://other.example/feed", false)])
    func `the headers of a feed that has moved are sent only to its own host`(new: String, areSent: Bool) {
        let old = "https://example.org/feed"
        let move = #"{"from":"\#(old)","to":"\#(new)","since":"2026-01-01T00:00:00Z","polls":3}"#
        let state = #"{"url":"\#(old)","primedAt":"2026-01-01T00:00:00Z","move":\#(move)}"#
        var fixture = IngesterFixture()
        fixture.settings.feeds[0].headers = [HeaderField("authorization", "Bearer secret")]
        fixture.topic = [StateRecord(key: "feed/wire", value: Array(state.utf8))]
        fixture.live(as: "first")
        #expect(fixture.requests.map(\.url) == [new])
        #expect(fixture.requests.map { !$0.headers.isEmpty } == [areSent])
    }

    @Test(
        arguments: [("urn:1", "urn:1"), ("wire:1", "wire:1"), ("other:1", "wire:a"), ("no colon", "no colon")],
        [true, false])
    func `an entry's story is not one of another feed`(story: (own: String, key: String), isFollowed: Bool) {
        var fixture = IngesterFixture()
        let other = FeedRules(name: "other", url: "https://example.org/other")
        if isFollowed { fixture.settings.feeds.append(other) } else { fixture.settings.otherFeeds = ["other"] }
        fixture.others = [other.url: []]
        fixture.live(as: "first", polls: 2)
        fixture.publish("a")
        fixture.document[0].story = story.own
        fixture.document[0].status = .canceled
        fixture.live(as: "second", polls: 4)
        #expect(Set(fixture.written.map(\.key)) == [story.key])
    }
}
