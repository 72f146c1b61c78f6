/// How a subscription is written down at the hub.
public enum RegistrationForm: Sendable, Hashable, Codable {
    /// One object under an id of our own, the modern way. The hub makes a native registration of it as well.
    case installation
    /// One registration for each template and, if wanted, a native one, each under an id of the hub's.
    case registrations(native: Bool)
}
