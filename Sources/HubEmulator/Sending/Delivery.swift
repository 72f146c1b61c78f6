import ByteText
public import NotificationHub

/// One notification as it was handed to one device.
public struct Delivery: Sendable {
    /// Counts from 1 in the order of delivery.
    public var number: Int
    public var time: HubTime
    /// The notification id of the send.
    public var messageID: String
    public var platform: NotificationFormat
    public var handle: String
    /// `nil` for a direct send.
    public var registrationID: String?
    public var templateName: String?
    /// What the platform is told beside the body.
    public var headers: [HeaderField]
    public var body: [UInt8]
    public var outcome: PushOutcome

    public var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("number", .integer(number)), .init("time", .string(time.description)),
            .init("messageId", .string(messageID)), .init("platform", .string(platform.rawValue)),
            .init("handle", .string(handle)), .init("registrationId", .text(registrationID)),
            .init("template", .text(templateName)), .init("outcome", .string(outcome.rawValue)),
            .init("headers", .object(headers.map { .init($0.name, .string($0.value)) })),
        ]
        if let text = String(validating: body, as: UTF8.self) {
            members.append(.init("body", .string(text)))
        } else {
            members.append(.init("bodyBase64", .string(Base64.encode(body))))
        }
        return .object(members)
    }
}
