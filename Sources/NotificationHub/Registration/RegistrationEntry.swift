/// The body of a registration: an Atom entry with the device, its tags and, for a template registration, the template.
public struct RegistrationEntry: Sendable, Hashable {
    public static let contentType = "application/atom+xml;type=entry;charset=utf-8"

    public var channel: PushChannel
    public var tags: [Tag]
    /// The template; `nil` for a native registration, which receives payloads as sent.
    public var template: PushTemplate?

    public init(channel: PushChannel, tags: [Tag], template: PushTemplate? = nil) {
        self.channel = channel
        self.tags = tags
        self.template = template
    }

    /// The entry, with its elements in the order that the service requires. Characters that XML cannot contain are
    /// replaced.
    public var bytes: [UInt8] {
        let facts = channel.platform.facts
        var description = XMLElement(
            name: facts.registration + (template == nil ? "" : "Template") + "RegistrationDescription")
        description.attributes = [
            .init(name: "xmlns:i", value: "http://www.w3.org/2001/XMLSchema-instance"),
            .init(name: "xmlns", value: "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"),
        ]
        if !tags.isEmpty { description.append("Tags", tags.map(\.text).joined(separator: ",")) }
        description.append(facts.handle, channel.handle)
        if case .browser(_, let p256dh, let auth) = channel {
            description.append("P256DH", p256dh)
            description.append("Auth", auth)
        }
        if let template { append(template, facts, to: &description) }
        let opening = #"<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom">"#
        let content = #"<content type="application/xml">"# + description.markup + "</content>"
        return Array((opening + content + "</entry>").utf8)
    }

    private func append(_ template: PushTemplate, _ facts: PlatformFacts, to description: inout XMLElement) {
        description.append("BodyTemplate", template.body)
        let isApple = channel.platform == .apple
        if isApple, let expiry = template.expiry { description.append("Expiry", expiry) }
        let sendsHeaders = facts.headers.type != nil && !template.headers.isEmpty
        if sendsHeaders, !isApple { description.append(template.headers, facts) }
        description.append("TemplateName", template.name)
        if sendsHeaders, isApple { description.append(template.headers, facts) }
    }
}

extension XMLElement {
    fileprivate mutating func append(_ name: String, _ text: String) {
        children.append(.element(XMLElement(name: name, text: text)))
    }

    fileprivate mutating func append(_ fields: [HeaderField], _ facts: PlatformFacts) {
        var headers = XMLElement(name: "\(facts.service)Headers")
        for field in fields {
            var header = XMLElement(name: "\(facts.service)Header")
            header.append("Header", field.name)
            header.append("Value", field.value)
            headers.children.append(.element(header))
        }
        children.append(.element(headers))
    }
}
