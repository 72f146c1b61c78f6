import NotificationHub
import Testing

import struct NotificationHub.Tag

private func tags(_ words: String) throws -> Set<Tag> {
    Set(try words.split(separator: " ").map { try Tag($0) })
}

@Test(arguments: [
    ("World", "World"),
    ("a||b", "a || b"),
    (" a\t||b ", "a || b"),
    ("((a))", "a"),
    ("a || b && c", "a || (b && c)"),
    ("a && b || c && !d", "(a && b) || (c && !d)"),
    ("!(a||b)&&c", "!(a || b) && c"),
    ("(a || b) || c", "(a || b) || c"),
    ("!!a", "!!a"),
    ("$InstallationId:{ab=c}&&sportsTemplate", "$InstallationId:{ab=c} && sportsTemplate"),
    ("follows_a@b#c.d:e-f", "follows_a@b#c.d:e-f"),
])
func `an expression is printed with explicit precedence`(text: String, printed: String) throws {
    let expression = try TagExpression(parsing: text)
    #expect(expression.description == printed)
    #expect(try TagExpression(parsing: printed).description == printed)
}

@Test(arguments: [
    ("a", "A", true), ("a", "b", false), ("a", "", false),
    ("!a", "", true), ("!a", "a", false),
    ("a || b && c", "a", true), ("a || b && c", "b", false), ("a || b && c", "b c", true),
    ("(a || b) && c", "a", false), ("(a || b) && c", "a C", true),
    ("a && !b", "a", true), ("a && !b", "a b", false), ("!(a || b)", "c", true), ("!!a", "a", true),
    ("$UserId:{u} && x", "$userid:{U} X", true), ("$UserId:{u}", "u", false),
])
func `an expression matches without regard to case`(text: String, having: String, matches: Bool) throws {
    #expect(try TagExpression(parsing: text).matches(try tags(having)) == matches)
}

private func joined(_ count: Int, by mark: String) -> String {
    (0..<count).map { "t\($0)" }.joined(separator: mark)
}

@Test(
    arguments: [
        ("", TagExpressionProblem.Kind.expectedTag, 1),
        ("   ", .expectedTag, 4),
        ("a ||", .expectedTag, 5),
        ("|| a", .expectedTag, 1),
        ("a && && b", .expectedTag, 6),
        ("a | b", .singleMark, 3),
        ("a & b", .singleMark, 3),
        ("a b", .expectedOperator, 3),
        ("a !b", .expectedOperator, 3),
        ("a (b)", .expectedOperator, 3),
        ("a, b", .comma, 2),
        ("(a || b", .unclosedParenthesis, 1),
        ("(a, b)", .comma, 3),
        ("a)", .unopenedParenthesis, 2),
        ("()", .expectedTag, 2),
        ("!", .expectedTag, 2),
        ("a || wörld", .tag(.character), 7),
        ("a || %", .tag(.character), 6),
        ("a || $Else", .tag(.reserved), 6),
        ("$InstallationId:{a && b", .tag(.unclosedBrace), 19),
        ("x{y}", .tag(.character), 2),
        (joined(20, by: "||") + "||extra", .tooManyTags, 91),
        (joined(6, by: "&&") + "&&extra", .tooManyMixedTags, 25),
        ("!t0||" + joined(6, by: "||"), .tooManyMixedTags, 26),
        (String(repeating: "!", count: 3000) + "a", .tooDeep, 33),
        (String(repeating: "(", count: 3000) + "a", .tooDeep, 33),
        (String(repeating: "a", count: 5000), .tooLong, 1),
    ] as [(String, TagExpressionProblem.Kind, Int)])
func `a wrong expression is refused with the reason and the position`(
    text: String, kind: TagExpressionProblem.Kind, position: Int
) {
    let problem = #expect(throws: TagExpressionProblem.self) { try TagExpression(parsing: text) }
    #expect(problem?.kind == kind)
    #expect(problem?.position == position)
    #expect(problem?.description.hasPrefix("tag expression, character \(position): ") == true)
}

@Test func `expressions are accepted up to the service's limit of tags, counting repeats`() throws {
    #expect(try TagExpression(parsing: joined(20, by: "||")).tags.count == 20)
    #expect(try TagExpression(parsing: joined(6, by: "&&")).tags.count == 6)
    #expect(try TagExpression(parsing: "a||a||a").tags.count == 3)
    let deep = String(repeating: "(", count: 32) + "a" + String(repeating: ")", count: 32)
    #expect(try TagExpression(parsing: deep).description == "a")
}

@Test func `several tags are joined by or`() throws {
    let sports = try Tag("Sports")
    let world = try Tag("World")
    #expect(try TagExpression.anyOf([sports]).description == "Sports")
    #expect(try TagExpression.anyOf([world, sports, try Tag("WORLD")]).description == "World || Sports")
    #expect(TagExpression(world).matches([world]))
    #expect(throws: TagExpressionProblem.self) { try TagExpression.anyOf([]) }
    let many = try (0..<21).map { try Tag("t\($0)") }
    #expect(throws: TagExpressionProblem.self) { try TagExpression.anyOf(many) }
    let twenty = try TagExpression.anyOf(Array(many.prefix(20)))
    #expect(try TagExpression(parsing: twenty.description) == twenty)
}
