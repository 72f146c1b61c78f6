import ByteText
import NewsModel
import Testing

@testable import KafkaModel

struct OAuthTokenTests {
    private let now = Instant(milliseconds: 1_764_000_000_000)

    /// A JSON Web Token with these claims, in base64 without padding.
    private func jwt(_ claims: String) -> String {
        let payload = Base64.encode(Array(claims.utf8)).replacing("+", with: "-").replacing("/", with: "_")
        return "eyJhbGciOiJub25lIn0." + payload.replacing("=", with: "") + ".c2ln"
    }

    private func read(_ body: String, status: Int = 200) throws(KafkaFailure) -> OAuthToken {
        try OAuthToken(status: status, body: Array(body.utf8), at: now)
    }

    @Test func `the endpoint's lifetime counts, and the name is read from the token`() throws {
        let text = jwt(#"{"sub": "newswire", "exp": 1}"#)
        for seconds in ["3599", #""3599""#] {
            let token = try read(#"{"access_token": "\#(text)", "token_type": "Bearer", "expires_in": \#(seconds)}"#)
            #expect(token.lifetime == .seconds(3_599) && token.subject == "newswire" && token.text == text)
        }
    }

    @Test(
        arguments: [
            (#"{"exp": 1764000060}"#, 60), (#"{"exp": 1764000060.9}"#, 60), (#"{"exp": 9e300}"#, 300),
            (#"{"exp": "soon"}"#, 300), ("{}", 300), ("[1]", 300), (#"{"exp": 9223372036854775807}"#, 300),
            (#"{"exp": 1e12}"#, 7 * 86_400),
        ] as [(String, Int64)])
    func `without a lifetime in the answer the token's end counts`(claims: String, seconds: Int64) throws {
        let token = try read(#"{"access_token": "\#(jwt(claims))"}"#)
        #expect(token.lifetime.components.seconds == seconds)
    }

    @Test(arguments: ["opaque", "a.b", "a.b.c.d", "..", "a.!.c".replacing("!", with: "~"), "YQ=="])
    func `a token of another kind is used, with a short lifetime`(text: String) throws {
        let token = try OAuthToken(text, at: now)
        #expect(token.lifetime == .seconds(300) && token.subject.isEmpty)
    }

    @Test(arguments: ["", "=", "a b", "a\\nb", "a\\u0000b", "a=b", "ü", "a\\r\\nHost: x"])
    func `a token with other characters is refused and not repeated`(text: String) throws {
        let failure = #expect(throws: KafkaFailure.self) { try read(#"{"access_token": "\#(text)"}"#) }
        #expect(failure?.isAboutToken == true)
        #expect(failure?.detail == "No token for Kafka: the text has characters that no token has, or is empty")
    }

    @Test func `an expired token is refused`() {
        for body in [
            #"{"access_token": "\#(jwt(#"{"exp": 1763999999}"#))"}"#, #"{"access_token": "a", "expires_in": 0}"#,
        ] {
            let failure = #expect(throws: KafkaFailure.self) { try read(body) }
            #expect(failure?.detail == "No token for Kafka: the token has already expired")
        }
    }

    @Test(
        arguments: [
            (200, "", "the token endpoint's answer has no access_token"),
            (200, "<html>", "the token endpoint's answer has no access_token"),
            (200, #"{"access_token": 7}"#, "the token endpoint's answer has no access_token"),
            (200, #"[{"access_token": "a"}]"#, "the token endpoint's answer has no access_token"),
            (401, "<html>", "the token endpoint refuses kafka.oauth.clientId or kafka.oauth.clientSecret"),
            (
                400, #"{"error": "invalid_client", "error_description": "the secret canary is wrong"}"#,
                "the token endpoint refuses kafka.oauth.clientId or kafka.oauth.clientSecret"
            ),
            (400, #"{"error": "invalid_scope"}"#, "the token endpoint refuses kafka.oauth.scope"),
            (
                400, #"{"error": "unsupported_grant_type"}"#,
                "the token endpoint does not issue tokens to a program with a secret"
            ),
            (400, #"{"error": "canary"}"#, "the token endpoint answers with status 400"),
            (302, "", "the token endpoint redirects to another address, which does not get the secret"),
            (404, "canary", "the token endpoint does not exist"),
            (503, "canary", "the token endpoint answers with status 503"),
        ])
    func `an answer without a token names the cause and repeats none of its text`(
        status: Int, body: String, cause: String
    ) {
        let failure = #expect(throws: KafkaFailure.self) { try read(body, status: status) }
        #expect(failure?.detail == "No token for Kafka: \(cause)")
        #expect(failure.map { "\($0)".contains("canary") } == false)
    }

    @Test func `a token is not shown`() throws {
        let token = try OAuthToken("canary", at: now)
        #expect(!"\(token) \(String(reflecting: token)) \([token])".contains("canary"))
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!dumped.contains("canary"))
    }

    @Test func `librdkafka's words for a missing token keep our failure`() throws {
        let failure = KafkaFailure.token("the file /x cannot be read", "Check kafka.oauth.tokenFile.")
        let text = "Failed to acquire SASL OAUTHBEARER token: \(failure)"
        let found = try #require(KafkaFailure(aboutToken: text))
        #expect(found.isAboutToken && found.detail == "\(failure)" && !found.isRetriable)
        #expect(KafkaFailure(aboutToken: "b:1/1: SASL authentication error: invalid token") == nil)
    }
}

struct TokenRenewalTests {
    private let start = Instant(milliseconds: 1_000_000)
    private let failure = KafkaFailure.token("down")

    private func token(_ seconds: Int) throws -> OAuthToken {
        try OAuthToken("t", lifetime: .seconds(seconds), at: start)
    }

    @Test func `a token is due at once, and again after four fifths of its lifetime`() throws {
        var renewal = TokenRenewal()
        #expect(renewal.due <= start)
        renewal.received(try token(60), at: start)
        #expect(renewal.due == start + .seconds(48) && renewal.validUntil == start + .seconds(60))
        renewal.received(try token(1), at: start)
        #expect(renewal.due == start + .seconds(1))
    }

    @Test func `after failures it is asked for again, less and less often`() {
        var renewal = TokenRenewal()
        var now = start
        var pauses: [Int64] = []
        for _ in 0..<70 {
            renewal.failed(failure, at: now)
            pauses.append((renewal.due - now).components.seconds)
            now = renewal.due
        }
        #expect(pauses.prefix(7) == [1, 2, 4, 8, 16, 30, 30] && pauses.last == 30)
    }

    @Test func `one failure is no problem while the token is valid, further ones are`() throws {
        var renewal = TokenRenewal()
        #expect(renewal.problem(at: start) == nil)
        renewal.received(try token(60), at: start)
        renewal.failed(failure, at: start + .seconds(48))
        #expect(renewal.problem(at: start + .seconds(48)) == nil)
        #expect(renewal.problem(at: start + .seconds(60)) == failure)
        renewal.failed(failure, at: start + .seconds(49))
        #expect(renewal.problem(at: start + .seconds(49)) == failure)
        renewal.received(try token(60), at: start + .seconds(51))
        #expect(renewal.problem(at: start + .seconds(51)) == nil)
    }

    @Test func `without any token the first failure is a problem`() {
        var renewal = TokenRenewal()
        renewal.failed(failure, at: start)
        #expect(renewal.problem(at: start) == failure)
    }

    @Test func `changed settings are tried at once`() throws {
        var renewal = TokenRenewal()
        renewal.received(try token(60), at: start)
        renewal.hurry()
        #expect(renewal.due <= start && renewal.validUntil == start + .seconds(60))
    }
}
