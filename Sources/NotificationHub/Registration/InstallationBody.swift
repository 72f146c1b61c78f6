import ByteText

/// The body of an installation: one device, its tags and its templates in one JSON object. The hub derives a native
/// registration from it, and one registration for each template.
public struct InstallationBody: Sendable, Hashable {
    public static let contentType = "application/json"

    public var id: String
    public var channel: PushChannel
    public var tags: [Tag]
    public var templates: [PushTemplate]
    /// The user's id. Sends reach the user with the tag `$UserId:{…}`.
    public var userID: String?

    public init(
        id: String, channel: PushChannel, tags: [Tag], templates: [PushTemplate] = [], userID: String? = nil
    ) {
        self.id = id
        self.channel = channel
        self.tags = tags
        self.templates = templates
        self.userID = userID
    }

    public func write(into bytes: inout [UInt8]) {
        Self.write("{\"installationId\":", id, into: &bytes)
        if let userID { Self.write(",\"userId\":", userID, into: &bytes) }
        Self.write(",\"platform\":", channel.installationPlatform, into: &bytes)
        if case .browser(let endpoint, let p256dh, let auth) = channel {
            Self.write(",\"pushChannel\":{\"endpoint\":", endpoint, into: &bytes)
            Self.write(",\"p256dh\":", p256dh, into: &bytes)
            Self.write(",\"auth\":", auth, into: &bytes)
            bytes += "}".utf8
        } else {
            Self.write(",\"pushChannel\":", channel.handle, into: &bytes)
        }
        bytes += ",\"tags\":[".utf8
        for (index, tag) in tags.enumerated() { Self.write(index == 0 ? "" : ",", tag.text, into: &bytes) }
        bytes += "],\"templates\":{".utf8
        for (index, template) in templates.enumerated() {
            Self.write(index == 0 ? "" : ",", template.name, into: &bytes)
            Self.write(":{\"body\":", template.body, into: &bytes)
            if !template.headers.isEmpty { Self.write(template.headers, into: &bytes) }
            if let expiry = template.expiry { Self.write(",\"expiry\":", expiry, into: &bytes) }
            bytes += "}".utf8
        }
        bytes += "}}".utf8
    }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return bytes
    }

    private static func write(_ headers: [PushTemplate.Header], into bytes: inout [UInt8]) {
        bytes += ",\"headers\":{".utf8
        for (index, header) in headers.enumerated() {
            write(index == 0 ? "" : ",", header.name, into: &bytes)
            write(":", header.value, into: &bytes)
        }
        bytes += "}".utf8
    }

    /// Writes a JSON string after the given prefix.
    private static func write(_ before: String, _ text: String, into bytes: inout [UInt8]) {
        bytes += before.utf8
        JSONEscaping.append(text, to: &bytes)
    }
}
