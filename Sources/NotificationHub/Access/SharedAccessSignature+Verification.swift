import ByteText

extension SharedAccessSignature {
    /// Checks if a request's token opens a path. The order of the checks determines the refusal that a caller sees.
    /// - Parameters:
    ///   - header: the value of `Authorization`; `nil` if it is missing.
    ///   - host: the request's `Host`, with or without a port; `nil` to skip the check of the host.
    ///   - path: the request's path; a query is ignored.
    ///   - now: Unix seconds.
    ///   - clockSkew: seconds for which an expired token is still accepted. The service's own allowance is not known.
    /// - Returns: the rule whose key signed the token. The caller checks that the rule has the necessary right.
    public static func verified(
        header: String?, host: String?, path: String, rules: [AccessRule], now: Int64, clockSkew: Int64 = 0
    ) -> Result<AccessRule, TokenRefusal> {
        guard let header else { return .failure(.missingToken) }
        let token: SharedAccessSignature
        do { token = try SharedAccessSignature(parsing: header) } catch { return .failure(error) }
        guard let rule = rules.first(where: { $0.name == token.keyName }), token.isSigned(by: rule) else {
            return .failure(.invalidSignature)
        }
        let (earliest, overflow) = now.subtractingReportingOverflow(clockSkew)
        guard token.expiry > (overflow ? .min : earliest) else { return .failure(.expiredToken) }
        guard token.opens(host: host, path: path) else { return .failure(.invalidAudience) }
        return .success(rule)
    }

    func isSigned(by rule: AccessRule) -> Bool {
        let text = "\(encodedAudience)\n\(expiryText)"
        return [rule.primaryKey, rule.secondaryKey].contains { key in
            key?.signature(of: text).isEqualInConstantTime(to: signature) ?? false
        }
    }

    /// True if the audience has the same host and its path is a prefix of `path` by whole segments: `/hub1` does not
    /// open `/hub10`. Ignores scheme, port, query and a trailing slash, because clients differ in them.
    package func opens(host: String?, path: String) -> Bool {
        guard let uri = encodedAudience.percentDecoded(), let separator = uri.firstRange(of: "://"),
            ["http", "https", "sb"].contains(uri[..<separator.lowerBound].asciiLowercased)
        else { return false }
        let rest = uri[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let audienceHost = Self.host(of: authority) else { return false }
        if let host {
            guard Self.host(of: host[...]) == audienceHost else { return false }
        }
        guard let granted = Self.segments(of: rest[authority.endIndex...]), let asked = Self.segments(of: path[...])
        else { return false }
        return asked.starts(with: granted)
    }

    private static func host(of authority: Substring) -> String? {
        (try? HubEndpoint.hostAndPort(authority))?.host
    }

    /// The path's segments, decoded and in lower case; `nil` if a segment could be interpreted in several ways.
    private static func segments(of path: Substring) -> [String]? {
        var segments: [String] = []
        for segment in path.prefix(while: { $0 != "?" && $0 != "#" }).split(separator: "/") {
            guard let decoded = segment.percentDecoded(), decoded != ".", decoded != ".." else { return nil }
            segments.append(decoded.asciiLowercased)
        }
        return segments
    }
}

/// The reason why a hub refuses a token. The answer always has status 401.
public enum TokenRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    case missingToken, malformedToken, invalidSignature, expiredToken, invalidAudience

    /// The message of the error body; its first word is the service's name for the case. Only the wording of
    /// `invalidSignature` is known from recordings of the service.
    public var description: String {
        switch self {
        case .missingToken: "MissingToken: The authorization header was not found."
        case .malformedToken: "MalformedToken: The token is malformed; sr, sig, se and skn are needed."
        case .invalidSignature: "InvalidSignature: The token has an invalid signature."
        case .expiredToken: "ExpiredToken: The token is expired."
        case .invalidAudience: "InvalidAudience: The token is for another resource."
        }
    }
}
