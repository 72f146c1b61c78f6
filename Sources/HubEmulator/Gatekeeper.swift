import NotificationHub

/// Decides who may come in: the token checks in the service's order. Rights are checked by the call.
struct Gatekeeper: Sendable {
    /// Tokens remembered at most. A client signs one and uses it for every call of its life.
    private static let rememberedMax = 256
    private static let rememberedLengthMax = 2048

    private struct Visa: Sendable {
        var rights: AccessRule.Rights
        /// Unix seconds from which the token is expired, skew included.
        var refusedFrom: Int64
    }

    private let rules: [AccessRule]
    private let clockSkew: Int64
    private var visas: [String: Visa] = [:]

    init(rules: [AccessRule], clockSkewSeconds: Int64) {
        self.rules = rules
        clockSkew = max(0, clockSkewSeconds)
    }

    mutating func rights(for request: HubHTTPRequest, path: Substring, at now: HubTime) throws(TokenRefusal)
        -> AccessRule.Rights
    {
        guard let header = request.headers["Authorization"] else { throw .missingToken }
        let host = request.headers["Host"]
        let key = header + "\n" + (host ?? "") + "\n" + path
        if let visa = visas[key], visa.refusedFrom > now.seconds { return visa.rights }
        let verdict = SharedAccessSignature.verified(
            header: header, host: host, path: String(path), rules: rules, now: now.seconds, clockSkew: clockSkew)
        let rule = try verdict.get()
        if key.utf8.count <= Self.rememberedLengthMax, let token = try? SharedAccessSignature(parsing: header) {
            if visas.count >= Self.rememberedMax { visas = [:] }
            let (end, overflow) = token.expiry.addingReportingOverflow(clockSkew)
            visas[key] = Visa(rights: rule.rights, refusedFrom: overflow ? .max : end)
        }
        return rule.rights
    }
}
