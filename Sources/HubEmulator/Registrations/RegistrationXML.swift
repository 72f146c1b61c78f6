import ByteText
import NotificationHub

/// Registrations as Atom entries, read in the forms that clients send and written in the service's recorded form.
struct RegistrationXML {
    static let entryType = "application/atom+xml; type=entry; charset=utf-8"
    static let feedType = "application/atom+xml; type=feed; charset=utf-8"
    static let namespace = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"

    // MARK: Reading

    /// Reads a client's entry, which does not contain the id.
    /// - Parameter tagsMax: the most tags.
    static func read(
        _ body: [UInt8], id: RegistrationID, tagsMax: Int, templates: inout TemplateCache
    ) throws(Refusal) -> Registration {
        try read(try XMLElement(body: body), id: id, tagsMax: tagsMax, templates: &templates)
    }

    /// Reads an entry, or a description without an entry.
    static func read(
        _ entry: XMLElement, id: RegistrationID, tagsMax: Int, templates: inout TemplateCache
    ) throws(Refusal) -> Registration {
        guard let description = entry.localName == "entry" ? self.description(in: entry) : entry else {
            throw .badRequest("The body must be an Atom entry with a registration description in its content")
        }
        // An old iOS library names the kind in an attribute.
        let kind = description.attribute("type").map { XMLElement.localPart($0) } ?? description.localName
        let suffix = "RegistrationDescription"
        guard kind.hasSuffix(suffix) else { throw unknown(kind) }
        var word = kind.dropLast(suffix.count)
        let isTemplate = word.hasSuffix("Template")
        if isTemplate { word = word.dropLast("Template".count) }
        guard
            let platform = Platform.native.first(where: { $0.facts.registration.equalsIgnoringASCIICase(word) })
                ?? (word.equalsIgnoringASCIICase("Fcm") ? .gcm : nil)
        else { throw unknown(kind) }
        var registration = Registration(id: id, platform: platform, handle: "")
        try readHandle(description, into: &registration)
        registration.tags = try TagRules.split(description.child("Tags")?.text, max: tagsMax)
        registration.variables = try variables(description.child("PushVariables")?.text)
        if isTemplate { registration.template = try template(description, platform: platform, &templates) }
        return registration
    }

    /// The description in an entry. The iOS library sends it as text of a `text/xml` content.
    private static func description(in entry: XMLElement) -> XMLElement? {
        guard let content = entry.child("content") else { return nil }
        return content.elements.first ?? (try? XMLReader.read(Array(content.text.trimmed.utf8)))
    }

    private static func unknown(_ kind: Substring) -> Refusal {
        .badRequest("The registration type '\(kind.prefix(80))' is not supported")
    }

    private static func readHandle(_ description: XMLElement, into registration: inout Registration) throws(Refusal) {
        let text = { (name: String) in String(description.child(name)?.text.trimmed ?? "") }
        var extras = Registration.Extras()
        registration.handle = text(registration.platform.facts.handle)
        switch registration.platform {
        case .apple:
            guard DeviceHandle.isToken(registration.handle) else {
                throw .badRequest("DeviceToken must be an even number of hexadecimal digits")
            }
            registration.handle = DeviceHandle.kept(registration.handle, on: .apple)
        case .windows, .windowsphone:
            let tile = text("SecondaryTileName")
            if !tile.isEmpty { extras.secondaryTile = tile }
        case .baidu:
            extras.baiduUserID = text("BaiduUserId")
            if let type = description.child("MessageType")?.text { extras.baiduMessageType = type }
        case .browser: (extras.p256dh, extras.auth) = (text("P256DH"), text("Auth"))
        default: break
        }
        if extras != Registration.Extras() { registration.extras = extras }
        guard !registration.handle.isEmpty else { throw .badRequest("The registration has no device handle") }
        guard registration.handle.utf8.count <= 4096 else { throw .badRequest("The device handle is too long") }
    }

    private static func template(
        _ description: XMLElement, platform: Platform, _ templates: inout TemplateCache
    ) throws(Refusal) -> Template {
        guard let body = description.child("BodyTemplate")?.text, !body.trimmed.isEmpty else {
            throw .badRequest("The template registration has no BodyTemplate")
        }
        var headers: [HeaderField] = []
        for header in description.child("\(platform.facts.service)Headers")?.elements ?? [] {
            guard headers.count < 50 else { throw .badRequest("The template has too many headers") }
            headers.append(
                HeaderField(String(header.child("Header")?.text.trimmed ?? ""), header.child("Value")?.text ?? ""))
        }
        let present = { (name: String) -> String? in
            guard let element = description.child(name), element.attribute("nil") != "true" else { return nil }
            return element.text
        }
        let name = present("TemplateName").map { String($0.trimmed) }
        do throws(TemplateProblem) {
            return try templates.template(
                TemplateSource(
                    body: body, name: name?.isEmpty == true ? nil : name, headers: headers,
                    expiry: platform == .apple ? present("Expiry") : nil,
                    priority: platform == .apple ? present("Priority") : nil, platform: platform))
        } catch {
            throw .badRequest("Invalid template: \(error.message)")
        }
    }

    static func variables(_ text: String?) throws(Refusal) -> [TemplateProperty] {
        guard let text, !text.trimmed.isEmpty else { return [] }
        guard case .object(let members)? = JSONTree(parsing: Array(text.utf8)) else {
            throw .badRequest("PushVariables must be a JSON object of strings")
        }
        return members.compactMap(TemplateProperty.init)
    }

    // MARK: Writing

    /// The kind of answer that contains the entry.
    enum Place {
        case created, replaced, read, listed
    }

    let era: APIEra
    let place: Place

    private var isWritten: Bool { place == .created || place == .replaced }

    /// The collection's segment in the address of an entry.
    var collection: String { isWritten || era == .year2018 ? "registrations" : "resources" }

    /// The content type. Today's service labels only entries that a client has written as Atom.
    var contentType: String {
        if era == .year2023, !isWritten { return "application/xml" }
        return place == .listed ? Self.feedType : Self.entryType
    }

    private static let atom = "http://www.w3.org/2005/Atom"
    private static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

    private var emptyEnd: String { era == .year2018 ? "/>" : " />" }

    func entry(_ registration: Registration, address: String, at now: HubTime) -> String {
        let time = now.iso()
        let url = XMLText.escaped(address)
        let etag = "W/&quot;\(registration.etag)&quot;"
        var out = "<entry "
        switch (era, place) {
        case (.year2018, .listed): out += "a:etag=\"\(etag)\" xmlns:a=\"\(Self.metadata)\">"
        case (.year2018, _): out += "a:etag=\"\(etag)\" xmlns=\"\(Self.atom)\" xmlns:a=\"\(Self.metadata)\">"
        case (.year2023, .listed): out += "p2:etag=\"\(etag)\" xmlns:p2=\"\(Self.metadata)\">"
        case (.year2023, _): out += "p1:etag=\"\(etag)\" xmlns:p1=\"\(Self.metadata)\" xmlns=\"\(Self.atom)\">"
        }
        out += "<id>\(url)</id><title type=\"text\">\(registration.id)</title><published>\(time)</published>"
        out += "<updated>\(time)</updated><link rel=\"self\" href=\"\(url)\"\(emptyEnd)"
        out += "<content type=\"application/xml\">"
        return out + description(registration) + "</content></entry>"
    }

    func feed(
        _ entries: [(registration: Registration, address: String)], address: String, next: String?, at now: HubTime
    ) -> String {
        let url = XMLText.escaped(address)
        var out = "<feed xmlns=\"\(Self.atom)\"><title type=\"text\">Registrations</title><id>\(url)</id>"
        out += "<updated>\(now.iso())</updated><link rel=\"self\" href=\"\(url)\"\(emptyEnd)"
        if let next { out += "<link rel=\"next\" href=\"\(XMLText.escaped(next))\"\(emptyEnd)" }
        for (registration, address) in entries { out += entry(registration, address: address, at: now) }
        return out + "</feed>"
    }

    func description(_ registration: Registration) -> String {
        let kind = registration.platform.facts.registration + (registration.template == nil ? "" : "Template")
        let name = kind + "RegistrationDescription"
        let digits = era == .year2018 && registration.installation == nil ? 3 : 7
        let expires = registration.expires.iso(fractionDigits: digits, suffix: isWritten ? "" : "Z")
        var namespaces = ["xmlns=\"\(Self.namespace)\"", "xmlns:i=\"\(Self.instance)\""]
        if era == .year2023 { namespaces.reverse() }
        var out = "<\(name) \(namespaces.joined(separator: " "))><ETag>\(registration.etag)</ETag>"
        out += "<ExpirationTime>\(expires)</ExpirationTime><RegistrationId>\(registration.id)</RegistrationId>"
        if !registration.tags.isEmpty { out += Self.element("Tags", registration.tags.joined(separator: ",")) }
        if !registration.variables.isEmpty {
            let members = registration.variables.map { JSONTree.Member($0.name, .string($0.value)) }
            out += Self.element("PushVariables", String(decoding: JSONTree.object(members).bytes, as: UTF8.self))
        }
        out += Self.handle(registration)
        if let template = registration.template { out += Self.template(template.source, registration) }
        return out + "</\(name)>"
    }

    private static func handle(_ registration: Registration) -> String {
        let extras = registration.extras ?? Registration.Extras()
        let handle = element(registration.platform.facts.handle, registration.handle)
        return switch registration.platform {
        case .windows, .windowsphone: handle + (extras.secondaryTile.map { element("SecondaryTileName", $0) } ?? "")
        case .baidu: element("BaiduUserId", extras.baiduUserID ?? "") + handle
        case .browser: handle + element("P256DH", extras.p256dh ?? "") + element("Auth", extras.auth ?? "")
        default: handle
        }
    }

    private static func template(_ template: TemplateSource, _ registration: Registration) -> String {
        // A CDATA section cannot contain its own end mark.
        let body = template.body.split(separator: "]]>", omittingEmptySubsequences: false).joined(
            separator: "]]]]><![CDATA[>")
        var out = "<BodyTemplate><![CDATA[\(body)]]></BodyTemplate>"
        let name = element("TemplateName", template.name)
        switch registration.platform {
        case .apple:
            out += element("Expiry", template.expiry) + name
            if let priority = template.priority { out += element("Priority", priority) }
            out += headers(registration.platform.facts.service, template.headers)
        case .windows, .windowsphone: out += headers(registration.platform.facts.service, template.headers) + name
        case .baidu:
            out += name
            if let type = registration.extras?.baiduMessageType { out += element("MessageType", type) }
        default: out += name
        }
        return out
    }

    private static func headers(_ word: String, _ headers: [HeaderField]) -> String {
        guard !headers.isEmpty else { return "<\(word)Headers/>" }
        let inner = headers.map { field in
            "<\(word)Header>" + element("Header", field.name) + element("Value", field.value) + "</\(word)Header>"
        }
        return "<\(word)Headers>" + inner.joined() + "</\(word)Headers>"
    }

    static func element(_ name: String, _ text: String?) -> String {
        guard let text else { return "<\(name) i:nil=\"true\"/>" }
        return "<\(name)>" + XMLText.escaped(text, in: .content) + "</\(name)>"
    }
}
