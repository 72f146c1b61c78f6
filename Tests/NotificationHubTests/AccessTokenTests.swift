import NotificationHub
import Testing

private let rule = AccessRule(name: "Send", primaryKey: AccessKey("secret-key"), rights: .send)

private func newToken() -> AccessToken {
    AccessToken(resource: "https://h/", keyName: "Send", key: rule.primaryKey)
}

private func expiry(_ header: String) throws -> Int64 {
    try SharedAccessSignature(parsing: header).expiry
}

@Test func `a token used every second is renewed once less than a third of its life is left`() throws {
    var token = newToken()
    var minted: Set<String> = []
    for now in Int64(1_000_000)..<1_020_000 {
        let header = token.headerValue(at: now)
        minted.insert(header)
        if now.isMultiple(of: 60) { #expect(try expiry(header) - now >= AccessToken.lifetime / 3) }
    }
    #expect(minted.count == 9)
}

@Test(arguments: [
    (2_000_000, true), (999_999, true), (0, true), (Int64.max, true), (1_000_000, false), (1_002_400, false),
])
func `the token is renewed after a clock jumps either way`(now: Int64, renews: Bool) throws {
    var token = newToken()
    let first = token.headerValue(at: 1_000_000)
    let header = token.headerValue(at: now)
    #expect((header != first) == renews)
    let (due, overflow) = (renews ? now : 1_000_000).addingReportingOverflow(AccessToken.lifetime)
    #expect(try expiry(header) == (overflow ? .max : due))
    _ = token.headerValue(at: .min)
}

@Test func `a discarded token is replaced`() throws {
    var token = newToken()
    let first = token.headerValue(at: 1000)
    #expect(token.headerValue(at: 1010) == first)
    token.discard()
    #expect(try expiry(token.headerValue(at: 1010)) == 1010 + AccessToken.lifetime)
}

@Test func `a token made from a connection string is valid at its address`() throws {
    let connection = try ConnectionString(
        parsing: "Endpoint=http://LOCALHOST:8090/base;SharedAccessKeyName=Send;SharedAccessKey=secret-key")
    var token = AccessToken(connection)
    let result = SharedAccessSignature.verified(
        header: token.headerValue(at: 50), host: "localhost:8090", path: "/base/hub/messages", rules: [rule], now: 51)
    #expect(result == .success(rule))
}

@Test func `a token's description hides its value`() {
    var token = newToken()
    let header = token.headerValue(at: 1000)
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped] {
        #expect(!text.contains("secret-key") && !text.contains(header) && !text.contains("sig="))
    }
}
