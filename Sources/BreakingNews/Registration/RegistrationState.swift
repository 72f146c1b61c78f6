/// How far a registration is.
public enum RegistrationState: Sendable, Hashable {
    /// The hub has nothing of this device that we know of.
    case unregistered
    /// Under way.
    case registering
    /// The hub has what was wanted, since this instant in Unix seconds.
    case registered(since: Int64)
    /// The choices are kept and will be registered; not yet.
    case waiting(RegistrationFailure)
}

/// Why a registration did not succeed, and when the next attempt follows.
public struct RegistrationFailure: Sendable, Hashable, CustomStringConvertible {
    public enum Reason: Sendable, Hashable {
        /// No reply.
        case unreachable(String)
        /// The hub is busy, or something before it failed.
        case busy(status: Int)
        /// The key may not register, is wrong, or there is no such hub; a person must act.
        case forbidden(status: Int, detail: String?)
        /// The hub will not have this channel, tag or template.
        case refused(status: Int, detail: String?)
    }

    public var reason: Reason
    /// How many times in a row, 1 and up.
    public var attempts: Int
    /// Unix seconds.
    public var retryAt: Int64
    /// Whether the hub named the time, so that not even a new choice may come sooner.
    var isTold: Bool

    public var description: String {
        switch reason {
        case .unreachable(let why): "the hub cannot be reached: \(why)"
        case .busy(let status): "the hub answered \(status)"
        case .forbidden(let status, let detail):
            "the hub answered \(status): \(detail ?? "the key may not register devices, or the hub does not exist")"
        case .refused(let status, let detail):
            "the hub refused the registration (\(status)): \(detail ?? "no reason given")"
        }
    }
}
