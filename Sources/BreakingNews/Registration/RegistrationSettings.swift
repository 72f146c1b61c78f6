public import NotificationHub

/// The hub with which a device registers, and the intervals.
public struct RegistrationSettings: Sendable {
    /// Use a key with the Listen right only: anyone can read the contents of an app.
    public var connection: ConnectionString
    public var hub: HubName
    public var form: RegistrationForm
    /// Seconds after which an unchanged registration is made again, in case the hub has lost it.
    public var refreshAfter: Int64 = 24 * 3600
    /// Seconds to the first retry, at least 1; doubled for each further one. Half of it is random, so that devices do
    /// not all return at once.
    public var retryFirst: Int64 = 2
    /// The longest time between retries, in seconds.
    public var retryMax: Int64 = 15 * 60

    public init(connection: ConnectionString, hub: HubName, form: RegistrationForm = .installation) {
        self.connection = connection
        self.hub = hub
        self.form = form
    }
}

/// The form of a registration at the hub.
public enum RegistrationForm: Sendable, Hashable, Codable {
    /// One object under an id chosen by the device; the newer form. The hub also makes a native registration from it.
    case installation
    /// One registration for each template and, if wanted, a native one, each under an id from the hub.
    case registrations(native: Bool)
}
