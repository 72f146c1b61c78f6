import HTTPServing

/// Decides who may read the status and who may act on the service.
struct AccessGate: Sendable {
    private let token: [UInt8]?
    private let isOnLoopback: Bool

    /// - Parameters:
    ///   - token: callers that show it may do everything; `nil` for none.
    ///   - isOnLoopback: the port is open to this machine only.
    init(token: String?, isOnLoopback: Bool) {
        self.token = token.map { Array($0.utf8) }
        self.isOnLoopback = isOnLoopback
    }

    enum Verdict: Hashable {
        /// With the proof that the caller gave, for the log.
        case allowed(as: String)
        /// The token would open it.
        case needsToken
        case refused(String)
    }

    /// Every caller that can connect may read, except through a foreign name that resolves to this machine.
    func mayRead(_ caller: Caller, authorization: String?) -> Bool {
        guard isOnLoopback, let authority = caller.authority else { return true }
        return Caller.namesLoopback(authority) || authorization.map(showsToken) ?? false
    }

    func mayAct(_ caller: Caller, authorization: String?) -> Verdict {
        guard caller.isSameSite else { return .refused("The request comes from a page of another site.") }
        if let authorization { return showsToken(authorization) ? .allowed(as: "token") : .needsToken }
        if caller.isLocal { return .allowed(as: "loopback") }
        return token == nil ? .refused("Only this machine may do this; set http.token to let others.") : .needsToken
    }

    private func showsToken(_ authorization: String) -> Bool {
        guard let token else { return false }
        return Self.isEqual(Array(authorization.utf8), Array("Bearer ".utf8) + token)
    }

    /// Takes the same time wherever the first difference is.
    private static func isEqual(_ given: [UInt8], _ wanted: [UInt8]) -> Bool {
        var difference = given.count ^ wanted.count
        for (index, byte) in wanted.enumerated() {
            difference |= Int((index < given.count ? given[index] : ~byte) ^ byte)
        }
        return difference == 0
    }
}
