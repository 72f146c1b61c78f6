import ByteText
import NotificationHub

/// A valid send: its content and its audience.
struct Submission: Sendable {
    var kind: ReceivedMessage.Kind
    var format: Platform
    var audience: Audience
    var content: PayloadRules.Content
    var headers: [HeaderField]
    var body: [UInt8]
    /// The time at which a scheduled send is due.
    var due: HubTime?

    /// The memory that the send uses, in bytes.
    var weight: Int {
        guard case .handles(let handles) = audience else { return body.count + 200 }
        return handles.reduce(body.count + 200) { $0 + $1.utf8.count }
    }

    /// The headers that the hub acts on or forwards; all others concern the connection only.
    static func forwarded(_ headers: HubHeaders) -> [HeaderField] {
        headers.fields.filter { field in
            field.name.equalsIgnoringASCIICase("Content-Type")
                || field.name.hasPrefixIgnoringASCIICase("ServiceBusNotification-")
                || field.name.hasPrefixIgnoringASCIICase("apns-")
                || field.name.hasPrefixIgnoringASCIICase("X-")
                    && !field.name.hasPrefixIgnoringASCIICase("X-ms-")
                || field.name.equalsIgnoringASCIICase("P256DH") || field.name.equalsIgnoringASCIICase("Auth")
        }
    }

    static func format(_ headers: HubHeaders) throws(Refusal) -> Platform {
        guard let word = headers["ServiceBusNotification-Format"] else { return .template }
        guard let format = Platform(headerValue: word.trimmed) else {
            throw .badRequest("The notification format '\(word.prefix(40))' is not supported")
        }
        return format
    }
}

/// The recipients of a send.
enum Audience: Sendable, Hashable {
    /// No tags header: every registration of the format.
    case everyone
    /// An empty tags header: the send is accepted and reaches no device.
    case nobody
    case tagged(TagExpression)
    /// The handles of a direct or batch send.
    case handles([String])

    /// The audience with handles in the form that the hub keeps for the format's platform.
    func kept(on format: Platform) -> Audience {
        guard case .handles(let handles) = self else { return self }
        return .handles(handles.map { DeviceHandle.kept($0, on: format) })
    }

    init(tagsHeader: String?) throws(Refusal) {
        guard let tagsHeader else {
            self = .everyone
            return
        }
        if tagsHeader.trimmed.isEmpty {
            self = .nobody
            return
        }
        do { self = .tagged(try TagExpression(parsing: tagsHeader)) } catch {
            throw .badRequest("Invalid \(error)")
        }
    }
}
