import ByteText
import NotificationHub

extension EmulatedHub {
    /// `POST /registrationids`: reserves an id for a registration.
    mutating func reserveID(_ context: CallContext) -> HubHTTPResponse {
        let address = location(context, "registrationids/\(RegistrationID(using: &random))")
        guard settings.era == .year2023 else { return reply(201, [address], contentType: nil) }
        let bare = HeaderField("Location", String(address.value.prefix { $0 != "?" }))
        return reply(201, [bare], contentType: RegistrationXML.entryType)
    }

    /// `POST /registrations`: each call creates a new registration.
    mutating func createRegistration(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try checkQuota()
        let registration = try RegistrationXML.read(
            context.request.body, id: RegistrationID(using: &random), tagsMax: settings.tagsPerRegistrationMax,
            templates: &templates)
        try check(DeviceClaim(registration), after: nil, context)
        store(registration)
        return entry(registration, context, place: .created)
    }

    /// `PUT /registrations/{id}`: creates or replaces; with `If-Match` it only replaces.
    mutating func putRegistration(_ text: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        guard let id = RegistrationID(text) else {
            throw .badRequest("The registration id '\(text.prefix(80))' must have the form number-number-number")
        }
        if retiredIDs.contains(id) { throw Refusal(status: 410, message: "The registration id is no longer valid") }
        let known = registrations.slot(id).flatMap { registrations.withoutTags($0) }
        if let condition = context.request.headers["If-Match"] {
            guard let known else { throw .notFound("") }
            try Self.check(condition, against: known)
        }
        if known == nil { try checkQuota() }
        var registration = try RegistrationXML.read(
            context.request.body, id: id, tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
        let before = registrations.slot(id).flatMap { registrations[$0] }
        try check(DeviceClaim(registration), after: before.map { DeviceClaim($0) }, context)
        if let before, isRestricted(context), before.handle == registration.handle,
            before.platform == registration.platform
        {
            registration.tags += DeviceClaim.protected(before.tags, missingIn: registration.tags)
        }
        registration.etag = (known?.etag ?? 0) &+ 1
        store(registration)
        return entry(registration, context, place: .replaced)
    }

    func registration(_ text: String) throws(Refusal) -> (slot: UInt32, Registration) {
        guard let slot = RegistrationID(text).flatMap({ registrations.slot($0) }), let found = registrations[slot]
        else {
            throw .notFound("")
        }
        return (slot, found)
    }

    mutating func readRegistration(_ text: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        let (_, registration) = try registration(text)
        return entry(registration, context, place: .read)
    }

    mutating func deleteRegistration(_ text: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        let (slot, registration) = try registration(text)
        guard let condition = context.request.headers["If-Match"] else {
            throw .badRequest("Deleting a registration needs the If-Match header")
        }
        try Self.check(condition, against: registration)
        removeRegistration(slot)
        return reply(200, contentType: nil)
    }

    /// Checks `If-Match`. Clients send `*`, `"1"`, `W/"1"` and the bare number.
    private static func check(_ condition: String, against registration: Registration) throws(Refusal) {
        let bare = condition.trimmed.filter { $0 != "\"" && $0 != "W" && $0 != "/" }
        guard bare == "*" || UInt32(bare) == registration.etag else {
            throw Refusal(status: 412, message: "The ETag does not match")
        }
    }

    func checkQuota() throws(Refusal) {
        let limit = min(settings.registrationsMax, settings.tier.devicesMax)
        guard registrations.count < limit else { throw .forbidden("The quota of registrations is exceeded") }
    }

    private mutating func entry(
        _ registration: Registration, _ context: CallContext, place: RegistrationXML.Place
    ) -> HubHTTPResponse {
        let form = RegistrationXML(era: settings.era, place: place)
        let address = location(context, "\(form.collection)/\(registration.id)").value
        let body = Array(form.entry(registration, address: address, at: context.now).utf8)
        guard settings.era == .year2018 else { return reply(200, contentType: form.contentType, body: body) }
        var fields = [HeaderField("ETag", "W/\"\(registration.etag)\"")]
        if place == .created { fields.append(HeaderField("Content-Location", address)) }
        return reply(200, fields, contentType: form.contentType, body: body)
    }

    // MARK: Lists

    /// `GET /registrations`: a list of all needs Manage; a list of one channel needs Listen.
    mutating func listRegistrations(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        guard let filter = context.target["$filter"] else {
            guard context.rights.contains(.manage) else { throw .rightMissing(.manage, in: settings.era) }
            return try page(context) { hub, start, limit in hub.registrations.slots(from: start, limit: limit) }
        }
        let handle = try Self.handle(filter: filter)
        return try page(context) { hub, start, limit in
            Array(hub.registrations.slots(handle: handle).lazy.filter { $0 >= start }.prefix(limit))
        }
    }

    /// `GET /tags/{tag}/registrations`: lists the registrations with a tag.
    mutating func listRegistrations(tag: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try page(context) { hub, start, limit in
            Array(hub.registrations.slots(tag: tag).lazy.filter { $0 >= start }.prefix(limit))
        }
    }

    /// Reads `ChannelUri eq '…'` or the platform's own name for the handle. A doubled quote stands for one.
    private static func handle(filter: String) throws(Refusal) -> String {
        let parts = filter.trimmed.split(separator: " ", maxSplits: 2)
        let isHandle = { (name: Substring) in
            Platform.native.contains { $0.facts.handle.equalsIgnoringASCIICase(name) }
        }
        guard parts.count == 3, isHandle(parts[0]), parts[1].equalsIgnoringASCIICase("eq") else {
            throw .badRequest("The $filter must have the form ChannelUri eq 'handle'")
        }
        let quoted = String(parts[2]).trimmed
        guard quoted.utf8.count >= 2, quoted.hasPrefix("'"), quoted.hasSuffix("'") else {
            throw .badRequest("The handle in $filter must be in single quotes")
        }
        return quoted.dropFirst().dropLast().split(separator: "''", omittingEmptySubsequences: false)
            .joined(separator: "'")
    }

    private mutating func page(
        _ context: CallContext, slots: (EmulatedHub, UInt32, Int) -> [UInt32]
    ) throws(Refusal) -> HubHTTPResponse {
        var top = 100
        if let text = context.target["$top"] {
            guard let number = Int(text), 1...100 ~= number else { throw .badRequest("$top must be 1 to 100") }
            top = number
        }
        var start: UInt32 = 0
        if let token = context.target["continuationtoken"] {
            guard let slot = Self.slot(token: token) else { throw .badRequest("The continuation token is invalid") }
            start = slot
        }
        let found = slots(self, start, top + 1)
        let form = RegistrationXML(era: settings.era, place: .listed)
        // In 2018 the addresses of entries have the list's path; in both eras they have its query.
        let path = context.target.segments.dropFirst().map(\.percentEncoded).joined(separator: "/")
        let base =
            "\(context.request.base)/\(settings.name)/\(settings.era == .year2018 ? path : form.collection)"
        let query = context.target.rawQuery.isEmpty ? "" : "?" + context.target.rawQuery
        let entries = found.prefix(top).compactMap { registrations[$0] }.map { registration in
            (registration, "\(base)/\(registration.id)\(query)")
        }
        var fields: [HeaderField] = []
        var next: String?
        if found.count > top, let following = found.last {
            let token = Base64.encode("\(following);n".utf8).percentEncoded
            fields.append(HeaderField("x-ms-continuationtoken", token))
            let kept = context.target.rawQuery.split(separator: "&").filter {
                !$0.lowercased().hasPrefix("continuationtoken=")
            }
            // The service encodes the token in the link twice.
            let twice = "continuationtoken=" + token.percentEncoded
            next = base + "?" + (kept.map(String.init) + [twice]).joined(separator: "&")
        }
        let body = form.feed(entries, address: base + query, next: next, at: context.now)
        return reply(200, fields, contentType: form.contentType, body: Array(body.utf8))
    }

    /// Accepts a token from the header, or from the link, where it is encoded twice.
    private static func slot(token: String) -> UInt32? {
        guard let plain = token.percentDecoded(),
            let bytes = Base64.decode(plain), let text = String(validating: bytes, as: UTF8.self), text.hasSuffix(";n")
        else { return nil }
        return UInt32(text.dropLast(2))
    }
}
