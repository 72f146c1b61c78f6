import NotificationHub

/// One request to the hub, and what it is for.
struct RegistrationCall: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// What does the hub have for this channel?
        case look
        case reserve(template: String?)
        case put(template: String?, id: String)
        case drop(id: String)
        case install(id: String)
        case uninstall(id: String)
    }

    let kind: Kind
    /// Counts the wishes; a reply to an earlier one is old news.
    let generation: Int
    /// All but the token.
    let request: HubRequest

    /// - Parameter subscription: what is to be written; removals have none.
    init(kind: Kind, subscription: Subscription?, generation: Int, settings: RegistrationSettings) {
        self.kind = kind
        self.generation = generation
        let (endpoint, hub) = (settings.connection.endpoint, settings.hub)
        let (method, target): (String, String)
        var fields: [HeaderField] = []
        var body: [UInt8] = []
        switch kind {
        case .look:
            method = "GET"
            // Only a round with a subscription looks.
            target =
                subscription.map { RegistrationPath.registrations(of: $0.channel, endpoint: endpoint, hub: hub) } ?? "/"
        case .reserve:
            (method, target) = ("POST", RegistrationPath.newID(endpoint: endpoint, hub: hub))
        case .put(let template, let id):
            (method, target) = ("PUT", RegistrationPath.registration(id, endpoint: endpoint, hub: hub))
            fields = [HeaderField("Content-Type", RegistrationEntry.contentType)]
            if let subscription {
                body =
                    RegistrationEntry(
                        channel: subscription.channel, tags: subscription.tags,
                        template: template.flatMap { name in subscription.templates.first { $0.name == name } }
                    ).bytes
            }
        case .drop(let id):
            (method, target) = ("DELETE", RegistrationPath.registration(id, endpoint: endpoint, hub: hub))
            fields = [HeaderField("If-Match", "*")]
        case .install(let id):
            (method, target) = ("PUT", RegistrationPath.installation(id, endpoint: endpoint, hub: hub))
            fields = [HeaderField("Content-Type", InstallationBody.contentType)]
            if let subscription {
                body =
                    InstallationBody(
                        id: id, channel: subscription.channel, tags: subscription.tags,
                        templates: subscription.templates,
                        userID: subscription.userID
                    ).bytes
            }
        case .uninstall(let id):
            (method, target) = ("DELETE", RegistrationPath.installation(id, endpoint: endpoint, hub: hub))
        }
        request = HubRequest(method: method, endpoint: endpoint, target: target, fields: fields, body: body)
    }
}
