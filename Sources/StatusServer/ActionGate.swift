/// Decides who may act on the service: callers with the token, and people at this machine.
struct ActionGate: Sendable {
    private let token: [UInt8]?

    init(token: String?) {
        self.token = token.map { Array($0.utf8) }
    }

    enum Verdict: Hashable {
        /// And what they proved, for the log.
        case allowed(as: String)
        /// A token would open it.
        case needsToken
        case refused(String)
    }

    struct Caller {
        var isLocal: Bool
        var host: String?
        var origin: String?
        var authorization: String?
        /// The request came through a proxy, whose address says nothing about the caller's.
        var isForwarded: Bool
    }

    func verdict(on caller: Caller) -> Verdict {
        // A page of another site must not act through its reader's browser.
        if let origin = caller.origin, origin != "http://\(caller.host ?? "")", origin != "https://\(caller.host ?? "")"
        {
            return .refused("The request comes from a page of another site.")
        }
        if let authorization = caller.authorization {
            guard let token, Self.isEqual(Array(authorization.utf8), Array("Bearer ".utf8) + token) else {
                return .needsToken
            }
            return .allowed(as: "token")
        }
        // A name that somebody made point at this machine must not reach it either.
        if caller.isLocal, !caller.isForwarded, Self.isLocalName(caller.host ?? "") { return .allowed(as: "loopback") }
        return token == nil ? .refused("Only this machine may do this; set http.token to let others.") : .needsToken
    }

    private static func isLocalName(_ host: String) -> Bool {
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        return name == "localhost" || name == "[::1]" || name.hasPrefix("127.")
    }

    /// Takes as long whatever the first difference is.
    private static func isEqual(_ given: [UInt8], _ wanted: [UInt8]) -> Bool {
        var difference = given.count ^ wanted.count
        for (index, byte) in wanted.enumerated() {
            difference |= Int((index < given.count ? given[index] : ~byte) ^ byte)
        }
        return difference == 0
    }
}
