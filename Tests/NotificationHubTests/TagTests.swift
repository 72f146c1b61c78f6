import NotificationHub
import Testing

import struct NotificationHub.Tag

@Test(arguments: [
    ("World", Tag.Kind.ordinary), ("a_b@c#d.e:f-9", .ordinary), (String(repeating: "x", count: 120), .ordinary),
    ("$InstallationId:{ef4ffd64-1=}", .installation), ("$installationid:{x}", .installation), ("$UserId:{u1}", .user),
])
func `a tag keeps its text as written`(text: String, kind: Tag.Kind) throws {
    let tag = try Tag(text)
    #expect(tag.text == text)
    #expect(tag.kind == kind)
}

@Test(
    arguments: [
        ("", TagProblem.Kind.empty, 1), ("two words", .character, 4), ("Türkiye", .character, 2),
        ("a=b", .character, 2),
        ("a\r\nX-Evil:1", .character, 2), (String(repeating: "x", count: 121), .tooLong, 121), ("$Else", .reserved, 1),
        ("$InstallationId:{}", .empty, 18), ("$InstallationId:{a", .unclosedBrace, 19),
        ("$UserId:{a b}", .character, 11), ("$UserId:" + "{" + String(repeating: "x", count: 121) + "}", .tooLong, 130),
        ("a\u{212A}", .character, 2),
    ] as [(String, TagProblem.Kind, Int)])
func `a wrong tag is refused with the reason and the position`(text: String, kind: TagProblem.Kind, position: Int) {
    let problem = #expect(throws: TagProblem.self) { try Tag(text) }
    #expect(problem?.kind == kind)
    #expect(problem?.position == position)
}

@Test func `tags that differ in more than letter case are different`() throws {
    #expect(try Tag("World") == Tag("WORLD"))
    #expect(Set([try Tag("World"), try Tag("world"), try Tag("Word")]).count == 2)
    #expect(try Tag(installation: "A") == Tag("$installationid:{a}"))
    #expect(try Tag(user: "A") != Tag(installation: "A"))
    #expect(try ["b", "A", "a-"].map { try Tag($0) }.sorted().map(\.text) == ["A", "a-", "b"])
}
