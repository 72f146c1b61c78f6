import ByteText
import NotificationHub

/// An installation as the client describes it. Registrations are derived from it.
struct Installation: Sendable, Hashable {
    struct Template: Sendable, Hashable {
        var body: String
        var headers: [HeaderField] = []
        var expiry: String?
        var tags: [String] = []
    }

    struct NamedTemplate: Sendable, Hashable {
        var name: String
        var template: Template
    }

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
    var templates: [NamedTemplate] = []
    /// Secondary tiles of Windows, kept as sent; obsolete.
    var secondaryTiles: JSONTree?

    /// The platforms and their names in installations.
    static let platforms: [(name: String, format: NotificationFormat)] = [
        ("apns", .apple), ("wns", .windows), ("mpns", .windowsphone), ("gcm", .gcm), ("fcmv1", .fcmv1), ("adm", .adm),
        ("baidu", .baidu), ("browser", .browser), ("xiaomi", .xiaomi),
    ]

    var format: NotificationFormat? {
        Self.platforms.first { $0.name.equalsIgnoringASCIICase(platform) }?.format
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

    private mutating func read(_ member: JSONTree.Member) throws(Refusal) {
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
            variables = values.compactMap { value in
                value.value.scalarText.map { TemplateProperty(name: value.name, value: $0) }
            }
        case ("templates", .object(let values)):
            for value in values { set(try Self.template(value.value), named: value.name) }
        case ("secondaryTiles", let value): secondaryTiles = value
        case ("tags", _), ("templates", _), ("pushVariables", _), ("platform", _), ("userId", _), ("expirationTime", _):
            throw .badRequest("\(member.name) has the wrong type")
        // Ignored: installationId, lastUpdate, unknown members, and pushChannelExpired, which only the hub sets.
        default: break
        }
    }

    mutating func set(_ template: Template, named name: String) {
        if let index = templates.firstIndex(where: { $0.name == name }) {
            templates[index].template = template
        } else {
            templates.append(NamedTemplate(name: name, template: template))
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
    static func template(_ json: JSONTree) throws(Refusal) -> Template {
        var json = json
        if let text = json.string, let inner = JSONTree(parsing: Array(text.utf8)) { json = inner }
        guard case .object = json, let body = json["body"]?.string else {
            throw .badRequest("A template must be an object with a body")
        }
        var template = Template(body: body)
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
        var members: [JSONTree.Member] = [.init("installationId", .string(id))]
        if let userID { members.append(.init("userId", .string(userID))) }
        members.append(.init("pushChannel", pushChannel))
        members.append(.init("pushChannelExpired", .bool(channelIsExpired)))
        members.append(.init("platform", .string(platform)))
        let expiry = (expires ?? .never).iso(fractionDigits: 7)
        members.append(.init("expirationTime", .string(expiry)))
        if !tags.isEmpty { members.append(.init("tags", .array(tags.map { .string($0) }))) }
        if !variables.isEmpty {
            members.append(.init("pushVariables", .object(variables.map { .init($0.name, .string($0.value)) })))
        }
        if !templates.isEmpty {
            members.append(
                .init("templates", .object(templates.map { .init($0.name, $0.template.json(named: $0.name)) })))
        }
        if let secondaryTiles { members.append(.init("secondaryTiles", secondaryTiles)) }
        return .object(members)
    }
}

extension Installation.Template {
    fileprivate func json(named name: String) -> JSONTree {
        var members: [JSONTree.Member] = [.init("body", .string(body))]
        if !headers.isEmpty {
            members.append(.init("headers", .object(headers.map { .init($0.name, .string($0.value)) })))
        }
        if let expiry { members.append(.init("expiry", .string(expiry))) }
        let own = tags.contains(name) ? tags : [name] + tags
        members.append(.init("tags", .array(own.map { .string($0) })))
        return .object(members)
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
    var handle: String {
        channelObject?["endpoint"]?.string ?? pushChannel.string ?? ""
    }

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
        for named in templates {
            var registration = native
            registration.id = RegistrationID(of: id, template: named.name)
            do throws(TemplateProblem) {
                registration.template = try cache.template(
                    named.template.body, name: named.name, headers: named.template.headers,
                    expiry: platform == .apple ? named.template.expiry : nil, platform: platform)
            } catch {
                throw .badRequest("Invalid template '\(named.name.prefix(80))': \(error.message)")
            }
            let extra = try TagRules.check(named.template.tags.filter { $0 != named.name }, max: tagsMax)
            registration.tags = native.tags + [named.name] + extra
            made.append(registration)
        }
        return channelIsExpired ? [] : made
    }
}
