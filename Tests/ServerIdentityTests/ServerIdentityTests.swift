import Testing

@testable import ServerIdentity

struct ServerIdentityTests {
    @Test(
        arguments: [
            ("news.example", "news.example", true), ("news.example", "NEWS.Example", true),
            ("a.news.example", "*.news.example", true), ("news.example", "*.news.example", false),
            ("a.b.news.example", "*.news.example", false), ("news.example", "*.example", false),
            ("news.example", "*", false), ("news.example", "n*s.example", false), ("news.example", "", false),
            (".news.example", "*.news.example", false), ("a.news.example", "*.NEWS.example", true),
            ("news.example.evil", "news.example", false), ("news.example", "news.example\0.evil", false),
            ("localhost", "localhost", true), ("localhost", "*.", false),
        ])
    func `a star matches exactly one label, the first`(host: String, pattern: String, isMatch: Bool) {
        #expect(ServerIdentity.matches(host, pattern) == isMatch)
    }

    @Test(arguments: [("news.example.", "news.example"), ("news.example", "news.example"), (".", "")])
    func `the dot of the root is not part of the name in a certificate`(host: String, name: String) {
        #expect(ServerIdentity.nameWithoutRoot(host) == name)
    }
}
