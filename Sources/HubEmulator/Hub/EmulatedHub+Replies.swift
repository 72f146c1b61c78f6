import ByteText
import NotificationHub

/// The reason why the hub refuses a request.
struct Refusal: Error, Sendable, Hashable {
    var status: Int
    /// The sentence that starts `<Detail>`; `nil` for an answer without a body.
    var message: String?
    /// Seconds for `Retry-After`.
    var retryAfter: Int64?

    static func badRequest(_ message: String) -> Refusal { Refusal(status: 400, message: message) }

    /// A missing right: 403 without a body and without `Retry-After`.
    static let rightMissing = Refusal(status: 403)

    static func forbidden(_ message: String) -> Refusal { Refusal(status: 403, message: message) }

    static func notFound(_ message: String) -> Refusal { Refusal(status: 404, message: message) }
}

extension EmulatedHub {
    /// An answer with the headers that all answers of the hub have.
    mutating func reply(
        _ status: Int, _ fields: [HeaderField] = [], contentType: String = ErrorBody.contentType, body: [UInt8] = []
    ) -> HubHTTPResponse {
        var headers = HubHeaders()
        headers.reserveCapacity(fields.count + 3)
        headers.append("Content-Type", contentType)
        for field in fields { headers.append(field.name, field.value) }
        let tracking = trackingID()
        headers.append("TrackingId", tracking)
        headers.append("x-ms-correlation-request-id", tracking)
        return HubHTTPResponse(status: status, headers: headers, body: body)
    }

    mutating func reply(_ refusal: Refusal, at now: HubTime) -> HubHTTPResponse {
        let fields = refusal.retryAfter.map { [HeaderField("Retry-After", String($0))] } ?? []
        var response = reply(refusal.status, fields)
        if let message = refusal.message, let tracking = response.headers["TrackingId"] {
            ErrorBody(status: refusal.status, message: message, trackingID: tracking, at: now.seconds)
                .write(into: &response.body)
        }
        return response
    }

    /// A version 4 UUID in lower case.
    private mutating func trackingID() -> String {
        let digits =
            (random.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000).hexDigits
            + (random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000).hexDigits
        var rest = digits[...]
        return [8, 4, 4, 4, 12].map { length in
            defer { rest = rest.dropFirst(length) }
            return String(rest.prefix(length))
        }.joined(separator: "-")
    }

    /// An id in the service's form, such as `73622a22797441e4b434e8c2c14112ce-20181107001834-33331921-18`. The third
    /// part is the send's number in the log; telemetry finds the send by it.
    mutating func notificationID(at now: HubTime) -> String {
        "\(random.next().hexDigits)\(random.next().hexDigits)-\(now.compact)-\(received.total + 1)-\(random.next() % 32)"
    }

    /// The send with this id, while it is kept.
    func message(id: String) -> ReceivedMessage? {
        let parts = id.split { $0 == "-" || $0 == "_" }
        guard parts.count >= 4, let number = Int(parts[2]), let message = received[number], message.id == id else {
            return nil
        }
        return message
    }

    func location(_ context: CallContext, _ path: String, flags: String = "", named name: String = "Location")
        -> HeaderField
    {
        let version = context.target["api-version"] ?? context.version.name
        return HeaderField(name, "\(context.request.base)/\(settings.name)/\(path)?api-version=\(version)\(flags)")
    }
}
