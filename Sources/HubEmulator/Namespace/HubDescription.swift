import ByteText
public import NotificationHub

/// A hub's description in its namespace: the access rules with their keys, and the values that its creator set.
public struct HubDescription: Sendable, Hashable {
    /// The most rules of one hub, as in Azure.
    static let rulesMax = 12

    public var rules: [AccessRule]
    /// An ISO 8601 duration. It is returned to clients but does not end registrations.
    var registrationTTL = "P10675199DT2H48M5.4775807S"
    /// Credentials and other members, returned as they were written. The emulator does not call any platform.
    var others: [XMLElement] = []
    var created: HubTime
    var modified: HubTime

    public init(rules: [AccessRule], at now: HubTime) {
        self.rules = rules
        (created, modified) = (now, now)
    }

    /// The members in the order in which .NET reads them.
    private static let order: [String] = {
        let known = [
            "ApnsCredential", "RegistrationTtl", "WnsCredential", "AuthorizationRules", "GcmCredential",
            "MpnsCredential", "DailyMaxActiveDevices", "DailyMaxActiveRegistrations", "DailyApiCalls", "UserMetadata",
            "AdmCredential", "Status", "BaiduCredential", "FcmV1Credential", "BrowserCredential",
        ]
        return known + Platform.native.map { "\($0.facts.service)Credential" }.filter { !known.contains($0) }
    }()

    // MARK: Reading

    /// Applies a client's Atom entry. The rules stay unchanged if it names none.
    mutating func read(_ body: [UInt8], at now: HubTime) throws(Refusal) {
        let entry = try XMLElement(body: body)
        guard entry.localName == "entry", let description = entry.child("content")?.child("NotificationHubDescription")
        else { throw .badRequest("The body must be an Atom entry with a NotificationHubDescription in its content") }
        try read(description)
        modified = now
    }

    private mutating func read(_ description: XMLElement, rulesMax: Int = Self.rulesMax) throws(Refusal) {
        others = []
        for element in description.elements where Self.order.contains(String(element.localName)) {
            switch element.localName {
            case "RegistrationTtl":
                guard element.text.hasPrefix("P"), element.text.utf8.count <= 64 else {
                    throw .badRequest("RegistrationTtl must be an ISO 8601 duration, such as P90D")
                }
                registrationTTL = element.text
            case "AuthorizationRules":
                let rules = try Self.rules(element)
                guard rules.count <= rulesMax else { throw .badRequest("A hub has at most \(rulesMax) access rules") }
                if !rules.isEmpty { self.rules = rules }
            // A client may send back figures that it has read.
            case "DailyMaxActiveDevices", "DailyMaxActiveRegistrations", "DailyApiCalls": break
            default: others.append(try element.plain())
            }
        }
    }

    private static func rules(_ list: XMLElement) throws(Refusal) -> [AccessRule] {
        var rules: [AccessRule] = []
        for element in list.elements {
            let name = element.child("KeyName")?.text ?? ""
            let key = element.child("PrimaryKey")?.text ?? ""
            guard !name.isEmpty, name.utf8.count <= ConnectionString.keyNameLengthMax, !key.isEmpty,
                key.utf8.count <= AccessKey.lengthMax, !rules.contains(where: { $0.name == name })
            else { throw .badRequest("An access rule needs a name of its own and a key, of at most 256 characters") }
            var rights: AccessRule.Rights = []
            for right in element.child("Rights")?.elements ?? [] {
                guard let known = rightNames.first(where: { $0.name == right.text })?.right else {
                    throw .badRequest("An access right must be Listen, Send or Manage")
                }
                rights.insert(known)
            }
            let secondary = element.child("SecondaryKey").flatMap { $0.text.isEmpty ? nil : AccessKey($0.text) }
            rules.append(
                AccessRule(name: name, primaryKey: AccessKey(key), secondaryKey: secondary, rights: rights))
        }
        return rules
    }

    /// The rights, in the service's order.
    private static let rightNames: [(name: String, right: AccessRule.Rights)] = [
        ("Listen", .listen), ("Manage", .manage), ("Send", .send),
    ]

    // MARK: Writing

    /// The `NotificationHubDescription` element.
    /// - Parameter daily: `nil` in the answers to creating and updating a hub, which omit the figures.
    func xml(_ daily: DailyFigures? = nil) -> String {
        var members = others.map { (name: $0.name, text: $0.markup) }
        members.append(("RegistrationTtl", RegistrationXML.element("RegistrationTtl", registrationTTL)))
        members.append(
            ("AuthorizationRules", "<AuthorizationRules>\(rules.map(text).joined())</AuthorizationRules>"))
        for (name, value) in daily?.members ?? [] { members.append((name, "<\(name)>\(value)</\(name)>")) }
        let place = { (name: String) in Self.order.firstIndex(of: name) ?? Self.order.count }
        return
            "<NotificationHubDescription xmlns=\"\(RegistrationXML.namespace)\" xmlns:i=\"\(RegistrationXML.instance)\">"
            + members.sorted { place($0.name) < place($1.name) }.map(\.text).joined() + "</NotificationHubDescription>"
    }

    private func text(_ rule: AccessRule) -> String {
        let rights = Self.rightNames.filter { rule.rights.contains($0.right) }
            .map { "<AccessRights>\($0.name)</AccessRights>" }.joined()
        var out = "<AuthorizationRule i:type=\"SharedAccessAuthorizationRule\"><ClaimType>SharedAccessKey</ClaimType>"
        out += "<ClaimValue>None</ClaimValue><Rights>\(rights)</Rights>"
        out += "<CreatedTime>\(created.iso(fractionDigits: 7))</CreatedTime>"
        out += "<ModifiedTime>\(modified.iso(fractionDigits: 7))</ModifiedTime>"
        out += RegistrationXML.element("KeyName", rule.name)
        out += RegistrationXML.element("PrimaryKey", rule.primaryKey.revealed)
        if let key = rule.secondaryKey { out += RegistrationXML.element("SecondaryKey", key.revealed) }
        return out + "</AuthorizationRule>"
    }

    /// The Atom entry of the hub.
    /// - Parameters:
    ///   - saysCreated: false for the answer to an update.
    ///   - daily: `nil` in the answers to creating and updating a hub.
    func entry(
        name: HubName, address: String, author: String, saysCreated: Bool = true, daily: DailyFigures? = nil
    ) -> String {
        let url = XMLText.escaped(address)
        var out = "<entry xmlns=\"http://www.w3.org/2005/Atom\"><id>\(url)</id><title type=\"text\">\(name)</title>"
        if saysCreated { out += "<published>\(created.iso())</published>" }
        out +=
            "<updated>\(modified.iso())</updated><author><name>\(XMLText.escaped(author, in: .content))</name></author>"
        out += "<link rel=\"self\" href=\"\(url)\"/><content type=\"application/xml\">\(xml(daily))</content>"
        return out + "</entry>"
    }
}

// MARK: Storage

extension HubDescription {
    /// The form that a store keeps; it includes the keys.
    public var stored: [UInt8] {
        Array("<hub created=\"\(created.milliseconds)\" modified=\"\(modified.milliseconds)\">\(xml())</hub>".utf8)
    }

    /// Reads `stored`; `nil` for anything else.
    public init?(stored: [UInt8]) {
        guard let root = try? XMLReader.read(stored), root.localName == "hub",
            let created = root.attribute("created").flatMap({ Int64($0) }),
            let modified = root.attribute("modified").flatMap({ Int64($0) }), let description = root.elements.first
        else { return nil }
        self.init(rules: [], at: HubTime(milliseconds: created))
        // A connection string may have added one rule beyond the limit for clients.
        guard (try? read(description, rulesMax: .max)) != nil else { return nil }
        self.modified = HubTime(milliseconds: modified)
    }
}

extension XMLElement {
    /// The element without its own prefixes, because only `i:type` and `i:nil` keep their meaning in another document.
    fileprivate func plain() throws(Refusal) -> XMLElement {
        var plain = XMLElement(name: String(localName))
        for attribute in attributes {
            let name = Self.localPart(attribute.name)
            guard name == "type" || name == "nil" else { continue }
            guard plain.attribute(String(name)) == nil else {
                throw .badRequest("The attribute '\(name)' is given twice in one element")
            }
            plain.attributes.append(.init(name: "i:\(name)", value: attribute.value))
        }
        for child in children {
            if case .element(let element) = child {
                plain.children.append(.element(try element.plain()))
            } else {
                plain.children.append(child)
            }
        }
        return plain
    }
}
