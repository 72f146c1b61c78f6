import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct ContentPolicyTests {
    struct Stamp: Sendable {
        var ours: String?
        var acceptsUnstamped = true
        var stamp: String?
        var isTaken: Bool
    }

    @Test(arguments: [
        Stamp(ours: "production", stamp: "production", isTaken: true),
        Stamp(ours: "Production", stamp: "production", isTaken: true),
        Stamp(ours: "production", stamp: "staging", isTaken: false),
        Stamp(ours: "staging", stamp: "production", isTaken: false),
        Stamp(ours: "production", stamp: "production, staging", isTaken: false),
        Stamp(ours: "production", stamp: nil, isTaken: true),
        Stamp(ours: "production", acceptsUnstamped: false, stamp: nil, isTaken: false),
        Stamp(ours: "production", stamp: "", isTaken: false),
        Stamp(ours: nil, stamp: nil, isTaken: true),
        Stamp(ours: nil, stamp: "production", isTaken: true),
        Stamp(ours: nil, stamp: "staging", isTaken: false),
    ])
    func `an event for another environment is withheld`(_ example: Stamp) throws {
        var shell = try TestShell(
            policy: ContentPolicy(environment: example.ours, acceptsUnstamped: example.acceptsUnstamped))
        _ = shell.assign()
        let actions = shell.publish(news("1", example.stamp.map { #","environment":"\#($0)""# } ?? ""))
        #expect(actions.sends.count == (example.isTaken ? 1 : 0))
        #expect(actions.outcomes == (example.isTaken ? [] : [.withheld]))
        #expect(actions.results.first?.result.error?.code == (example.isTaken ? nil : "environment"))
    }

    @Test func `the stamp of the record counts like that of the event`() throws {
        var shell = try TestShell(policy: ContentPolicy(environment: "production"))
        _ = shell.assign()
        let record = shell.record(news("1"), headers: [RecordHeader(HeaderName.environment, "staging")])
        let actions = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record]))
        #expect(actions.outcomes == [.withheld])
    }

    @Test func `a recall from another environment recalls nothing`() throws {
        var shell = try TestShell(policy: ContentPolicy(environment: "production"))
        _ = shell.assign()
        var actions = shell.publish(news("2", story: "s", status: "canceled", #","environment":"staging""#))
        actions += shell.publish(news("1", story: "s"))
        #expect(actions.outcomes == [.withheld])
        #expect(actions.sends.count == 1)
        #expect(!actions.contains { if case .recall = $0 { true } else { false } })
    }

    @Test func `a test goes to the testers among its readers, and is marked`() throws {
        var shell = try TestShell(message: "News: {{headline}}", policy: ContentPolicy(testTag: "staff"))
        _ = shell.assign()
        let sent = try #require(shell.publish(news("1", #","test":true"#)).sends.first)
        #expect(sent.request.tags == "staff && World")
        #expect(sent.text.contains(#""messageParam":"TEST News: headline of 1""#))
        let result = try #require(shell.reply(201, to: sent).results.first?.result)
        #expect(result.isTest)
        #expect(result.tags == ["staff"])
    }

    @Test(arguments: [
        (false, 2, "staff && (World || Politics)"), (true, 2, "staff && (World || Politics) && breakingNews"),
        (false, 5, "staff && (World || Politics || Business || Technology || Science)"),
        (false, 6, "staff"), (true, 4, "staff && (World || Politics || Business || Technology) && breakingNews"),
        (true, 5, "staff && breakingNews"), (true, 6, "staff && breakingNews"),
    ])
    func `too many tags for an expression leave all the testers, and only them`(
        hasTemplates: Bool, count: Int, expression: String
    ) throws {
        let rules = try ContentRules(
            payload: PayloadSettings(templates: hasTemplates ? .standard : nil), policy: ContentPolicy(testTag: "staff")
        )
        let names = CategoryTable.standard.categories.prefix(count).map(\.name)
        let routing = rules.router.route(NewsEvent(id: "1", headline: "h", categories: names, isTest: true))
        guard case .tagged(let tagged) = routing else { throw Unrouted() }
        #expect(tagged.expression == expression)
        #expect(tagged.leftOut == [], "it goes to all testers")
        #expect(tagged.categories == names)
    }

    private struct Unrouted: Error {}

    @Test func `without anybody to test on a test is withheld`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let actions = shell.publish(news("1", #","test":true"#))
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes == [.withheld])
        #expect(actions.results.first?.result.error?.code == "test")
    }

    @Test func `a test has no effect on the story that it names`() throws {
        var shell = try TestShell(policy: ContentPolicy(testTag: "staff"))
        _ = shell.assign()
        let test = #","test":true"#
        var actions = shell.publish(news("1", story: "s", version: 9, test))
        actions += shell.publish(news("1", story: "s", status: "canceled", test))
        // The event is not outdated, duplicate, recalled or queued behind the test.
        actions += shell.publish(news("1", story: "s", version: 9), news("1", story: "s", version: 10))
        #expect(actions.sends.map(\.request.tags) == ["staff && World", "World"])
        let collapse = actions.sends.map { $0.request.fields.first { $0.name == "apns-collapse-id" }?.value }
        #expect(collapse == ["test:s", "s"])
    }

    @Test func `after a restart an accepted test makes no duplicate of the event`() throws {
        var shell = try TestShell(policy: ContentPolicy(testTag: "staff"))
        _ = shell.assign()
        let sent = try #require(shell.publish(news("1", version: 1, #","test":true"#)).sends.first)
        let request = try #require(shell.reply(201, to: sent).results.first)
        var next = try TestShell(policy: ContentPolicy(testTag: "staff"))
        let entry = LedgerEntry(
            offset: 0, source: request.result.source, platform: .template, outcome: .accepted,
            identity: request.identity, eventID: "1", version: request.version, isOpen: false)
        _ = next.assign(ledger: [entry], end: 1)
        #expect(next.publish(news("1", version: 1)).sends.count == 1)
        #expect(next.publish(news("1", version: 1, #","test":true"#)).outcomes == [.duplicate])
    }

    @Test func `quiet hours let tests pass`() throws {
        let night = DailyWindow(from: 7 * 60, to: 9 * 60, zone: .utc)
        var shell = try TestShell(
            policy: ContentPolicy(testTag: "staff", quietHours: [QuietHours(window: night, action: .drop)]))
        _ = shell.assign()
        #expect(shell.publish(news("1", #","test":true"#)).sends.count == 1)
    }
}
