/// The stored knowledge about a device's registration.
struct RegistrationRecord: Sendable, Hashable, Codable {
    struct Known: Sendable, Hashable, Codable {
        /// The template's name; `nil` for the native registration.
        var template: String?
        var id: String
    }

    /// A registration that the hub certainly has.
    struct Registered: Sendable, Hashable, Codable {
        var subscription: Subscription
        var form: RegistrationForm
        /// The time of the registration, in Unix seconds.
        var at: Int64
    }

    var hub: String
    var installation: String?
    var registrations: [Known] = []
    /// Ids of leftover registrations, each of which would repeat every notification.
    var surplus: [String] = []
    /// Ids of leftover installations of the channel. Optional, like the next member, because older versions stored a
    /// record without it.
    var surplusInstallations: [String]?
    /// True from the wish to be removed until nothing is left, so that the next start continues the removal.
    var isLeaving: Bool?
    /// `nil` from the first call that changes the hub until the last one has succeeded, so that the next start
    /// registers again after any interruption.
    var registered: Registered?

    init(hub: String) { self.hub = hub }

    func id(template: String?) -> String? { registrations.first { $0.template == template }?.id }

    /// The device's installation and the leftover ones.
    var installations: [String] { (installation.map { [$0] } ?? []) + (surplusInstallations ?? []) }

    /// Adds an installation that the hub has for the channel. The first one becomes the device's own.
    mutating func add(installation id: String) {
        if installation == nil {
            installation = id
        } else if !installations.contains(id) {
            surplusInstallations = (surplusInstallations ?? []) + [id]
        }
    }

    mutating func setID(_ id: String?, template: String?) {
        registrations.removeAll { $0.template == template }
        guard let id else { return }
        registrations.append(Known(template: template, id: id))
        // It may have been a leftover of an earlier subscription.
        surplus.removeAll { $0 == id }
    }
}
