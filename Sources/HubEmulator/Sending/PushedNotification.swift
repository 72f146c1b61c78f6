import ByteText
public import NotificationHub

/// One notification that was handed to one device.
public struct PushedNotification: Sendable {
    /// The position in the order of delivery, from 1.
    public var number: Int
    public var time: HubTime
    public var messageID: String
    public var platform: Platform
    public var handle: String
    /// The id of the registration; `nil` for a direct send.
    public var registrationID: String?
    public var templateName: String?
    public var headers: [HeaderField]
    public var body: [UInt8]
    public var outcome: PushOutcome

    /// The memory that the notification uses, in bytes.
    var weight: Int { body.count + 200 }

    package var json: JSONTree {
        let text = String(validating: body, as: UTF8.self)
        return [
            "number": .integer(number), "time": .string(time.description), "messageId": .string(messageID),
            "platform": .string(platform.rawValue), "handle": .string(handle), "registrationId": .text(registrationID),
            "template": .text(templateName), "outcome": .string(outcome.rawValue), "headers": .headers(headers),
            "body": text.map { .string($0) }, "bodyBase64": text == nil ? .string(Base64.encode(body)) : nil,
        ]
    }
}

extension PushedNotification {
    /// Reads the form that `json` writes; `nil` for anything else.
    package init?(json: JSONTree) {
        guard let number = json["number"]?.integer, number > 0,
            let time = json["time"]?.string.flatMap(HubTime.init(clientText:)),
            let messageID = json["messageId"]?.string, let handle = json["handle"]?.string,
            let platform = json["platform"]?.string.flatMap({ Platform(headerValue: $0) }),
            let outcome = json["outcome"]?.string.flatMap(PushOutcome.init(rawValue:)),
            case .object(let fields)? = json["headers"],
            let body = json["body"]?.string.map({ Array($0.utf8) }) ?? json["bodyBase64"]?.string.flatMap(Base64.decode)
        else { return nil }
        self.init(
            number: number, time: time, messageID: messageID, platform: platform, handle: handle,
            registrationID: json["registrationId"]?.string, templateName: json["template"]?.string,
            headers: fields.map { HeaderField($0.name, $0.value.string ?? "") }, body: body, outcome: outcome)
    }
}

/// A platform's outcome for one push. The raw values are those of telemetry.
public enum PushOutcome: String, Sendable, Hashable, CaseIterable {
    case success = "Success"
    /// The same send has already delivered to this handle.
    case skipped = "Skipped"
    case dropped = "Dropped"
    case badChannel = "BadChannel"
    case expiredChannel = "ExpiredChannel"
    case wrongToken = "WrongToken"
    case channelDisconnected = "ChannelDisconnected"
    case channelThrottled = "ChannelThrottled"
    case throttled = "Throttled"
    case invalidCredentials = "InvalidCredentials"
    case invalidNotificationSize = "InvalidNotificationSize"
    case invalidNotificationFormat = "InvalidNotificationFormat"
    case pnsServerError = "PnsServerError"
    case pnsUnavailable = "PnsUnavailable"
    case pnsUnreachable = "PnsUnreachable"
    case pnsInterfaceError = "PnsInterfaceError"
    case unknownError = "UnknownError"

    /// True if the outcome makes the hub remove the registration.
    var endsRegistration: Bool { self == .badChannel || self == .expiredChannel }
}
