import ByteText
package import NewsModel

/// A bearer token with which Kafka clients log in.
public struct OAuthToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The token itself, which is secret.
    package var text: String
    /// The name that the token was issued to; empty if it does not say.
    public var subject: String
    /// The remaining time for which the token is valid.
    public var lifetime: Duration

    /// The largest answer of a token endpoint, and the largest token file. Brokers accept at most this much by default.
    package static let bytesMax = 256 << 10
    /// The assumed lifetime of a token that does not say when it ends.
    private static let lifetimeUnknown = Duration.seconds(300)
    /// Longer lifetimes count as this one.
    private static let lifetimeMax = Duration.seconds(7 * 86_400)

    /// - Parameters:
    ///   - lifetime: the lifetime that the issuer has reported; `nil` to read it from the token.
    ///   - wall: the time of the machine, with which the end in the token is compared.
    /// - Throws: if the text cannot be a token, or if it has expired.
    package init(_ text: String, lifetime: Duration? = nil, at wall: Instant) throws(KafkaFailure) {
        guard Self.isToken(text) else {
            throw .token("the text has characters that no token has, or is empty", "Look at what issues the token.")
        }
        let claims = Claims(text)
        let left = lifetime ?? claims?.end.map { $0 - wall } ?? Self.lifetimeUnknown
        guard left > .zero else {
            throw .token("the token has already expired", "Look at what issues the token, and at this machine's clock.")
        }
        self.text = text
        subject = claims?.subject ?? ""
        self.lifetime = min(left, Self.lifetimeMax)
    }

    /// Reads the answer of a token endpoint.
    ///
    /// - Throws: a failure without any text of the answer, because an endpoint may repeat the secret.
    package init(status: Int, body: [UInt8], at wall: Instant) throws(KafkaFailure) {
        let parser = JSONParser(sizeMax: Self.bytesMax)
        defer { withExtendedLifetime(parser) {} }
        let fields = try? JSONFields(body, parser)
        func text(_ name: StaticString) -> String? { (try? fields?.string(name)) ?? nil }
        guard status == 200 else { throw .refused(status: status, error: text("error")) }
        guard let token = text("access_token") else {
            throw .token("the token endpoint's answer has no access_token", "Check kafka.oauth.tokenEndpoint.")
        }
        // Some endpoints write the number as a text.
        let seconds: Int32? = ((try? fields?.integer("expires_in")) ?? nil) ?? text("expires_in").flatMap { Int32($0) }
        try self.init(token, lifetime: seconds.map { .seconds($0) }, at: wall)
    }

    /// The characters of RFC 6750 §2.1, followed by padding.
    private static func isToken(_ text: String) -> Bool {
        let body = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !body.isEmpty && text.utf8.count <= bytesMax
            && body.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-._~+/".utf8.contains($0) }
    }

    public var description: String { "token" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The claims of a JSON Web Token that matter here. RFC 7519 §4.1.
    private struct Claims {
        var end: Instant?
        var subject: String?

        /// - Returns: `nil` if the token is of another kind.
        init?(_ token: String) {
            let parts = token.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
            text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            let parser = JSONParser(sizeMax: OAuthToken.bytesMax)
            defer { withExtendedLifetime(parser) {} }
            guard let json = Base64.decode(text), let fields = try? JSONFields(json, parser) else { return nil }
            // The number may have a fraction. `duration` counts milliseconds, and the claim counts seconds.
            if let claim = (try? fields.duration("exp")) ?? nil {
                end = Instant(milliseconds: claim.nanoseconds / 1_000)
            }
            subject = ((try? fields.string("sub")) ?? nil).map { String($0.filter { !$0.isNewline }.prefix(200)) }
        }
    }
}

extension KafkaFailure {
    private static let tokenCode = "_TOKEN"
    private static let tokenSubject = "No token for Kafka"

    /// There is no token to log in with. The same attempt may succeed later.
    package static func token(_ detail: String, _ remedy: String = "") -> KafkaFailure {
        KafkaFailure(code: tokenCode, detail: "\(tokenSubject): \(detail)", remedy: remedy)
    }

    /// Finds the failure of a token in librdkafka's words for a client without one.
    package init?(aboutToken text: String) {
        guard let start = text.firstRange(of: Self.tokenSubject) else { return nil }
        self.init(code: Self.tokenCode, detail: String(text[start.lowerBound...]))
    }

    /// True if there is no token to log in with.
    public var isAboutToken: Bool { code == Self.tokenCode }

    /// A token endpoint refuses to issue a token.
    ///
    /// - Parameter error: the code of RFC 6749 §5.2 in the answer. Other texts are not shown.
    fileprivate static func refused(status: Int, error: String?) -> KafkaFailure {
        let (detail, remedy) =
            switch (status, error) {
            case (_, "invalid_client"?), (_, "unauthorized_client"?), (401, _):
                (
                    "refuses kafka.oauth.clientId or kafka.oauth.clientSecret",
                    "Copy both again from the identity provider."
                )
            case (_, "invalid_scope"?):
                ("refuses kafka.oauth.scope", "Write the scope that the identity provider has for the brokers.")
            case (_, "unsupported_grant_type"?), (_, "invalid_grant"?), (_, "invalid_request"?):
                (
                    "does not issue tokens to a program with a secret",
                    "Allow the grant client_credentials for kafka.oauth.clientId at the identity provider."
                )
            case (300..<400, _):
                (
                    "redirects to another address, which does not get the secret",
                    "Write the address that issues tokens into kafka.oauth.tokenEndpoint."
                )
            case (404, _): ("does not exist", "Check kafka.oauth.tokenEndpoint.")
            default:
                ("answers with status \(status)", "Look at the identity provider, and check kafka.oauth.tokenEndpoint.")
            }
        return token("the token endpoint \(detail)", remedy)
    }
}

extension ReadinessReason {
    /// The clients of Kafka have no token to log in with.
    package init(kafkaToken failure: KafkaFailure) {
        self.init(code: "kafka-token", detail: failure.detail, remedy: failure.remedyClause)
    }
}
