import ByteText
import NewsModel
import Testing

@testable import Feeds

/// The expression of `identity`, whatever an operator and a publisher write.
@Suite struct BoundedExpressionTests {
    private static let slug = "https://example.org/world/prime-minister-announces-surprise-election-in-autumn/"
    private static let letters = String(repeating: "a", count: 2_000)

    private static let hard: [(expression: String, text: String)] = [
        ("/(([a-z0-9]+-?)+)\\.html", slug + "?.html"), ("(a+)+$", letters + "b"), (".*.*.*.*x", letters + "\nx"),
        ("(a|ab)+c", letters + "?c"), ("([^b]*[^b]*[^b]*)x", letters + "bx"), ("(?:a*)*b", letters + "cb"),
        ("[a-z]*[0-9]*[a-z]*[0-9]*!", letters + "?!b"), ("[a-z]*[a-z]++1", letters + "?1b"), ("(?R)", letters),
        ("(a?){30}a{30}!", letters + "?!"), ("(?=(a+)+c)", letters + "bc"), ("(a*)\\1\\1b", letters + "cb"),
    ]

    @Test(arguments: hard)
    func `an expression that backtracks without end is stopped`(expression: String, text: String) throws {
        #expect(try #require(BoundedExpression(expression)).firstMatch(in: [text, "x"]) == .stopped)
    }

    /// 2,000 entries of a document are searched in one go, which delays all feeds of the process.
    @Test func `an expression is stopped after ten thousand steps`() throws {
        let expression = try #require(BoundedExpression("(a+)+$"))
        #expect(expression.firstMatch(in: [String(repeating: "a", count: 10) + "b"]) == .nothing)
        #expect(expression.firstMatch(in: [String(repeating: "a", count: 11) + "b"]) == .stopped)
    }

    /// The expressions were once those of Swift.
    private static let ordinary = [
        "id=([0-9]+)", "([0-9]+)\\.html", "/([a-z0-9-]+)\\.html", "([^/]+)/?$", ".*/([^?]+)", "^https?://[^/]+",
        "\\d{8}", "(?i)EXAMPLE", "\\d+(?=\\.html)", "(?<story>story)-(\\w+)", "(?:a|b)(c)?", "(x)?[0-9]+",
        "\\w+-\\w+-\\w+$", "é(.)", "nothing here", "()", "[/-]([^/-]+)-[^/]*$", "(/((([a-z]+)-?)+))/",
    ]
    private static let texts = [
        "https://www.example.org/news/2026/story-über-alles-12345678.html?id=77&b=c", slug, "urn:uuid:1234",
        "café-12", "日本-42", "a", String(repeating: "x9_Z-q", count: 100),
    ]

    @Test(arguments: ordinary, texts)
    func `an ordinary expression finds what Swift's would`(expression: String, text: String) throws {
        let match = try Regex(expression).firstMatch(in: text)
        let found = match.flatMap { $0.output.count > 1 ? $0.output[1].substring : $0.output.first?.substring } ?? ""
        let answer = try #require(BoundedExpression(expression)).firstMatch(in: [nil, "", text])
        #expect(answer == (found.isEmpty ? .nothing : .found(String(found))))
    }

    @Test func `the link is searched if the id does not match, and not if it is too hard`() throws {
        let expression = try #require(BoundedExpression("(?:a+)+([0-9])"))
        #expect(expression.firstMatch(in: ["urn:b", "aa7"]) == .found("7"))
        #expect(expression.firstMatch(in: [Self.letters + "?7", "aa7"]) == .stopped)
        #expect(expression.firstMatch(in: ["aa7", Self.letters + "?7"]) == .found("7"))
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a random expression ends, with the same answer each time`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var answers = 0
        for _ in 0..<50 {
            let text = String(
                (0..<Int.random(in: 1...1_500, using: &random)).map { _ in "aab-é/".randomElement(using: &random) ?? "a"
                })
            guard let expression = BoundedExpression(Self.hostile(depth: 4, &random)) else { continue }
            let answer = expression.firstMatch(in: [text])
            #expect(expression.firstMatch(in: [text]) == answer)
            if case .found(let part) = answer { #expect(text.contains(part)) }
            answers += 1
        }
        #expect(answers > 20)
    }

    private static func hostile(depth: Int, _ random: inout SeededRandom) -> String {
        func one(of texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        if depth == 0 { return one(of: ["a", "b", ".", "[ab]", "\\w*", "[^/]+", ".*?", "é?"]) }
        let (first, second) = (hostile(depth: depth - 1, &random), hostile(depth: depth - 1, &random))
        let many = one(of: ["*", "+", "?", "*?", "+?", "{0,9}", "++", ""])
        return one(of: [
            "(\(first))\(many)\(second)", "(?:\(first)|\(second))\(many)", "(?:\(first)\(second))\(many)",
            "(?=\(first))\(second)", "(?>\(first))\(many)\(second)",
        ])
    }

    @Test func `an entry that is too hard for the expression is known by its id, with one warning`() {
        var feed = FollowedFeed.empty { $0.identity = .pattern("/(([a-z0-9]+-?)+)\\.html") }
        let hard = feed.entry("urn:1", "Election", link: Self.slug + "?.html")
        let easy = feed.entry("urn:2", "Ferry", link: "https://example.org/ferry-sails.html")
        let result = feed.poll([hard, easy])
        #expect(Set(result.events.map(\.id)) == ["wire:urn:1", "wire:ferry-sails"])
        #expect(result.notes.count == 1 && result.notes.first?.contains("too many steps for 1 new entry:") == true)
        let again = feed.poll([hard, easy])
        #expect(again.actions == [.unchanged, .unchanged] && again.notes.isEmpty)
    }

    @Test(arguments: [
        ("(", "missing closing parenthesis at character 1"),
        ("é[z-a]", "range out of order in character class at character 4"),
        ("\\C", "using \\C is disabled by the application at character 2"), ("a(b)?", nil),
    ])
    func `an invalid expression has a problem, and finds nothing`(expression: String, problem: String?) {
        #expect(BoundedExpression.problem(of: expression) == problem)
        #expect((BoundedExpression(expression) == nil) == (problem != nil))
    }
}
