public import NotificationHub

/// Which hub a device registers with, and how often.
public struct RegistrationSettings: Sendable {
    /// With a key that may only listen: whatever ships inside an app can be read by anyone.
    public var connection: ConnectionString
    public var hub: HubName
    public var form: RegistrationForm
    /// Seconds after which a registration is made again although nothing changed, as a hub may have lost it.
    public var refreshAfter: Int64 = 24 * 3600
    /// Seconds to the first retry, 1 and up; doubled for each further one, and half of it left to chance so that devices do not
    /// come back all at once.
    public var retryFirst: Int64 = 2
    /// Seconds between retries at most.
    public var retryMax: Int64 = 15 * 60

    public init(connection: ConnectionString, hub: HubName, form: RegistrationForm = .installation) {
        self.connection = connection
        self.hub = hub
        self.form = form
    }
}

/// How a subscription is written down at the hub.
public enum RegistrationForm: Sendable, Hashable, Codable {
    /// One object under an id of our own, the modern way. The hub makes a native registration of it as well.
    case installation
    /// One registration for each template and, if wanted, a native one, each under an id of the hub's.
    case registrations(native: Bool)
}
