/// The state of a registration.
public enum RegistrationState: Sendable, Hashable {
    /// The hub has no known registration of this device.
    case unregistered
    /// A registration or its removal is in progress, or was interrupted.
    case registering
    /// The hub has the wanted subscription, since this time in Unix seconds.
    case registered(since: Int64)
    /// The choices are stored and will be registered later.
    case waiting(RegistrationFailure)
}

/// The reason why a registration failed, and the time of the next attempt.
public struct RegistrationFailure: Sendable, Hashable, CustomStringConvertible {
    public enum Reason: Sendable, Hashable {
        /// The hub did not reply.
        case unreachable(String)
        /// The hub is busy, or a system in front of it failed.
        case busy(status: Int)
        /// The key is wrong or may not register, or the hub does not exist; a person must act.
        case forbidden(status: Int, detail: String?)
        /// The hub refuses this channel, tag or template.
        case refused(status: Int, detail: String?)
        /// The subscription has more tags than hubs take, so it is not sent.
        case tooManyTags(count: Int)
    }

    public var reason: Reason
    /// The number of failures in a row, at least 1.
    public var attempts: Int
    /// The time of the next attempt, in Unix seconds.
    public var retryAt: Int64
    /// True if the hub named the time. Even a new choice must not be sent earlier.
    var isRetryTimeFromHub: Bool

    public var description: String {
        switch reason {
        case .unreachable(let why): "the hub cannot be reached: \(why)"
        case .busy(let status): "the hub answered \(status)"
        case .forbidden(let status, let detail):
            "the hub answered \(status): \(detail ?? "the key may not register devices, or the hub does not exist")"
        case .refused(let status, let detail):
            "the hub refused the registration (\(status)): \(detail ?? "no reason given")"
        case .tooManyTags(let count):
            "the device has \(count) tags; a hub takes at most \(Subscription.tagsMax)"
        }
    }
}
