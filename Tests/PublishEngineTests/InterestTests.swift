import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct InterestTests {
    private static let table = InterestTable([.init(name: "team"), .init(name: "author", tag: "by-{id}")])

    private func router(
        _ interests: InterestTable = table, templates: PayloadSettings.TemplateNames? = nil, testTag: String? = nil,
        unroutable: UnroutablePolicy = .deadLetter, localization: Localization? = nil
    ) throws -> Router {
        try Router(
            unroutable: unroutable,
            audience: Audience(templates: templates, testTag: testTag, interests: interests),
            localization: localization)
    }

    private func event(
        _ interests: [String], categories: [String] = [], language: String? = nil, isTest: Bool = false,
        users: [String] = []
    ) -> NewsEvent {
        NewsEvent(
            id: "1", headline: "h", categories: categories, language: language, isTest: isTest, users: users,
            interests: interests)
    }

    private func tagged(_ routing: Routing) throws -> Routing.Tagged {
        guard case .tagged(let tagged) = routing else { throw Unrouted() }
        return tagged
    }

    private func failure(_ routing: Routing) -> ResultRecord.Failure? {
        if case .unroutable(let failure) = routing { failure } else { nil }
    }

    private struct Unrouted: Error {}

    private func followed(_ id: String, _ interests: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","headline":"headline of \#(id)","interests":\#(interests)\#(more)}"#
    }

    // MARK: Routing

    @Test func `followers are added to the readers of the categories, in one send`() throws {
        let routing = try tagged(
            try router().route(event(["team:bvb", "Author:4711", "TEAM:BVB"], categories: ["sport", "World"])))
        #expect(routing.expression == "World || Sports || team_bvb || by-4711")
        #expect(routing.tags == ["World", "Sports", "team_bvb", "by-4711"])
        #expect(routing.categories == ["World", "Sports"])
        #expect(routing.interests == ["team:bvb", "author:4711"])
        #expect(routing.rest == nil && routing.unknownInterests == [])
    }

    @Test(arguments: [UnroutablePolicy.deadLetter, .category("World")])
    func `an event without a category is for followers only`(policy: UnroutablePolicy) throws {
        let routing = try tagged(try router(unroutable: policy).route(event(["team:bvb"])))
        #expect(routing.expression == "team_bvb")
        #expect(routing.categories == [])
    }

    @Test func `an unknown category beside an interest goes by the settings`() throws {
        let strict = try tagged(try router().route(event(["team:bvb"], categories: ["Gossip"])))
        #expect(strict.expression == "team_bvb")
        let lenient = try router(unroutable: .category("World")).route(event(["team:bvb"], categories: ["Gossip"]))
        #expect(try tagged(lenient).expression == "World || team_bvb")
    }

    @Test(arguments: [
        ("player:9", "unknown kind"), ("bvb", "unknown kind"), (":bvb", "unknown kind"), ("team:", "bad id"),
        ("team:b v b", "bad id"), ("team:bvb||World", "bad id"), ("team:münchen", "bad id"), ("team:a\nb", "bad id"),
        ("team:" + String(repeating: "x", count: 200), "bad id"),
    ])
    func `an interest that nobody can follow is named, and widens nothing`(interest: String, reason: String) throws {
        let routing = try tagged(try router().route(event([interest], categories: ["World"])))
        #expect(routing.expression == "World")
        let named = try #require(routing.unknownInterests.first)
        #expect(
            named.hasPrefix("interest \(interest.prefix(3))".replacing("\n", with: " "))
                && named.hasSuffix(": " + reason))
        for policy in [UnroutablePolicy.deadLetter, .category("World")] {
            let alone = failure(try router(unroutable: policy).route(event([interest])))
            #expect(alone?.code == "unknown-interest")
            #expect(alone?.detail.contains(named) == true)
        }
    }

    @Test func `without kinds in the settings every interest is unknown`() throws {
        let routing = try tagged(try router(InterestTable()).route(event(["team:bvb"], categories: ["World"])))
        #expect(routing.expression == "World")
        #expect(routing.unknownInterests == ["interest team:bvb: unknown kind"])
    }

    @Test(arguments: [
        (19, false, [20]), (20, false, [20, 1]), (45, false, [20, 20, 6]), (4, true, [5]), (9, true, [5, 5]),
    ])
    func `more tags than a send has room for get several sends, each tag in one`(
        count: Int, hasTemplates: Bool, counts: [Int]
    ) throws {
        let interests = (1...count).map { "team:t\($0)" }
        let routing = try tagged(
            try router(templates: hasTemplates ? .standard : nil).route(event(interests, categories: ["World"])))
        let sends = Array(sequence(first: routing, next: \.rest))
        let tags = try sends.map { try TagExpression(parsing: $0.expression).tags.map(\.text) }
        #expect(tags.map { $0.count - (hasTemplates ? 1 : 0) } == counts)
        let wanted = ["World"] + (1...count).map { "team_t\($0)" }
        #expect(tags.flatMap { $0 }.filter { $0 != "breakingNews" } == wanted)
        #expect(sends.allSatisfy { $0.tags == wanted })
        if hasTemplates { #expect(sends.allSatisfy { $0.quietExpression.hasSuffix(" && breakingNewsQuiet") }) }
    }

    @Test func `single readers are not joined by followers`() throws {
        let routing = try tagged(
            try router().route(event(["team:bvb", "x:1"], categories: ["World"], users: ["anna"])))
        #expect(routing.expression == "$UserId:{anna}")
        #expect(routing.interests == ["team:bvb"] && routing.unknownInterests == ["interest x:1: unknown kind"])
    }

    @Test(arguments: [(["team:bvb"], "staff && team_bvb"), ((1...6).map { "team:\($0)" }, "staff")])
    func `a test reaches testers only`(interests: [String], expression: String) throws {
        let routing = try tagged(try router(testTag: "staff").route(event(interests, isTest: true)))
        #expect(routing.expression == expression)
        #expect(routing.rest == nil && routing.tags == ["staff"])
    }

    @Test func `followers read their own language if languages have tags`() throws {
        let languages = [Localization.Language(code: "en", name: "English"), .init(code: "fr", name: "French")]
        var event = event(["team:bvb"], categories: ["World"], language: "fr")
        let tags = try router(localization: Localization(mode: .tags, languages: languages))
        #expect(try tagged(tags.route(event)).expression == "World_fr || team_bvb_fr")
        #expect(try tagged(tags.route(event, isForEverybody: true)).expression == "World_fr || team_bvb_fr")
        let joined = try router(localization: Localization(mode: .expression, languages: languages))
        #expect(try tagged(joined.route(event)).expression == "(World || team_bvb) && language_fr")
        event.language = nil
        #expect(
            try tagged(tags.route(event, isForEverybody: true)).expression
                == "World_en || World_fr || team_bvb_en || team_bvb_fr")
    }

    // MARK: Settings

    @Test(arguments: [
        ("team", "team_{id}", true), ("team", "{id}", false), ("team", "team", false), ("team", "team {id}", false),
        ("team", "t{id}{id}", false), ("te am", "team_{id}", false), ("team", "$team_{id}", false),
        ("team", "user_{id}", false), ("team", "us{id}", false), ("team", "Wor{id}", false), ("team", "st{id}", false),
        ("team", "by-{id}", false), ("team", "b{id}", false), ("Author", "x_{id}", false), ("team", "st{id}x", true),
    ])
    func `a tag that could mean something else is a problem of the settings`(
        name: String, tag: String, isSound: Bool
    ) {
        let table = InterestTable([.init(name: "author", tag: "by-{id}"), .init(name: name, tag: tag)])
        let problems = table.problems(besides: ["staff"], CategoryTable.standard.categories, nil)
        #expect(problems.isEmpty == isSound, "\(problems)")
        #expect(problems.allSatisfy { $0.path.first == "interests" && $0.path.dropFirst().first == name })
    }

    @Test func `a tag with a language could be the testers' too`() {
        let french = Localization(
            mode: .tags, tag: "{language}-{category}", languages: [.init(code: "fr", name: "French")])
        func problems(_ testTag: String) -> [PayloadProblem] {
            Self.table.problems(besides: [testTag], CategoryTable.standard.categories, french)
        }
        #expect(problems("fr-team_staff").map(\.path) == [["interests", "team", "tag"]])
        #expect(problems("staff").isEmpty)
    }

    // MARK: In the engine

    private func shell(templates: PayloadSettings.TemplateNames? = nil) throws -> TestShell {
        var shell = try TestShell(templates: templates, policy: ContentPolicy(interests: Self.table))
        _ = shell.assign()
        return shell
    }

    @Test func `the result names interests and what was cut`() throws {
        var shell = try shell()
        let sent = try #require(
            shell.publish(followed("1", #"["team:bvb","player:9"]"#, #","category":"World""#)).sends.first)
        #expect(sent.request.tags == "World || team_bvb")
        let result = try #require(shell.reply(201, to: sent).endings.first).result
        #expect(result.interests == ["team:bvb"] && result.tags == ["World", "team_bvb"] && result.sends == 0)
        #expect(result.cut == ["interest player:9: unknown kind"])
        var bytes: [UInt8] = []
        result.encode(into: &bytes)
        let read = try ResultRecord(decoding: bytes)
        #expect(read.interests == result.interests && read.cut == result.cut)
    }

    @Test func `several sends are one delivery, and the result counts them`() throws {
        var shell = try shell()
        let interests = (1...45).map { "\"team:\($0)\"" }.joined(separator: ",")
        let first = shell.publish(followed("1", "[\(interests)]")).sends
        #expect(first.count == 1)
        let second = shell.reply(201, to: try #require(first.first))
        #expect(second.endings.isEmpty && second.sends.count == 1)
        let busy = shell.reply(429, retryAfter: .seconds(1), to: try #require(second.sends.first))
        let again = try #require((busy + shell.wait(.seconds(120))).sends.first)
        #expect(again.request.tags == second.sends.first?.request.tags)
        let third = try #require(shell.reply(201, to: again).sends.first)
        #expect(third.request.tags == "team_41 || team_42 || team_43 || team_44 || team_45")
        let result = try #require(shell.reply(201, to: third).endings.first).result
        #expect(result.outcome == .accepted && result.sends == 3 && result.attempts == 4 && result.tags.count == 45)
        var bytes: [UInt8] = []
        result.encode(into: &bytes)
        #expect(try ResultRecord(decoding: bytes).sends == 3)
    }

    @Test func `an event that nobody can follow is a dead letter`() throws {
        var shell = try shell()
        let actions = shell.publish(followed("1", #"["player:9","team:"]"#))
        #expect(actions.sends.isEmpty && actions.outcomes == [.unroutable] && actions.deadLetters.count == 1)
        let error = try #require(actions.endings.first?.result.error)
        #expect(error.code == "unknown-interest")
        #expect(error.detail.contains("interest player:9: unknown kind; interest team:: bad id"))
    }

    @Test(arguments: ["interest:team:bvb", "interest:TEAM:BVB"])
    func `a stop of an interest holds for every event that names it`(word: String) throws {
        var shell = try shell()
        let gate = try #require(Gate(word: word))
        _ = shell.take(.orders([.stop(gate)]))
        #expect(shell.publish(followed("1", #"["team:s04"]"#)).sends.count == 1)
        #expect(shell.publish(followed("2", #"["team:s04","team:bvb"]"#, #","category":"World""#)).sends.isEmpty)
        #expect(shell.publish(followed("3", #"["team:bvb"]"#, #","users":["anna"]"#)).sends.isEmpty)
        #expect(shell.publish(news("4")).sends.count == 1, "news of the same category without the interest")
        #expect(shell.take(.orders([.resume(gate)])).sends.count == 2)
    }

    @Test func `the next send does not leave while an editor stops the interest`() throws {
        var shell = try shell(templates: .standard)
        let interests = (1...7).map { "\"team:\($0)\"" }.joined(separator: ",")
        let first = try #require(shell.publish(followed("1", "[\(interests)]")).sends.first)
        _ = shell.take(.orders([.stop(.interest("team:7"))]))
        #expect(shell.reply(201, to: first).sends.isEmpty)
        #expect(shell.take(.orders([.resume(.interest("team:7"))])).sends.count == 1)
    }
}
