import Backfill
import NewsModel
import NewswireSettings
import NotificationHub
import PublishEngine
import Testing

struct DryRunTests {
    private static let start = Instant(milliseconds: 1_795_000_000_000)

    private func settings(_ more: String = "") throws -> Settings {
        let loaded = LoadedSettings(
            """
            kafka: {bootstrapServers: ["127.0.0.1:9092"]}
            lanes: {live: {topics: [news.events], maxAge: 15m}, backfill: {topics: [news.backfill], floor: 10%}}
            payload: {templates: {normal: breakingNews, quiet: breakingNewsQuiet}}
            rate: {perSecond: 50, burst: 50}
            environment: production
            \(more)

            """, leavingOut: ["hub"])
        return try #require(loaded.settings, "\(loaded.problems)")
    }

    private func run(
        _ events: [String], lane: Int = 1, rate: Int? = nil, _ more: String = "", schedule: PublishSchedule? = nil,
        partitions: Int32 = 1
    ) throws -> (DryRun, DryRun.Speed) {
        let settings = try settings(more)
        let review = EventReview(isSilent: lane > 0)
        let speed = DryRun.Speed(settings.engine, lane: lane, written: rate, schedule: schedule)
        var run = DryRun(
            settings.engine, try settings.contentRules(), lane: lane,
            selection: EventSelection(review, start: Self.start), headers: review.headers,
            speed: speed, partitions: partitions, start: Self.start)
        for (index, event) in events.enumerated() {
            _ = run.receive(EventFileItem(line: index + 1, content: .event(Array(event.utf8))))
        }
        return (run, speed)
    }

    private func event(_ id: String, _ category: String = "World", _ more: String = "") -> String {
        #"{"id":"\#(id)","headline":"h","category":"\#(category)"\#(more)}"#
    }

    private func time(_ seconds: Int64) -> String { (Self.start + .seconds(seconds)).description }

    @Test func `every event is counted by its expected outcome`() throws {
        let (run, _) = try run([
            event("1"), event("2", "Sports"), "{}", event("1"), event("3", "Gossip"),
            event("4", "World", #","expiresAt":"\#(time(-1))""#), event("5", "World", #","status":"withheld""#),
            event("6", "World", #","embargoUntil":"\#(time(86_400))""#),
            event("7", "World", #","environment":"staging""#),
            event("8", "World", #","story":"s","version":2"#), event("9", "World", #","story":"s","version":1"#),
            event("10", "World", #","story":"k","status":"canceled""#), event("11", "World", #","story":"k""#),
        ])
        let tally = run.tally
        #expect((tally.events, tally.bad, tally.repeats) == (12, 1, 0))
        #expect(tally.outcomes.values.reduce(0, +) == tally.events)
        #expect(
            tally.outcomes == [
                .accepted: 3, .duplicate: 1, .unroutable: 1, .expired: 1, .withheld: 2, .held: 1, .superseded: 1,
                .canceled: 2,
            ])
        #expect(tally.count(of: "World") == 3 && tally.count(of: "Sports") == 1)
        #expect(tally[.accepted] + tally[.held] == 4)
    }

    @Test func `an event that expires before its turn is counted as expired`() throws {
        // Five events a second are sent, so the fifth one leaves after 0.8 s.
        let events = (1...20).map { event("\($0)", "World", #","expiresAt":"\#(time(1))""#) }
        #expect(try run(events).0.tally[.expired] == 15)
        // If one event a second is written and sent, only the first one is in time.
        #expect(try run(events, rate: 1).0.tally[.expired] == 19)
    }

    @Test func `events that are not sent do not delay later events`() throws {
        let old = (1...1_000).map { event("o\($0)", "World", #","expiresAt":"\#(time(-1))""#) }
        let events = (1...5).map { event("\($0)", "World", #","expiresAt":"\#(time(1))""#) }
        #expect(try run(old + events).0.tally[.accepted] == 5)
    }

    @Test func `the time follows the lane's floor of the hub's rate, or --rate if that is less`() throws {
        let (_, floor) = try run([])
        #expect(floor.duration(of: 5_000_000, from: Self.start) == .seconds(1_000_000))
        let (_, slow) = try run([], rate: 2)
        #expect(slow.duration(of: 10, from: Self.start) == .seconds(5))
        let (_, live) = try run([], lane: 0)
        #expect(live.duration(of: 500, from: Self.start) == .seconds(10))
        let (_, native) = try run([], "", schedule: nil)
        #expect(native.duration(of: 0, from: Self.start) == .zero)
        var unlimited = floor
        unlimited.sent = nil
        #expect(unlimited.duration(of: 10, from: Self.start) == nil)
    }

    @Test func `the time includes the hours in which nothing is written`() throws {
        let noon = try #require(Instant(rfc3339: "2026-11-22T12:00:00Z"))
        let night = try #require(PublishSchedule(between: "01:00-05:00", zone: .utc))
        let (_, speed) = try run([], rate: 1, schedule: night)
        // Four hours of the first night and one of the second.
        #expect(speed.duration(of: 5 * 3_600, from: noon) == .seconds(13 * 3_600 + 25 * 3_600))
    }

    @Test func `duplicates too far apart to be noticed are reported`() throws {
        let (run, _) = try run((1...5_000).map { event("\($0)") } + [event("5000"), event("1")])
        #expect(run.tally[.duplicate] == 1)
        #expect(run.tally.repeats == 1)
        #expect(run.tally[.accepted] == 5_001)
    }

    @Test func `copies are noticed per partition, within the distance that a partition remembers`() throws {
        let events = (1...20_000).map { event("\($0)") } + [event("1")]
        #expect(try run(events, partitions: 1).0.tally[.duplicate] == 0)
        #expect(try run(events, partitions: 12).0.tally[.duplicate] == 1)
    }

    // MARK: Versions that wait together

    private func version(_ number: Int, of story: String, _ more: String = "") -> String {
        event("\(story)-\(number)", "World", #","story":"\#(story)","version":\#(number)\#(more)"#)
    }

    @Test func `an event that a newer version may overtake while it waits is counted once`() throws {
        let (run, _) = try run([version(1, of: "s"), version(2, of: "s"), version(3, of: "s"), version(1, of: "t")])
        #expect((run.tally[.accepted], run.tally.overtaken) == (4, 2))
    }

    @Test func `a recall may overtake all waiting events of its story, with or without versions`() throws {
        let (run, _) = try run([
            event("1", "World", #","story":"s""#), event("2", "World", #","story":"s""#), event("3"),
            event("4", "World", #","story":"s","status":"canceled""#), event("3", "World", #","status":"canceled""#),
        ])
        #expect((run.tally[.accepted], run.tally[.canceled], run.tally.overtaken) == (3, 2, 3))
    }

    @Test func `a duplicate that waits for its original may be recalled with it`() throws {
        let recall = event("r", "World", #","story":"1","status":"canceled""#)
        #expect(try run([event("1"), event("1"), recall]).0.tally.overtaken == 2)
        #expect(try run([event("1"), event("1"), event("2"), event("2")]).0.tally.overtaken == 0)
    }

    @Test func `a later copy of an overtaken event may be outdated instead of a duplicate`() throws {
        let between = (1...3_000).map { event("\($0)") }
        let events = [version(1, of: "s"), version(2, of: "s")] + between + [version(1, of: "s")]
        let (run, _) = try run(events)
        #expect((run.tally[.duplicate], run.tally.overtaken) == (1, 2))
    }

    @Test func `an event sent before the next version is written is not overtaken`() throws {
        let events = [version(1, of: "s")] + (1...3).map { event("\($0)") } + [version(2, of: "s")]
        #expect(try run(events, rate: 1).0.tally.overtaken == 0)
        // Processes read records in batches.
        #expect(try run(events, rate: 1_000).0.tally.overtaken == 1)
    }

    @Test func `a newer version may overtake others before it expires itself`() throws {
        // Five events a second are sent.
        let between = (1...10).map { event("\($0)") }
        let expiring = version(2, of: "s", #","expiresAt":"\#(time(1))""#)
        let after = try run([version(1, of: "s")] + between + [expiring]).0.tally
        #expect((after[.accepted], after[.expired], after.expiredWaiting, after.overtaken) == (11, 1, 1, 1))
        let before = try run(between + [expiring, version(1, of: "s")]).0.tally
        #expect((before[.accepted], before.expiredWaiting, before.overtaken) == (11, 1, 1))
    }

    @Test func `events beyond the lane's window do not wait together`() throws {
        let between = (1...2_048).map { event("\($0)") }
        #expect(try run([version(1, of: "s")] + between.dropLast() + [version(2, of: "s")]).0.tally.overtaken == 1)
        #expect(try run([version(1, of: "s")] + between + [version(2, of: "s")]).0.tally.overtaken == 0)
    }

    @Test func `the first ten requests are shown as the run would send them`() throws {
        let (run, _) = try run((1...12).map { event("\($0)") })
        #expect(run.samples.count == 10)
        #expect(
            run.samples.map { $0.decision.requests.map(\.request.tags) }
                == [[String]](repeating: ["World && breakingNewsQuiet"], count: 10))
    }
}
