import NotificationHub

/// An installation whose registrations do not exist yet.
struct LaggingInstallation: Sendable {
    var due: HubTime
    var id: String
}

extension EmulatedHub {
    /// `PUT /installations/{id}`: creates or replaces an installation.
    mutating func putInstallation(_ id: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        let installation = try Installation(json: try JSONTree(body: context.request.body), id: id)
        if installations[id] == nil { try checkQuota() }
        try replace(try permitted(installation, after: installations[id], context), at: context.now)
        return reply(200)
    }

    /// `GET /installations/{id}`: JSON labelled as XML, as in recordings of the service.
    mutating func readInstallation(_ id: String) throws(Refusal) -> HubHTTPResponse {
        guard let installation = installations[id] else { throw .notFound("Installation not found") }
        return reply(200, body: installation.json.bytes)
    }

    mutating func patchInstallation(_ id: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        guard let installation = installations[id] else { throw .notFound("Installation not found") }
        let patch = try JSONTree(body: context.request.body)
        let patched = try InstallationPatch.apply(patch, to: installation)
        let granted = try InstallationPatch.withdrawing(patch, from: installation)
        try replace(try permitted(patched, after: granted, context), at: context.now)
        return reply(200)
    }

    /// The answer is the same if the installation does not exist.
    mutating func deleteInstallation(_ id: String) -> HubHTTPResponse {
        if installations.removeValue(forKey: id) != nil { record(.installation(id: id, json: nil)) }
        for slot in registrations.slots(installation: id) { removeRegistration(slot) }
        return reply(204)
    }

    /// - Parameter handle: the dead channel. The client may have named another channel since.
    mutating func expireChannel(of id: String, handle: String) {
        guard var installation = installations[id], installation.handle == handle else { return }
        installation.channelIsExpired = true
        installations[id] = installation
        record(.installation(id: id, json: installation.json.bytes))
    }

    /// The installation with the values that a back end has set for the same device, if this client may not set them.
    private func permitted(
        _ installation: Installation, after known: Installation?, _ context: CallContext
    ) throws(Refusal) -> Installation {
        guard isRestricted(context) else { return installation }
        try check(DeviceClaim(installation), after: known.map { DeviceClaim($0) }, context)
        return known.map { installation.keepingGrants(of: $0) } ?? installation
    }

    private mutating func replace(_ installation: Installation, at now: HubTime) throws(Refusal) {
        let made = try installation.registrations(tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
        installations[installation.id] = installation
        record(.installation(id: installation.id, json: installation.json.bytes))
        if settings.installationLagMilliseconds > 0 {
            let due = now.advanced(byMilliseconds: settings.installationLagMilliseconds)
            lagging.append(LaggingInstallation(due: due, id: installation.id))
        } else {
            apply(made, of: installation.id)
        }
    }

    private mutating func apply(_ made: [Registration], of id: String) {
        for slot in registrations.slots(installation: id) {
            guard let old = registrations.withoutTags(slot), !made.contains(where: { $0.id == old.id }) else {
                continue
            }
            removeRegistration(slot)
        }
        for registration in made {
            var registration = registration
            if let old = registrations.slot(registration.id).flatMap({ registrations.withoutTags($0) }) {
                registration.etag = old.etag &+ 1
            }
            store(registration)
        }
    }

    /// Makes the registrations of installations whose delay is over.
    mutating func takeEffect(at now: HubTime) {
        while let first = lagging.first, first.due <= now {
            lagging.removeFirst()
            guard let installation = installations[first.id],
                let made = try? installation.registrations(
                    tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
            else { continue }
            apply(made, of: first.id)
        }
    }
}
