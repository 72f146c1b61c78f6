public import NotificationHub

/// The hub with which a device registers, and the intervals.
public struct RegistrationSettings: Sendable {
    /// The hub's address and key. The key must have the Listen right only, because anyone can read an app's contents.
    public var connection: ConnectionString
    public var hub: HubName
    public var form: RegistrationForm
    /// Seconds after which an unchanged registration is repeated, in case the hub has lost it.
    public var refreshAfter: Int64 = 24 * 3600
    /// Seconds until the first retry, at least 1; doubles for each further one. Half of the delay is random, so that
    /// devices do not all return at once.
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
    /// One object under an id chosen by the device; the newer form. The hub also derives a native registration from it.
    case installation
    /// One registration for each template and, if wanted, a native one, each under an id from the hub.
    case registrations(native: Bool)
}
