import ByteText
import NotificationHub

/// An installation as the client describes it. Registrations are derived from it.
struct Installation: Sendable, Hashable {
    struct Template: Sendable, Hashable {
        var name: String
        var body: String
        var headers: [HeaderField] = []
        var expiry: String?
        var tags: [String] = []
    }

    /// The most templates. The service documents no limit; this one bounds the registrations that one call makes.
    static let templatesMax = 100

    var id: String
    var userID: String?
    /// A string for most platforms, an object with endpoint and keys for browsers.
    var pushChannel: JSONTree
    /// True if the platform has reported the channel as dead. The installation then has no registrations until the
    /// client names a channel again.
    var channelIsExpired = false
    var platform: String
    var expires: HubTime?
    var tags: [String] = []
    var variables: [TemplateProperty] = []
    /// The templates, in the client's order.
    var templates: [Template] = []
    /// Secondary tiles of Windows, kept as sent; obsolete.
    var secondaryTiles: JSONTree?

    var format: Platform? {
        Platform.native.first { $0.facts.service.equalsIgnoringASCIICase(platform) }
    }
}

// MARK: JSON

extension Installation {
    init(json: JSONTree, id: String) throws(Refusal) {
        guard case .object(let members) = json else { throw .badRequest("An installation must be a JSON object") }
        self.id = id
        pushChannel = .null
        platform = ""
        for member in members { try read(member) }
        if let named = json["installationId"]?.string, !named.isEmpty, named != id {
            throw .badRequest("The installationId of the body differs from the one of the address")
        }
        guard format != nil else { throw .badRequest("The platform '\(platform.prefix(40))' is not supported") }
        guard !handle.isEmpty, handle.utf8.count <= 4096 else { throw .badRequest("The pushChannel is missing") }
        guard format != .apple || DeviceHandle.isToken(handle) else {
            throw .badRequest("The pushChannel must be an even number of hexadecimal digits")
        }
        if let token = pushChannel.string { pushChannel = .string(DeviceHandle.kept(token, on: format)) }
    }

    mutating func read(_ member: JSONTree.Member) throws(Refusal) {
        // An absent member and null have the same meaning.
        guard member.value != .null else { return }
        switch (member.name, member.value) {
        case ("userId", .string(let text)), ("userID", .string(let text)): userID = text.isEmpty ? nil : text
        case ("pushChannel", let value): pushChannel = value
        case ("platform", .string(let text)): platform = text
        case ("expirationTime", .string(let text)):
            guard let time = HubTime(clientText: text) else { throw .badRequest("expirationTime must be a time") }
            expires = time
        case ("tags", .array(let values)): tags = try Self.strings(values, of: "tags")
        case ("pushVariables", .object(let values)):
            variables = values.compactMap(TemplateProperty.init)
        case ("templates", .object(let values)):
            guard values.count <= Self.templatesMax else {
                throw .badRequest("There are more than \(Self.templatesMax) templates")
            }
            for value in values { set(try Self.template(value.value, named: value.name)) }
        case ("secondaryTiles", let value): secondaryTiles = value
        case ("tags", _), ("templates", _), ("pushVariables", _), ("platform", _), ("userId", _), ("expirationTime", _):
            throw .badRequest("\(member.name) has the wrong type")
        // Ignored: installationId, lastUpdate, unknown members, and pushChannelExpired, which only the hub sets.
        default: break
        }
    }

    mutating func set(_ template: Template) {
        if let index = templates.firstIndex(where: { $0.name == template.name }) {
            templates[index] = template
        } else {
            templates.append(template)
        }
    }

    static func strings(_ values: [JSONTree], of name: String) throws(Refusal) -> [String] {
        var strings: [String] = []
        for value in values {
            guard let text = value.string else { throw .badRequest("\(name) must hold strings") }
            strings.append(text)
        }
        return strings
    }

    /// A template object, or its JSON as a string.
    static func template(_ json: JSONTree, named name: String) throws(Refusal) -> Template {
        var json = json
        if let text = json.string, let inner = JSONTree(parsing: Array(text.utf8)) { json = inner }
        guard case .object = json, let body = json["body"]?.string else {
            throw .badRequest("A template must be an object with a body")
        }
        var template = Template(name: name, body: body)
        if let headers = json["headers"], headers != .null { template.headers = try self.headers(headers) }
        template.expiry = json["expiry"]?.scalarText
        if case .array(let values)? = json["tags"] { template.tags = try strings(values, of: "tags") }
        return template
    }

    static func headers(_ json: JSONTree) throws(Refusal) -> [HeaderField] {
        guard case .object(let members) = json, members.count <= 50 else {
            throw .badRequest("headers must be an object of strings")
        }
        var fields: [HeaderField] = []
        for member in members {
            guard let text = member.value.scalarText else { throw .badRequest("headers must be an object of strings") }
            fields.append(HeaderField(member.name, text))
        }
        return fields
    }

    /// The answer to `GET`: unset members are left out, and each template has its own name among its tags.
    var json: JSONTree {
        [
            "installationId": .string(id), "userId": userID.map { .string($0) }, "pushChannel": pushChannel,
            "pushChannelExpired": .bool(channelIsExpired), "platform": .string(platform),
            "expirationTime": .string((expires ?? .never).iso(fractionDigits: 7)),
            "tags": tags.isEmpty ? nil : .strings(tags),
            "pushVariables": variables.isEmpty ? nil : .object(variables.map { .init($0.name, .string($0.value)) }),
            "templates": templates.isEmpty
                ? nil : .object(templates.map { .init($0.name, $0.json) }),
            "secondaryTiles": secondaryTiles,
        ]
    }
}

extension Installation.Template {
    fileprivate var json: JSONTree {
        [
            "body": .string(body), "headers": headers.isEmpty ? nil : .headers(headers),
            "expiry": expiry.map { .string($0) }, "tags": .strings(tags.contains(name) ? tags : [name] + tags),
        ]
    }
}

// MARK: Registrations

extension Installation {
    /// A browser's channel, which is either an object with keys or the text of such an object.
    private var channelObject: JSONTree? {
        if case .object = pushChannel { return pushChannel }
        guard format == .browser, let text = pushChannel.string else { return nil }
        return JSONTree(parsing: Array(text.utf8))
    }

    /// The device's address on its platform.
    var handle: String { channelObject?["endpoint"]?.string ?? pushChannel.string ?? "" }

    /// One native registration and one for each template. Each has the tags of the installation, its id and its user;
    /// those of templates also have the template's name as a tag. Empty if the channel is dead.
    func registrations(tagsMax: Int, templates cache: inout TemplateCache) throws(Refusal) -> [Registration] {
        guard let platform = format else { return [] }
        var reserved: [String] = []
        do throws(TagProblem) {
            reserved.append(try Tag(installation: id).text)
            if let userID { reserved.append(try Tag(user: userID).text) }
        } catch {
            throw .badRequest("The installation id or user id cannot be a tag: \(error)")
        }
        let checked = try TagRules.check(tags, max: tagsMax)
        var native = Registration(id: RegistrationID(of: id, template: nil), platform: platform, handle: handle)
        native.tags = reserved + checked
        native.variables = variables
        native.expires = expires ?? .never
        native.installation = id
        if let keys = channelObject {
            native.extras = Registration.Extras(p256dh: keys["p256dh"]?.string, auth: keys["auth"]?.string)
        }
        var made = [native]
        for template in templates {
            var registration = native
            registration.id = RegistrationID(of: id, template: template.name)
            do throws(TemplateProblem) {
                registration.template = try cache.template(
                    TemplateSource(
                        body: template.body, name: template.name, headers: template.headers,
                        expiry: platform == .apple ? template.expiry : nil, platform: platform))
            } catch {
                throw .badRequest("Invalid template '\(template.name.prefix(80))': \(error.message)")
            }
            let extra = try TagRules.check(template.tags.filter { $0 != template.name }, max: tagsMax)
            registration.tags = native.tags + [template.name] + extra
            made.append(registration)
        }
        return channelIsExpired ? [] : made
    }
}
