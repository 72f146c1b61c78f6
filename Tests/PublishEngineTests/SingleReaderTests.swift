import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct SingleReaderTests {
    private static let secret = AccessKey("0123456789abcdef")
    private static let night = DailyWindow(from: 7 * 60, to: 9 * 60, zone: .utc)

    private func router(
        _ users: UserTags = .reserved(), templates: PayloadSettings.TemplateNames? = nil, testTag: String? = nil,
        unroutable: UnroutablePolicy = .deadLetter
    ) throws -> Router {
        try Router(unroutable: unroutable, audience: Audience(templates: templates, testTag: testTag, users: users))
    }

    private func event(_ users: [String], categories: [String] = [], isTest: Bool = false) -> NewsEvent {
        NewsEvent(id: "1", headline: "h", categories: categories, isTest: isTest, users: users)
    }

    private func tagged(_ routing: Routing) throws -> Routing.Tagged {
        guard case .tagged(let tagged) = routing else { throw Unrouted() }
        return tagged
    }

    private struct Unrouted: Error {}

    /// A small event for readers.
    private func personal(_ id: String, _ users: String = #"["anna"]"#, _ more: String = "") -> String {
        #"{"id":"\#(id)","headline":"headline of \#(id)","users":\#(users)\#(more)}"#
    }

    // MARK: Routing

    @Test func `it goes to its readers, and its categories add nobody`() throws {
        let routing = try tagged(try router().route(event(["anna", "b/n", "anna"], categories: ["World", "Sports"])))
        let hash = UserTags.userID(for: "b/n")
        #expect(routing.expression == "$UserId:{anna} || $UserId:{\(hash)}")
        #expect(routing.tags == [])
        #expect(routing.categories == ["World", "Sports"])
        #expect(routing.users == [UserTags.reserved().pseudonym(of: "anna"), UserTags.reserved().pseudonym(of: "b/n")])
    }

    @Test func `with plain tags they are signed`() throws {
        let users = UserTags.signed(with: Self.secret)
        let routing = try tagged(try router(users, templates: .standard).route(event(["anna"])))
        #expect(routing.expression == "\(try users.tag(of: "anna")) && breakingNews")
        #expect(routing.quietExpression == "\(try users.tag(of: "anna")) && breakingNewsQuiet")
    }

    @Test(arguments: [[], ["Gossip"]])
    func `without a category it goes to its readers all the same, and to no other category`(names: [String]) throws {
        let routing = try tagged(
            try router(unroutable: .category("World")).route(event(["anna"], categories: names)))
        #expect(routing.expression == "$UserId:{anna}")
        #expect(routing.categories == [])
    }

    @Test(arguments: [(20, false, [20]), (5, true, [5]), (6, true, [5, 1]), (20, true, [5, 5, 5, 5])])
    func `more readers than a send has room for get several sends`(
        count: Int, hasTemplates: Bool, counts: [Int]
    ) throws {
        let readers = (1...count).map { "reader-\($0)" }
        let routing = try tagged(try router(templates: hasTemplates ? .standard : nil).route(event(readers)))
        let sends = Array(sequence(first: routing, next: \.rest))
        let expressions = try sends.map { try TagExpression(parsing: $0.expression) }
        #expect(expressions.map { $0.tags.count - (hasTemplates ? 1 : 0) } == counts)
        let text = sends.map(\.expression).joined(separator: " ")
        #expect(
            readers.allSatisfy { text.split(separator: "$UserId:{\($0)}", omittingEmptySubsequences: false).count == 2 }
        )
    }

    @Test(arguments: [(nil, "staff"), (PayloadSettings.TemplateNames.standard, "staff && breakingNews")])
    func `a test goes to the testers, never to the readers it names`(
        templates: PayloadSettings.TemplateNames?, expression: String
    ) throws {
        let routing = try tagged(
            try router(templates: templates, testTag: "staff").route(
                event(["anna"], categories: ["World"], isTest: true)))
        #expect(routing.expression == expression)
        #expect(routing.tags == ["staff"])
        #expect(routing.users == [])
    }

    // MARK: In the engine

    @Test func `neither result nor dead letter names a reader, whatever the hub says`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = try #require(shell.publish(personal("1")).sends.first)
        #expect(sent.request.tags == "$UserId:{anna}")
        let reply = HubReply(status: 400, trackingID: "t", detail: "The tag $UserId:{anna} is not a tag")
        let ending = try #require(shell.take(.reply(.replied(reply), to: sent.id)).endings.first)
        #expect(ending.result.error == .init(code: "status-400", detail: "the hub answered 400"))
        #expect(ending.result.trackingID == "t")
        #expect(ending.result.users == [UserTags.reserved().pseudonym(of: "anna")])
        var bytes: [UInt8] = []
        ending.result.encode(into: &bytes)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("anna"))
        #expect(try ResultRecord(decoding: bytes).users == ending.result.users)
    }

    // MARK: Several sends

    private func crowd() throws -> (shell: TestShell, first: Sent) {
        var shell = try TestShell(templates: .standard)
        _ = shell.assign()
        let readers = (1...12).map { "\"r\($0)\"" }.joined(separator: ",")
        let sends = shell.publish(personal("1", "[\(readers)]", #","story":"s""#)).sends
        #expect(sends.count == 1)
        return (shell, try #require(sends.first))
    }

    @Test func `several sends leave one after the other, and are one delivery`() throws {
        var (shell, first) = try crowd()
        #expect(first.request.tags.hasPrefix("($UserId:{r1} || ") && first.request.tags.hasSuffix(" && breakingNews"))
        let second = shell.reply(201, to: first)
        #expect(second.endings.isEmpty)
        // A send that the hub refuses is retried without the earlier sends.
        let busy = shell.reply(429, retryAfter: .seconds(1), to: try #require(second.sends.first))
        let again = try #require((busy + shell.wait(.seconds(120))).sends.first)
        #expect(again.request == second.sends.first?.request)
        let third = try #require(shell.reply(201, to: again).sends.first)
        #expect(third.request.tags == "($UserId:{r11} || $UserId:{r12}) && breakingNews")
        let ending = try #require(shell.reply(201, to: third).endings.first)
        #expect(ending.result.outcome == .accepted && ending.result.attempts == 4)
    }

    @Test func `once some readers have the event, no outcome denies it`() throws {
        var (shell, first) = try crowd()
        let second = try #require(shell.reply(201, to: first).sends.first)
        let recalled = shell.take(.orders([OrderChange.recall("s")])) + shell.reply(201, to: second)
        #expect(recalled.outcomes == [.unknown] && recalled.sends.isEmpty)
    }

    @Test func `the hub's words about a request for a category are kept`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sent = try #require(shell.publish(news("1")).sends.first)
        let reply = HubReply(status: 400, detail: "The tag World is not a tag")
        let ending = try #require(shell.take(.reply(.replied(reply), to: sent.id)).endings.first)
        #expect(ending.result.error?.detail.contains("World") == true)
    }

    @Test(arguments: ["[]", #"[""]"#, #""anna""#])
    func `a list of nobody is a dead letter, not news for all`(users: String) throws {
        var shell = try TestShell()
        _ = shell.assign()
        let actions = shell.publish(personal("1", users, #","category":"World""#))
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes == [.undecodable])
        #expect(actions.endings.first?.result.error?.code == "bad-users")
    }

    @Test func `without a category the text has no gap where its name would be`() throws {
        var shell = try TestShell(message: PayloadSettings.standardMessage)
        _ = shell.assign()
        let sent = try #require(shell.publish(personal("1")).sends.first)
        #expect(sent.text.contains(#""messageParam":"Breaking News : headline of 1""#))
        let other = try #require(shell.publish(personal("2", #"["b"]"#, #","category":"sport""#)).sends.first)
        #expect(other.text.contains(#""messageParam":"Breaking Sports News : headline of 2""#))
    }

    @Test(arguments: [
        (#","category":"World""#, ["World"], true), (#","category":"Sports""#, ["World"], false),
        ("", ["World"], false),
        ("", [], true), (#","category":"Sports""#, [], true),
    ])
    func `quiet hours go by its categories, and those of all categories hold for it too`(
        more: String, categories: [String], isQuiet: Bool
    ) throws {
        let hours = QuietHours(categories: categories, window: Self.night, action: .silent)
        var shell = try TestShell(templates: .standard, policy: ContentPolicy(quietHours: [hours]))
        _ = shell.assign()
        let sent = try #require(shell.publish(personal("1", #"["anna"]"#, more)).sends.first)
        #expect(sent.request.tags == "$UserId:{anna} && breakingNews" + (isQuiet ? "Quiet" : ""))
    }

    @Test func `a recall of the story reaches it, and so do stops and environments`() throws {
        var shell = try TestShell(
            change: { $0.connections = 1 }, policy: ContentPolicy(environment: "production"))
        _ = shell.assign()
        _ = shell.publish(news("first"))
        _ = shell.publish(personal("1", #"["anna"]"#, #","story":"s""#))
        let recalled = shell.take(.orders([.recall("s")]))
        #expect(recalled.outcomes == [.canceled])
        #expect(shell.publish(personal("2", #"["anna"]"#, #","story":"s""#)).outcomes == [.canceled])
        #expect(shell.publish(personal("3", #"["anna"]"#, #","environment":"staging""#)).outcomes == [.withheld])
        _ = shell.take(.orders([.stop(.category("Sports"))]))
        #expect(shell.publish(personal("4", #"["anna"]"#, #","category":"Sports""#)).sends.isEmpty)
    }

    @Test func `versions of a story for different readers do not supersede one another`() throws {
        var shell = try TestShell(change: { $0.connections = 1 })
        _ = shell.assign()
        var actions = shell.publish(news("all", story: "s", version: 1))
        actions += shell.publish(news("all", story: "s", version: 2))
        actions += shell.publish(personal("a3", #"["anna"]"#, #","story":"s","version":3"#))
        actions += shell.publish(personal("b3", #"["ben"]"#, #","story":"s","version":3"#))
        // Anna's next version supersedes only hers, and a late version of hers is outdated.
        actions += shell.publish(personal("a4", #"["anna"]"#, #","story":"s","version":4"#))
        actions += shell.publish(personal("a2", #"["anna"]"#, #","story":"s","version":2"#))
        #expect(actions.endings.map(\.result.eventID) == ["a3", "a2"])
        #expect(actions.outcomes == [.superseded, .superseded])
        var reached = actions.sends.map(\.request.tags)
        var next = actions.sends.first
        while let sent = next {
            let more = shell.reply(201, to: sent)
            reached += more.sends.map(\.request.tags)
            next = more.sends.first
        }
        #expect(reached == ["World", "World", "$UserId:{ben}", "$UserId:{anna}"])
    }

    // MARK: Versions of overlapping readers

    private func version(_ number: Int, _ users: String) -> String {
        personal("\(users.filter(\.isLetter))-\(number)", users, #","story":"s","version":\#(number)"#)
    }

    @Test func `a newer version for more readers ends an older one that is retried`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let older = try #require(shell.publish(version(1, #"["anna"]"#)).sends.first)
        _ = shell.reply(429, retryAfter: .seconds(30), to: older)
        var actions = shell.publish(version(2, #"["anna","ben"]"#))
        #expect(actions.endings.map(\.result.eventID) == ["anna-1"] && actions.outcomes == [.superseded])
        actions += shell.wait(.seconds(120))
        #expect(actions.sends.map(\.request.tags) == ["$UserId:{anna} || $UserId:{ben}"])
    }

    @Test func `a newer version waits for an older one that has other readers too`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let older = try #require(shell.publish(version(1, #"["anna","ben"]"#)).sends.first)
        #expect(shell.publish(version(2, #"["anna"]"#)).sends.isEmpty)
        let actions = shell.reply(201, to: older)
        #expect(actions.outcomes == [.accepted] && actions.sends.map(\.request.tags) == ["$UserId:{anna}"])
    }

    @Test(arguments: [
        (#"["anna"]"#, true), (#"["ben","anna"]"#, true), (#"["carl"]"#, false),
        // Carl has no newer version, but the event would also replace Anna's.
        (#"["carl","anna"]"#, true),
    ])
    func `an older version is not sent if one of its readers has a newer one`(users: String, isOutdated: Bool) throws {
        var shell = try TestShell()
        _ = shell.assign()
        for newer in [version(2, #"["anna","ben"]"#), version(3, #"["anna"]"#)] {
            let sent = try #require(shell.publish(newer).sends.first)
            _ = shell.reply(201, to: sent)
        }
        let actions = shell.publish(version(1, users))
        #expect(actions.outcomes == (isOutdated ? [.superseded] : []))
        #expect(actions.sends.isEmpty == isOutdated)
        let same = shell.publish(version(2, #"["ben","carl"]"#))
        #expect(same.outcomes.isEmpty, "an older version that is not sent, or the same one, is no newer one")
    }

    @Test func `a withheld version ends an older one for some of its readers`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let older = try #require(shell.publish(version(1, #"["anna"]"#)).sends.first)
        _ = shell.reply(429, retryAfter: .seconds(30), to: older)
        let more = #","story":"s","version":2,"status":"withheld""#
        let actions = shell.publish(personal("w", #"["anna","ben"]"#, more))
        #expect(actions.endings.map(\.result.eventID) == ["anna-1", "w"])
        #expect(actions.outcomes == [.superseded, .withheld])
        #expect(shell.publish(version(1, #"["ben"]"#)).outcomes == [.superseded])
    }

    @Test func `versions for single readers do not push those for all readers out of the window`() throws {
        var shell = try TestShell(change: { $0.duplicateWindow = 4 })
        _ = shell.assign()
        let newer = try #require(shell.publish(news("all", story: "t", version: 2)).sends.first)
        _ = shell.reply(201, to: newer)
        let readers = try #require(shell.publish(version(2, #"["a","b","c","d","e","f"]"#)).sends.first)
        _ = shell.reply(201, to: readers)
        #expect(shell.publish(news("old", story: "t", version: 1)).outcomes == [.superseded])
    }
}
