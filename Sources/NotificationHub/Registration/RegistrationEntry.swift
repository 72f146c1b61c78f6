import ByteText

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

    /// Appends the entry, with its elements in the order that the service requires. Replaces characters that XML cannot
    /// contain.
    public func write(into bytes: inout [UInt8]) {
        let kind = "\(channel.registrationWord)\(template == nil ? "" : "Template")RegistrationDescription"
        bytes += "<?xml version=\"1.0\" encoding=\"utf-8\"?><entry xmlns=\"http://www.w3.org/2005/Atom\">".utf8
        bytes +=
            "<content type=\"application/xml\"><\(kind) xmlns:i=\"\(Self.instance)\" xmlns=\"\(Self.connect)\">".utf8
        if !tags.isEmpty { Self.write("Tags", tags.map(\.text).joined(separator: ","), into: &bytes) }
        writeChannel(into: &bytes)
        if let template { write(template, into: &bytes) }
        bytes += "</\(kind)></content></entry>".utf8
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    private static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    private static let connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"

    private func writeChannel(into bytes: inout [UInt8]) {
        switch channel {
        case .apple(let token): Self.write("DeviceToken", token, into: &bytes)
        case .fcmv1(let token): Self.write("FcmV1RegistrationId", token, into: &bytes)
        case .windows(let uri): Self.write("ChannelUri", uri, into: &bytes)
        case .browser(let endpoint, let p256dh, let auth):
            Self.write("Endpoint", endpoint, into: &bytes)
            Self.write("P256DH", p256dh, into: &bytes)
            Self.write("Auth", auth, into: &bytes)
        }
    }

    private func write(_ template: PushTemplate, into bytes: inout [UInt8]) {
        Self.write("BodyTemplate", template.body, into: &bytes)
        switch channel {
        case .apple:
            if let expiry = template.expiry { Self.write("Expiry", expiry, into: &bytes) }
            Self.write("TemplateName", template.name, into: &bytes)
            Self.write(template.headers, as: "Apns", into: &bytes)
        case .windows:
            Self.write(template.headers, as: "Wns", into: &bytes)
            Self.write("TemplateName", template.name, into: &bytes)
        case .fcmv1, .browser: Self.write("TemplateName", template.name, into: &bytes)
        }
    }

    private static func write(_ headers: [PushTemplate.Header], as word: String, into bytes: inout [UInt8]) {
        guard !headers.isEmpty else { return }
        bytes += "<\(word)Headers>".utf8
        for header in headers {
            bytes += "<\(word)Header>".utf8
            write("Header", header.name, into: &bytes)
            write("Value", header.value, into: &bytes)
            bytes += "</\(word)Header>".utf8
        }
        bytes += "</\(word)Headers>".utf8
    }

    private static func write(_ name: String, _ text: String, into bytes: inout [UInt8]) {
        bytes += "<\(name)>".utf8
        XMLText.append(text, in: .content, to: &bytes)
        bytes += "</\(name)>".utf8
    }
}
