import NotificationHub

/// One request to the hub and its purpose.
struct RegistrationCall: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// Asks which registrations the hub has for this channel.
        case look
        case reserve(template: String?)
        case put(template: String?, id: String)
        case drop(id: String)
        case install(id: String)
        case uninstall(id: String)
    }

    let kind: Kind
    /// Counts changes of the wanted subscription; replies to calls of an earlier generation are ignored.
    let generation: Int
    /// The request without its token.
    let request: HubRequest

    /// - Parameter subscription: the content to write; `nil` for removals.
    init(kind: Kind, subscription: Subscription?, generation: Int, settings: RegistrationSettings) {
        self.kind = kind
        self.generation = generation
        let path = HubPath(endpoint: settings.connection.endpoint, hub: settings.hub)
        let (method, target): (String, String)
        var fields: [HeaderField] = []
        var body: [UInt8] = []
        switch kind {
        case .look:
            method = "GET"
            // Only rounds with a subscription make this call.
            target = subscription.map { path.registrations(of: $0.channel) } ?? "/"
        case .reserve:
            (method, target) = ("POST", path.newID)
        case .put(let template, let id):
            (method, target) = ("PUT", path.registration(id))
            fields = [HeaderField("Content-Type", RegistrationEntry.contentType)]
            if let subscription {
                let template = template.flatMap { name in subscription.templates.first { $0.name == name } }
                // A send addresses a template by a tag. The hub adds that tag by itself only in installations.
                let name = template.flatMap { try? Tag($0.name) }
                body =
                    RegistrationEntry(
                        channel: subscription.channel, tags: subscription.tags + (name.map { [$0] } ?? []),
                        template: template
                    ).bytes
            }
        case .drop(let id):
            (method, target) = ("DELETE", path.registration(id))
            fields = [HeaderField("If-Match", "*")]
        case .install(let id):
            (method, target) = ("PUT", path.installation(id))
            fields = [HeaderField("Content-Type", InstallationBody.contentType)]
            if let subscription {
                body =
                    InstallationBody(
                        id: id, channel: subscription.channel, tags: subscription.tags,
                        templates: subscription.templates, userID: subscription.userID
                    ).bytes
            }
        case .uninstall(let id):
            (method, target) = ("DELETE", path.installation(id))
        }
        request = HubRequest(
            method: method, endpoint: settings.connection.endpoint, target: target, fields: fields, body: body)
    }
}
