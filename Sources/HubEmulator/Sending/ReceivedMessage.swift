import ByteText
public import NotificationHub

/// A send that the hub accepted.
public struct ReceivedMessage: Sendable {
    public enum Kind: String, Sendable, Hashable {
        case send, direct, batch, scheduled, test
    }

    /// The position in the order of acceptance, from 1.
    public var number: Int
    /// The notification id, as the `Location` names it.
    public var id: String
    public var time: HubTime
    public var kind: Kind
    public var format: Platform
    /// The tag expression as sent; `nil` without the header, which addresses every device.
    public var tags: String?
    /// The handles of a direct or batch send.
    public var handles: [String]
    /// `Content-Type` and every header that the hub acts on or forwards.
    public var headers: [HeaderField]
    public var body: [UInt8]
    /// The request's query, without the question mark.
    public var query: String
    /// The send's state and outcomes until now.
    public var telemetry = NotificationTelemetry()

    /// The memory that the send uses, in bytes.
    var weight: Int { body.count + handles.reduce(200) { $0 + $1.utf8.count } }

    /// The form in `GET /_emulator/messages`. A body that is not text is base64 under `bodyBase64`.
    package var json: JSONTree {
        let text = String(validating: body, as: UTF8.self)
        return [
            "number": .integer(number), "id": .string(id), "time": .string(time.description),
            "kind": .string(kind.rawValue), "format": .string(format.rawValue), "tags": .text(tags),
            "handles": handles.isEmpty ? nil : .strings(handles), "headers": .headers(headers),
            "body": text.map { .string($0) }, "bodyBase64": text == nil ? .string(Base64.encode(body)) : nil,
            "query": .string(query), "delivery": telemetry.json,
        ]
    }
}

extension ReceivedMessage {
    /// Reads the form that `json` writes; `nil` for anything else.
    package init?(json: JSONTree) {
        guard let number = json["number"]?.integer, number > 0, let id = json["id"]?.string,
            let time = json["time"]?.string.flatMap(HubTime.init(clientText:)),
            let kind = json["kind"]?.string.flatMap(Kind.init(rawValue:)),
            let format = json["format"]?.string.flatMap({ Platform(headerValue: $0) }),
            case .object(let fields)? = json["headers"],
            let telemetry = json["delivery"].flatMap(NotificationTelemetry.init(json:)),
            let body = json["body"]?.string.map({ Array($0.utf8) }) ?? json["bodyBase64"]?.string.flatMap(Base64.decode)
        else { return nil }
        (self.number, self.id, self.time, self.kind, self.format) = (number, id, time, kind, format)
        tags = json["tags"]?.string
        handles = []
        if case .array(let named)? = json["handles"] { handles = named.compactMap(\.string) }
        headers = fields.map { HeaderField($0.name, $0.value.string ?? "") }
        self.body = body
        query = json["query"]?.string ?? ""
        self.telemetry = telemetry
    }
}
