import NewsModel
import Testing

@testable import Feeds

/// The polls of one feed after refusals, and after corrections of its settings.
struct IngesterSettingsTests {
    /// A process that follows one feed. What it writes to the state topic is read back at once.
    private struct Process {
        var settings: IngestSettings
        var ingester: Ingester
        private(set) var now = FollowedFeed.start
        private var offset: Int64 = 0

        init(_ settings: IngestSettings = IngesterFixture().settings) {
            self.settings = settings
            ingester = Ingester(settings)
            handle(.assigned([0]))
            handle(.restored(partition: 0))
        }

        @discardableResult
        mutating func handle(_ input: IngestInput) -> [IngestAction] {
            let moment = Moment(steady: now, wall: now)
            var actions = ingester.handle(input, at: moment)
            var place = 0
            while place < actions.count {
                if case .store(_, _, let records) = actions[place] {
                    for record in records {
                        actions += ingester.handle(
                            .record(partition: 0, offset: offset, key: record.key, value: record.value), at: moment)
                        offset += 1
                    }
                }
                place += 1
            }
            return actions
        }

        mutating func reload(_ change: (inout FeedRules) -> Void) -> [IngestAction] {
            change(&settings.feeds[0])
            return handle(.rules(settings))
        }

        /// Waits for the next poll.
        mutating func poll(within seconds: Int) throws -> (id: FetchID, request: FetchRequest) {
            for _ in 0..<seconds {
                now = now + .seconds(1)
                for case .fetch(let id, let request) in handle(.tick) { return (id, request) }
            }
            throw NoPoll()
        }
    }

    private struct NoPoll: Error {}

    private let newURL = "https://new.example/feed"

    @Test func `the answer of a former url is not applied`() throws {
        var process = Process()
        let former = try process.poll(within: 61)
        let actions = process.reload { $0.url = newURL }
        #expect(actions.contains(.cancel(former.id)))
        let document = FeedDocument(format: .rss20)
        let answer = FetchAnswer(status: 200, finalURL: former.request.url, document: .feed(document))
        let effects = process.handle(.fetched(former.id, .answered(answer)))
        #expect(!effects.contains { if case .store = $0 { true } else { false } })
        let poll = try process.poll(within: 61)
        #expect(poll.request.url == newURL)
    }

    @Test func `a wait that the host of a former url asked for does not delay the new one`() throws {
        var process = Process()
        let former = try process.poll(within: 61)
        let answer = FetchAnswer(
            status: 429, headers: [HeaderField("retry-after", "86400")], finalURL: former.request.url)
        process.handle(.fetched(former.id, .answered(answer)))
        _ = process.reload { $0.url = newURL }
        let poll = try process.poll(within: 61)
        #expect(poll.request.url == newURL)
    }

    @Test func `a host that a feed is redirected to does not make the redirecting host wait`() throws {
        var process = Process()
        let poll = try process.poll(within: 61)
        process.handle(
            .fetched(poll.id, .answered(FetchAnswer(status: 429, finalURL: "https://cdn.example/feed"))))
        #expect(process.ingester.queue.blockedUntil("cdn.example", at: process.now) != nil)
        #expect(process.ingester.queue.blockedUntil("example.org", at: process.now) == nil)
        // The feed itself waits.
        #expect(throws: NoPoll.self) { try process.poll(within: 500) }
    }

    @Test func `a feed whose publisher refuses several polls in a row is a problem`() throws {
        var process = Process()
        for isProblem in [false, false, true] {
            let poll = try process.poll(within: 700)
            process.handle(.fetched(poll.id, .answered(FetchAnswer(status: 429, finalURL: poll.request.url))))
            let moment = Moment(steady: process.now, wall: process.now)
            #expect(process.ingester.status(at: moment).map(\.isProblem) == [isProblem])
        }
    }

    @Test func `a feed that changes its group brings its recent stories, and the former group keeps them`() {
        var fixture = IngesterFixture()
        fixture.settings.partitions = 2
        let groups = (0..<2 as Range<Int32>).map { partition in
            (0..<100).map { "g\($0)" }.first { group in
                var rules = fixture.settings.feeds[0]
                rules.group = group
                return rules.partition(among: 2) == partition
            }
        }
        fixture.settings.feeds[0].group = groups[0]
        fixture.live(as: "first")
        fixture.publish("a")
        fixture.live(as: "second", polls: 2)
        var ingester = Ingester(fixture.settings)
        fixture.settings.feeds[0].group = groups[1]
        let records = fixture.inputs(of: fixture.topic, from: 0)
        let restored = [IngestInput.restored(partition: 0), .restored(partition: 1)]
        for input in [.assigned([0, 1])] + records + restored + [.rules(fixture.settings)] {
            _ = ingester.handle(input, at: fixture.moment)
        }
        let link = StableHash.of(LinkKey.of("https://example.org/a"))
        let minute = Minute.of(fixture.now)
        let feeds = groups.compactMap { group in
            group.flatMap { ingester.groups[$0] }?
                .feed(thatBrought: link, title: 0, besides: "other", by: minute, at: minute)
        }
        #expect(feeds == ["wire", "wire"])
    }

    @Test func `a request to wait is known of all feeds of its host`() throws {
        var settings = IngesterFixture().settings
        settings.feeds.append(FeedRules(name: "other", url: "https://example.org/other"))
        var process = Process(settings)
        let poll = try process.poll(within: 61)
        process.handle(.fetched(poll.id, .answered(FetchAnswer(status: 429, finalURL: poll.request.url))))
        process.handle(.pollNow)
        let moment = Moment(steady: process.now, wall: process.now)
        #expect(process.ingester.status(at: moment).map(\.mustWait) == [true, true])
    }

    @Test func `unfinished events of a stopped feed keep no process busy, and are written once it is resumed`() {
        var fixture = IngesterFixture.withTwoStories
        var former = Ingester(fixture.settings)
        let records = fixture.topic + fixture.follow(with: &former)
        var ingester = Ingester(fixture.settings)
        let inputs: [IngestInput] = [.stopped(["wire"]), .assigned([0])] + fixture.inputs(of: records, from: 0)
        for input in inputs + [.restored(partition: 0)] { _ = ingester.handle(input, at: fixture.moment) }
        #expect(!ingester.isBusy && ingester.load.batches == 0)
        let actions = ingester.handle(.stopped([]), at: fixture.moment)
        #expect(actions.contains { if case .publish(_, _, let events) = $0 { events.count == 2 } else { false } })
    }

    @Test func `a failing feed is polled soon after its headers change`() throws {
        var process = Process()
        for _ in 0..<5 {
            let poll = try process.poll(within: 4_000)
            process.handle(.fetched(poll.id, .answered(FetchAnswer(status: 401, finalURL: poll.request.url))))
        }
        _ = process.reload { $0.headers = [HeaderField("authorization", "Bearer secret")] }
        let poll = try process.poll(within: 61)
        #expect(poll.request.headers.count == 1)
    }
}
