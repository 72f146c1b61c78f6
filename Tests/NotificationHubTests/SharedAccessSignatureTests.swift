import NotificationHub
import Testing

/// Vectors computed with Python's `hmac`, `hashlib` and `base64`, one for each way in which known clients sign.
private enum Vector {
    static let key = AccessKey("bmV3c3Jvb20taHViLXRlc3Qta2V5LTAwMDEhISEhISE=")
    static let keyName = "DefaultFullSharedAccessSignature"
    static let expiry: Int64 = 1_893_456_000
    static let host = "newsroom-ns.servicebus.windows.net"
    static let rule = AccessRule(name: keyName, primaryKey: key, rights: [.listen, .send, .manage])

    static func header(_ sr: String, _ sig: String, se: Int64 = expiry) -> String {
        let escaped = sig.replacing("+", with: "%2b").replacing("/", with: "%2f").replacing("=", with: "%3d")
        return "SharedAccessSignature sr=\(sr)&sig=\(escaped)&se=\(se)&skn=\(keyName)"
    }

    static func verdict(
        _ header: String?, host: String? = host, path: String = "/BreakingNews/messages", rules: [AccessRule] = [rule],
        now: Int64 = expiry - 60, clockSkew: Int64 = 0
    ) -> TokenRefusal? {
        let result = SharedAccessSignature.verified(
            header: header, host: host, path: path, rules: rules, now: now, clockSkew: clockSkew)
        switch result {
        case .success: return nil
        case .failure(let refusal): return refusal
        }
    }

    static let v1 = "http%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews%2fmessages%2f"
    static let v8 =
        "https%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews%2fmessages%2f%3fapi-version%3d2015-01"
}

@Test(arguments: [
    (Vector.v1, "b3iHlZEP0WRAk7yc9cLrKb7IxMb5sRY9+I2uBMMH/rA=", "/BreakingNews/messages"),
    (
        "https%3A%2F%2Fnewsroom-ns.servicebus.windows.net%2F", "Gt0acF7knB6/x8i0tcV0RxId9cwmBlBK2Hi23goOIuA=",
        "/BreakingNews/installations/1"
    ),
    (
        "https%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews%2fmessages%3fapi-version%3d2020-06",
        "Xmh0Mjv/jY4k+SLmhnKyGmlvSPbXl4UMXD9UZLBAtaE=", "/BreakingNews/messages?api-version=2020-06"
    ),
    (
        "http%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews%2fregistrations%2f%3f%24filter%3ddevicetoken"
            + "%2beq%2b%27abcd%27%26api-version%3d2013-04",
        "kqZ5lIstT4VHcHxwBw3MV139KyuLlZQxFA5E+luKaT8=",
        "/BreakingNews/Registrations/?$filter=deviceToken+eq+'ABCD'&api-version=2013-04"
    ),
    (
        "https%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews",
        "j6q6ffj7LuGeDP2G69xpNNIwVbORlxI4GWMDMBrSH/U=", "/breakingnews/messages/"
    ),
    (
        "https%3A%2F%2Fnewsroom-ns.servicebus.windows.net", "9lK+K10TkDYr5hvv8V+o0MJ3bctGEm0XH9WeZHTSin4=",
        "/BreakingNews/messages"
    ),
    (
        "https%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews%2fmessages%2f%24batch%3fapi-version"
            + "%3d2020-06%26direct",
        "Gc/z5hqUk8vbyOrL/ZS9CE6QG4gfw0qZ7uWCaVq4WlY=", "/BreakingNews/messages/$batch?api-version=2020-06&direct"
    ),
    (Vector.v8, "2dAAFz64/e31EpgwCTtMGbxvl9Ei09VmpimRRat6gKk=", "/BreakingNews/messages/?api-version=2015-01"),
])
func `tokens of all client libraries are valid for their paths`(sr: String, sig: String, path: String) {
    #expect(Vector.verdict(Vector.header(sr, sig), path: path) == nil)
}

@Test(arguments: [
    """
    SharedAccessSignature sr=http%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews%2fmessages%2f\
    &sig=b3iHlZEP0WRAk7yc9cLrKb7IxMb5sRY9%2bI2uBMMH%2frA%3d&se=1893456000&skn=DefaultFullSharedAccessSignature
    """,
    """
    SharedAccessSignature sr=https%3A%2F%2Fnewsroom-ns.servicebus.windows.net%2F\
    &sig=Gt0acF7knB6%2Fx8i0tcV0RxId9cwmBlBK2Hi23goOIuA%3D&se=1893456000&skn=DefaultFullSharedAccessSignature
    """,
    """
    SharedAccessSignature sig=j6q6ffj7LuGeDP2G69xpNNIwVbORlxI4GWMDMBrSH/U%3D&se=1893456000\
    &skn=DefaultFullSharedAccessSignature&sr=https%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews
    """,
    """
    SharedAccessSignature sig=2dAAFz64%2Fe31EpgwCTtMGbxvl9Ei09VmpimRRat6gKk%3D&se=1893456000\
    &skn=DefaultFullSharedAccessSignature&sr=https%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews\
    %2fmessages%2f%3fapi-version%3d2015-01
    """,
    """
    sharedaccesssignature sig=j6q6ffj7LuGeDP2G69xpNNIwVbORlxI4GWMDMBrSH/U=&se=1893456000\
    &skn=Default%46ullSharedAccessSignature&sr=https%3a%2f%2fnewsroom-ns.servicebus.windows.net%2fbreakingnews
    """,
])
func `a header is read in any order and escaping`(header: String) {
    #expect(Vector.verdict(header) == nil)
}

@Test(arguments: [
    (Vector.v1, "d9GnBegQ5Sb7JrWmI3INhBC71PDg7kY1CwpBueIrkwk=", Vector.expiry, TokenRefusal.invalidSignature),
    (Vector.v1, "WHAfA6Fd6DN5nAnss3/0nhD5cf1d7zLXuViom8ifzXE=", Vector.expiry, .invalidSignature),
    (Vector.v1, "6Vc8XQ1d12m/WruVjdkWad5q6G+2n2ZsN9Ga8AqMviA=", Vector.expiry, .invalidSignature),
    (Vector.v8, "JlnKlHRBUGn1C22XUn56IxPuN7nDzPZn6yAsmusyZ1A=", 1_577_836_800, .expiredToken),
    (
        "http%3a%2f%2fother-ns.servicebus.windows.net%2f", "zFLc9Xrw5MKY0iMe4TqUM+irTwsL0oQG9A2dz3q+1dk=",
        Vector.expiry, .invalidAudience
    ),
])
func `a slightly wrong token is refused`(sr: String, sig: String, se: Int64, refusal: TokenRefusal) {
    #expect(Vector.verdict(Vector.header(sr, sig, se: se)) == refusal)
}

@Test(
    arguments: [
        (nil, TokenRefusal.missingToken),
        ("  ", .missingToken),
        ("Bearer abc", .malformedToken),
        ("SharedAccessSignature", .malformedToken),
        ("SharedAccessSignature sr=a&sig=b&se=1", .malformedToken),
        ("SharedAccessSignature sr=a&sig=b&se=1&skn", .malformedToken),
        ("SharedAccessSignature sr=a&sig=b&se=soon&skn=d", .malformedToken),
        ("SharedAccessSignature sr=a&sig=b&se=-1&skn=d", .malformedToken),
        ("SharedAccessSignature sr=a&sig=b&se=99999999999999999999&skn=d", .malformedToken),
        ("SharedAccessSignature sr=a&sig=b%2&se=1&skn=d", .malformedToken),
        ("SharedAccessSignature sr=a&sr=b&sig=b&se=1&skn=d", .malformedToken),
        ("SharedAccessSignature sr=a&sig=b&se=1&skn=d&x=" + String(repeating: "x", count: 9000), .malformedToken),
        ("SharedAccessSignature sr=a&sig=b&se=1&skn=nobody", .invalidSignature),
    ] as [(String?, TokenRefusal)])
func `a malformed header is refused with the reason`(header: String?, refusal: TokenRefusal) {
    #expect(Vector.verdict(header) == refusal)
}

private func token(_ resource: String) -> String {
    SharedAccessSignature.token(
        resource: resource, keyName: Vector.keyName, key: Vector.key, expiresAt: Vector.expiry)
}

@Test(arguments: [
    (
        "https://newsroom-ns.servicebus.windows.net/", "https%3A%2F%2F",
        "Gt0acF7knB6%2Fx8i0tcV0RxId9cwmBlBK2Hi23goOIuA%3D"
    ),
    (
        "https://Newsroom-NS.servicebus.windows.net", "https%3A%2F%2F",
        "9lK%2BK10TkDYr5hvv8V%2Bo0MJ3bctGEm0XH9WeZHTSin4%3D"
    ),
])
func `tokens are created as in the JavaScript and Go clients`(resource: String, scheme: String, signature: String) {
    let header = token(resource)
    #expect(header.hasPrefix("SharedAccessSignature sr=\(scheme)newsroom-ns.servicebus.windows.net"))
    #expect(header.hasSuffix("&sig=\(signature)&se=1893456000&skn=DefaultFullSharedAccessSignature"))
}

@Test(arguments: [
    ("https://h/hub1", "/hub1/messages", true),
    ("https://h/hub1/", "/HUB1/Messages", true),
    ("sb://H:5671/hub1", "/hub1", true),
    ("https://h", "/hub10/messages", true),
    ("https://h/hub1", "/hub10/messages", false),
    ("https://h/other", "/hub1/messages", false),
    ("https://h/hub1/messages", "/hub1", false),
    ("https://h/hub1", "/hub1/../hub2/messages", false),
    ("https://h/hub1", "/hub1/%2e%2e/hub2/messages", false),
    ("ftp://h/hub1", "/hub1", false),
    ("https://me@h/hub1", "/hub1", false),
    ("https://h2/hub1", "/hub1", false),
    ("/hub1", "/hub1", false),
])
func `an audience is valid for whole path segments of its own host`(resource: String, path: String, opens: Bool) {
    let refusal = Vector.verdict(token(resource), host: "h:8090", path: path)
    #expect(refusal == (opens ? nil : .invalidAudience))
}

@Test func `without a host, any audience host is accepted`() {
    #expect(Vector.verdict(token("https://anything/"), host: nil) == nil)
    #expect(Vector.verdict(token("http://[::1]:8090/"), host: "[::1]:8090") == nil)
}

@Test func `the expiry counts to the second, plus the allowed skew`() {
    let header = token("https://\(Vector.host)/")
    #expect(Vector.verdict(header, now: Vector.expiry - 1) == nil)
    #expect(Vector.verdict(header, now: Vector.expiry) == .expiredToken)
    #expect(Vector.verdict(header, now: Vector.expiry + 4, clockSkew: 5) == nil)
    #expect(Vector.verdict(header, now: Vector.expiry + 5, clockSkew: 5) == .expiredToken)
    #expect(Vector.verdict(header, now: .min, clockSkew: .max) == nil)
}

@Test func `the secondary key is accepted, a wrong or foreign one is not`() {
    let header = token("https://\(Vector.host)/")
    let replaced = AccessRule(
        name: Vector.keyName, primaryKey: AccessKey("new"), secondaryKey: Vector.key, rights: .send)
    #expect(Vector.verdict(header, rules: [replaced]) == nil)
    let gone = AccessRule(name: Vector.keyName, primaryKey: AccessKey("new"), rights: .send)
    #expect(Vector.verdict(header, rules: [gone]) == .invalidSignature)
    let foreign = AccessRule(name: "Other", primaryKey: Vector.key, rights: .send)
    #expect(Vector.verdict(header, rules: [foreign]) == .invalidSignature)
    #expect(Vector.verdict(header, rules: []) == .invalidSignature)
}

@Test func `every changed character of a signature is detected`() {
    let header = token("https://\(Vector.host)/")
    guard let range = header.firstRange(of: "&sig=") else {
        Issue.record("no signature")
        return
    }
    for offset in 0..<40 {
        var changed = header
        let index = changed.index(range.upperBound, offsetBy: offset)
        changed.replaceSubrange(index...index, with: changed[index] == "A" ? "B" : "A")
        #expect(Vector.verdict(changed) != nil)
    }
}

@Test func `no description prints a signature`() throws {
    let parsed = try SharedAccessSignature(parsing: token("https://h/"))
    var dumped = ""
    dump(parsed, to: &dumped)
    for text in ["\(parsed)", String(reflecting: parsed), dumped] {
        #expect(!text.contains("sig=") || text.contains("sig=(hidden)"))
    }
}

@Test func `rights are distinct`() {
    let rights: [AccessRule.Rights] = [.listen, .send, .manage]
    for right in rights { #expect(rights.filter { $0.contains(right) } == [right]) }
}
