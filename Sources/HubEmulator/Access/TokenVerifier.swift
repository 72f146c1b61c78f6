import NotificationHub

/// Checks a request's token, in the service's order. The calls themselves check the rights that they need.
struct TokenVerifier: Sendable {
    /// The most tokens remembered. Clients sign a token once and use it until it expires.
    private static let rememberedMax = 256
    private static let rememberedLengthMax = 2048

    /// A token whose signature is valid. Each call still checks that its audience covers the path.
    private struct VerifiedToken: Sendable {
        var token: SharedAccessSignature
        var rights: AccessRule.Rights
        /// Unix seconds from which the token is expired, skew included.
        var refusedFrom: Int64
    }

    private let rules: [AccessRule]
    private let clockSkew: Int64
    private var verified: [String: VerifiedToken] = [:]

    /// The hub's rules come first, so that they take precedence over the namespace's rules of the same name.
    init(_ settings: HubSettings) {
        rules = settings.rules + settings.namespaceRules
        clockSkew = max(0, settings.clockSkewSeconds)
    }

    mutating func rights(for request: HubHTTPRequest, path: Substring, at now: HubTime) throws(TokenRefusal)
        -> AccessRule.Rights
    {
        guard let header = request.headers["Authorization"] else { throw .missingToken }
        let host = request.headers["Host"]
        let path = String(path)
        if let known = verified[header], known.refusedFrom > now.seconds {
            guard known.token.opens(host: host, path: path) else { throw .invalidAudience }
            return known.rights
        }
        let rule = try SharedAccessSignature.verified(
            header: header, host: host, path: path, rules: rules, now: now.seconds, clockSkew: clockSkew
        ).get()
        if header.utf8.count <= Self.rememberedLengthMax {
            if verified.count >= Self.rememberedMax { verified = [:] }
            let token = try SharedAccessSignature(parsing: header)
            let (end, overflow) = token.expiry.addingReportingOverflow(clockSkew)
            verified[header] = VerifiedToken(token: token, rights: rule.rights, refusedFrom: overflow ? .max : end)
        }
        return rule.rights
    }
}
