/// What is known about a device's registration; it survives restarts.
struct RegistrationRecord: Sendable, Hashable, Codable {
    struct Known: Sendable, Hashable, Codable {
        /// `nil` for the native registration.
        var template: String?
        var id: String
    }

    /// What the hub is certain to have.
    struct Registered: Sendable, Hashable, Codable {
        var subscription: Subscription
        var form: RegistrationForm
        /// Unix seconds.
        var at: Int64
    }

    /// The address that all of this is true for.
    var hub: String
    var installation: String?
    var registrations: [Known] = []
    /// Ids of registrations that are in the way: each would be one more notification for every send.
    var surplus: [String] = []
    /// `nil` from the moment before the first call that changes something until the last one has succeeded: whatever
    /// happens in between, the next start registers again.
    var registered: Registered?

    init(hub: String) {
        self.hub = hub
    }

    func id(template: String?) -> String? { registrations.first { $0.template == template }?.id }

    mutating func setID(_ id: String?, template: String?) {
        registrations.removeAll { $0.template == template }
        guard let id else { return }
        registrations.append(Known(template: template, id: id))
        // It may have been in the way a moment ago, when something else was wanted.
        surplus.removeAll { $0 == id }
    }
}
