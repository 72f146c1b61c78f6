import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

struct RouterTests {
    private let router: Router

    init() throws {
        router = try Router()
    }

    private func event(_ categories: [String], subjects: [String] = []) -> NewsEvent {
        var event = NewsEvent(id: "1", headline: "headline")
        event.categories = categories
        event.subjects = subjects
        return event
    }

    private func tagged(_ routing: Routing) -> Routing.Tagged? {
        if case .tagged(let tagged) = routing { tagged } else { nil }
    }

    private func failure(_ routing: Routing) -> ResultRecord.Failure? {
        if case .unroutable(let failure) = routing { failure } else { nil }
    }

    @Test(arguments: [
        ("World", "World"), ("world", "World"), (" WORLD\t", "World"), ("international", "World"),
        ("International ", "World"), ("politics", "Politics"), ("BUSINESS", "Business"), ("Tech", "Technology"),
        ("technology", "Technology"), ("science", "Science"), ("sport", "Sports"), ("SportS", "Sports"),
    ])
    func `a category is found by its names without case or outer space`(written: String, name: String) {
        let routed = tagged(router.route(event([written])))
        #expect(routed?.categories == [name])
        #expect(routed?.tags == [name])
        #expect(routed?.expression == name)
        #expect(routed?.label == name)
    }

    @Test(arguments: ["", " ", "Worlds", "Wörld", "world,politics", "\u{0}", "World\u{301}"])
    func `an unknown category alone is unroutable`(name: String) {
        #expect(failure(router.route(event([name])))?.code == "unknown-category")
    }

    @Test
    func `an event without category and subject is unroutable and never untagged`() {
        #expect(failure(router.route(event([])))?.code == "no-category")
    }

    @Test
    func `several categories become one expression in the table's order`() {
        let routed = tagged(router.route(event(["sports", "World", "SPORT", "nonsense", "politics"])))
        #expect(routed?.expression == "World || Politics || Sports")
        #expect(routed?.tags == ["World", "Politics", "Sports"])
        #expect(routed?.label == "World, Politics, Sports")
    }

    @Test(arguments: [
        ("medtop:16000000", ["World"]), ("medtop:03000000", ["World"]), ("medtop:20000638", ["World"]),
        ("medtop:20000644", ["World"]), ("medtop:11000000", ["Politics"]), ("medtop:20000574", ["Politics"]),
        ("11000000", ["Politics"]), ("MEDTOP:11000000", ["Politics"]),
        ("http://cv.iptc.org/newscodes/mediatopic/11000000", ["Politics"]),
        ("https://cv.iptc.org/newscodes/mediatopic/20000756", ["Technology"]),
        ("http://cv.iptc.org/newscodes/subjectcode/11006005", ["Politics"]),
        ("subj:15054000", ["Sports"]), ("subj:15054001", ["Sports"]), ("medtop:20001065", ["Sports"]),
        ("medtop:04000000", ["Business"]), ("medtop:09000000", ["Business"]), ("medtop:20000385", ["Business"]),
        ("medtop:13000000", ["Science"]), ("medtop:20000717", ["Science"]), ("medtop:20000742", ["Science"]),
        ("medtop:20000756", ["Technology"]), ("medtop:20001361", ["Technology"]), ("subj:13010000", ["Science"]),
    ])
    func `a subject goes to the category of its nearest claimed topic`(code: String, categories: [String]) {
        #expect(tagged(router.route(event([], subjects: [code])))?.categories == categories)
    }

    @Test(arguments: [
        "medtop:01000000", "medtop:17000000", "medtop:20009999", "medtop:99000000", "medtop:1100000", "11000000x",
        "medtop:110000000", "dpasubject:11000000", "http://example.com/11000000", "medtop:00000000", "１１００００００", "",
        "medtop:18000000", "medtop:20000000",
    ])
    func `a subject that belongs to no category does not match`(code: String) {
        #expect(failure(router.route(event([], subjects: [code])))?.code == "unknown-subject")
    }

    @Test
    func `subjects count only when no name is known`() {
        #expect(tagged(router.route(event(["World"], subjects: ["medtop:15000000"])))?.tags == ["World"])
        #expect(tagged(router.route(event(["Gossip"], subjects: ["medtop:15000000"])))?.tags == ["Sports"])
        let both = event([], subjects: ["medtop:20001065", "medtop:11000000", "medtop:15000000"])
        #expect(tagged(router.route(both))?.tags == ["Politics", "Sports"])
    }

    @Test
    func `an event in 21 categories is sent once, to the first 20 in the table's order`() throws {
        let categories = (1...21).map { CategoryTable.Category(name: "C\($0)", tag: "tag\($0)") }
        let router = try Router(table: CategoryTable(categories))
        let routed = try #require(tagged(router.route(event(categories.reversed().map(\.name)))))
        #expect(routed.tags == (1...20).map { "tag\($0)" })
        #expect(routed.categories.count == 20)
        #expect(routed.leftOut == ["C21"])
        #expect(try TagExpression(parsing: routed.expression).tags.count == 20)
    }

    @Test
    func `categories that share a tag use it once and do not fill the limit`() throws {
        let categories = (1...30).map { CategoryTable.Category(name: "C\($0)", tag: $0 > 10 ? "rest" : "tag\($0)") }
        let router = try Router(table: CategoryTable(categories))
        let routed = try #require(tagged(router.route(event(categories.map(\.name)))))
        #expect(routed.tags.count == 11)
        #expect(routed.categories.count == 30)
        #expect(routed.leftOut.isEmpty)
    }

    @Test(
        arguments: [
            (["World"], [], "category name"), (["tech"], [], "category name"),
            ([], ["medtop:11000000"], "subject medtop:11000000"),
            ([], ["medtop:20000574"], "subject medtop:20000574 under medtop:11000000"),
            ([], ["medtop:20000644"], "subject medtop:20000644 under medtop:20000638"),
        ] as [([String], [String], String)])
    func `routing says by which rule an event belongs to its category`(
        names: [String], subjects: [String], reason: String
    ) throws {
        #expect(tagged(router.route(event(names, subjects: subjects)))?.reasons.map(\.because) == [reason])
    }

    @Test
    func `each category has a reason of its own, in the table's order`() throws {
        let several = event([], subjects: ["medtop:15000000", "medtop:20000574", "medtop:11000000"])
        let routed = try #require(tagged(router.route(several)))
        #expect(routed.reasons.map(\.category) == routed.categories)
        #expect(
            routed.reasons.map(\.because) == [
                "subject medtop:20000574 under medtop:11000000", "subject medtop:15000000",
            ])
        let fallback = try Router(unroutable: .category("Sports"))
        #expect(tagged(fallback.route(event([])))?.reasons.first?.because.contains("unroutable") == true)
    }

    @Test
    func `an expression has room for five categories if devices have two templates`() throws {
        let router = try Router(audience: Audience(templates: .standard))
        let routed = try #require(tagged(router.route(event(CategoryTable.standard.categories.map(\.name)))))
        #expect(routed.expression == "(World || Politics || Business || Technology || Science) && breakingNews")
        #expect(routed.quietExpression.hasSuffix(") && breakingNewsQuiet"))
        #expect(routed.leftOut == ["Sports"])
        #expect(try TagExpression(parsing: routed.expression).tags.count == TagExpression.tagsMax)
    }

    @Test
    func `an invalid tag sends to nobody rather than to everybody with the template`() {
        let audience = Audience(templates: .standard, testTag: "staff")
        #expect(audience.expression(["not a tag"], isQuiet: false).isEmpty)
        #expect(audience.expression([], isQuiet: true).isEmpty)
    }

    @Test
    func `an unroutable event goes to the category that the policy names`() throws {
        let router = try Router(unroutable: .category("sport"))
        #expect(tagged(router.route(event(["Gossip"])))?.tags == ["Sports"])
        #expect(tagged(router.route(event([])))?.tags == ["Sports"])
        #expect(tagged(router.route(event(["World"])))?.tags == ["World"])
    }

    @Test
    func `a policy that names no category is a problem`() {
        #expect(throws: PayloadProblems.self) { try Router(unroutable: .category("Gossip")) }
        #expect(Router.problems(table: .standard, unroutable: .category("Gossip")).map(\.path) == [["unroutable"]])
        #expect(Router.problems(table: .standard, unroutable: .deadLetter).isEmpty)
    }

    @Test
    func `a failure quotes a few claims, cut and on one line`() throws {
        let wild = String(repeating: "x", count: 5_000) + "\n{\"secret\":1}"
        let failure = try #require(self.failure(router.route(event([wild, "a\nb\u{1B}[31m", "c", "d", "e"]))))
        #expect(failure.detail.count < 300)
        #expect(!failure.detail.unicodeScalars.contains { $0.value < 0x20 })
        #expect(failure.detail.hasSuffix("and 2 more"))
    }

    @Test
    func `a hundred thousand claims are routed`() {
        let routed = tagged(router.route(event((0..<100_000).map { "x\($0)" } + ["World"])))
        #expect(routed?.tags == ["World"])
    }
}
