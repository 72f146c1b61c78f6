import HTTPServing
import NotificationHub

/// Decides which callers may read the status and which may act on the service.
struct AccessGate: Sendable {
    private let token: BearerToken
    private let isOnLoopback: Bool

    /// - Parameters:
    ///   - token: permits its bearer everything.
    ///   - isOnLoopback: true if only this machine can reach the port.
    init(token: BearerToken, isOnLoopback: Bool) {
        self.token = token
        self.isOnLoopback = isOnLoopback
    }

    enum Verdict: Hashable {
        /// Allowed. The text names the caller's proof, for the log.
        case allowed(as: String)
        /// Refused, but the token would permit the action.
        case needsToken
        case refused(String)
    }

    /// Every caller that can connect may read, except under a foreign name that resolves to this machine.
    func mayRead(_ caller: Caller, authorization: String?) -> Bool {
        guard isOnLoopback, let authority = caller.authority else { return true }
        return Caller.namesLoopback(authority) || authorization.map(showsToken) ?? false
    }

    func mayAct(_ caller: Caller, authorization: String?) -> Verdict {
        guard caller.isSameSite else { return .refused("The request comes from a page of another site.") }
        if let authorization { return showsToken(authorization) ? .allowed(as: "token") : .needsToken }
        if caller.isLocal { return .allowed(as: "loopback") }
        guard token.current == nil else { return .needsToken }
        if caller.isForwarded {
            return .refused("The request came through a proxy; set http.token, and show the token, to do this.")
        }
        if Caller.isLoopback(caller.address) {
            return .refused("Ask for localhost or a loopback address, or set http.token and show the token.")
        }
        return .refused("Only this machine may do this; set http.token to let others.")
    }

    private func showsToken(_ authorization: String) -> Bool {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        // The scheme is compared without regard to case, RFC 9110 §11.1.
        guard let token = token.current, parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        return String(parts[1].drop { $0 == " " }).isEqualInConstantTime(to: token)
    }
}
