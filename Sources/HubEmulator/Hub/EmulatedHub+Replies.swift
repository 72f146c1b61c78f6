import ByteText
import NotificationHub

/// The status and the message with which the hub refuses a request.
struct Refusal: Error, Sendable, Hashable {
    var status: Int
    /// The sentence that starts `<Detail>`; `nil` for an answer without a body.
    var message: String?
    /// The value of `Retry-After`, in seconds.
    var retryAfter: Int64?

    static func badRequest(_ message: String) -> Refusal { Refusal(status: 400, message: message) }

    /// A missing right: today 403 without a body and without `Retry-After`, formerly 401.
    static func rightMissing(_ wanted: AccessRule.Rights, in era: APIEra) -> Refusal {
        era == .year2018 ? claimMissing(wanted) : Refusal(status: 403)
    }

    /// The older answer, which calls about a whole hub still give.
    static func claimMissing(_ wanted: AccessRule.Rights) -> Refusal {
        let claim = wanted.contains(.manage) ? "Manage" : wanted.contains(.send) ? "Send" : "Listen"
        return Refusal(status: 401, message: "\(claim) claim is required for this operation.")
    }

    static func wrongMethod(_ method: String) -> Refusal {
        Refusal(status: 405, message: "The method \(method.prefix(20)) is not allowed here")
    }

    static func forbidden(_ message: String) -> Refusal { Refusal(status: 403, message: message) }

    static func notFound(_ message: String) -> Refusal { Refusal(status: 404, message: message) }
}

extension JSONTree {
    /// Reads a request's body.
    init(body: [UInt8]) throws(Refusal) {
        do { self = try JSONReader.read(body) } catch { throw .badRequest(error.rawValue) }
    }
}

extension XMLElement {
    /// Reads a request's body.
    init(body: [UInt8]) throws(Refusal) {
        do { self = try XMLReader.read(body) } catch { throw .badRequest(error.rawValue) }
    }
}

extension EmulatedHub {
    /// An answer with the headers that all answers of the hub carry.
    /// - Parameter contentType: `nil` for an answer without one; an empty body is labelled as XML in 2018 only.
    mutating func reply(
        _ status: Int, _ fields: [HeaderField] = [], contentType: String? = ErrorBody.contentType, body: [UInt8] = []
    ) -> HubHTTPResponse {
        var headers = HubHeaders()
        headers.reserveCapacity(fields.count + 3)
        let isLabelled = !body.isEmpty || settings.era == .year2018 || contentType != ErrorBody.contentType
        if let contentType, isLabelled { headers.append("Content-Type", contentType) }
        for field in fields { headers.append(field.name, field.value) }
        if settings.era == .year2023 {
            let tracking = trackingID()
            headers.append("TrackingId", tracking)
            headers.append("x-ms-correlation-request-id", tracking)
        }
        return HubHTTPResponse(status: status, headers: headers, body: body)
    }

    /// The answer to a send that was accepted. Only the Standard tier names its address.
    mutating func accepted(_ id: String, _ context: CallContext, flags: String = "", body: [UInt8] = [])
        -> HubHTTPResponse
    {
        let isRecent = settings.era == .year2023
        var fields = isRecent ? [HeaderField("X-Powered-By", "Azure Notification Hubs")] : []
        if settings.tier.hasTelemetry {
            fields.append(location(context, "messages/\(id)", flags: isRecent ? "" : flags))
        }
        return reply(201, fields, body: body)
    }

    mutating func reply(_ refusal: Refusal, at now: HubTime) -> HubHTTPResponse {
        let fields = refusal.retryAfter.map { [HeaderField("Retry-After", String($0))] } ?? []
        var response = reply(refusal.status, fields)
        guard let message = refusal.message else { return response }
        ErrorBody(
            status: refusal.status, message: message,
            trackingID: response.headers["TrackingId"] ?? "\(trackingID())_G\(1 + random.next() % 24)",
            at: now.seconds, isRecent: settings.era == .year2023
        ).write(into: &response.body)
        if response.headers["Content-Type"] == nil { response.headers.append("Content-Type", ErrorBody.contentType) }
        return response
    }

    /// A version 4 UUID in lower case.
    mutating func trackingID() -> String {
        let digits =
            (random.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000).hexDigits
            + (random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000).hexDigits
        var rest = digits[...]
        return [8, 4, 4, 4, 12].map { length in
            defer { rest = rest.dropFirst(length) }
            return String(rest.prefix(length))
        }.joined(separator: "-")
    }

    /// An id in the service's form: `NH-20230803155355238-23cfaa9cd29144c8a8e05c08336d5153-07`, or in 2018
    /// `73622a22797441e4b434e8c2c14112ce-20181107001834-33331921-18`. Telemetry finds the send by its number in the
    /// log: the third part, or the difference of the two 16-digit halves.
    mutating func notificationID(at now: HubTime, era: APIEra? = nil) -> String {
        let number = received.total + 1
        let half = random.next()
        switch era ?? settings.era {
        case .year2018:
            return "\(half.hexDigits)\(random.next().hexDigits)-\(now.compact)-\(number)-\(random.next() % 32)"
        case .year2023:
            let shard = random.next() % 16
            let millisecond = String(1000 + now.milliseconds.flooredQuotientAndRemainder(dividingBy: 1000).remainder)
            return "NH-\(now.compact)\(millisecond.dropFirst())-\(half.hexDigits)"
                + "\((half &+ UInt64(number)).hexDigits)-\(shard < 10 ? "0" : "")\(shard)"
        }
    }

    /// The send with this id; `nil` if it is no longer kept.
    func message(id: String) -> ReceivedMessage? {
        let parts = id.split { $0 == "-" || $0 == "_" }
        guard parts.count >= 4 else { return nil }
        var number = Int(parts[2])
        if parts[0] == "NH", parts[2].utf8.count == 32, let first = UInt64(parts[2].prefix(16), radix: 16),
            let second = UInt64(parts[2].dropFirst(16), radix: 16)
        {
            number = Int(exactly: second &- first)
        }
        guard let number, let message = received[number], message.id == id else { return nil }
        return message
    }

    func location(_ context: CallContext, _ path: String, flags: String = "") -> HeaderField {
        let version = context.target["api-version"] ?? context.version.name
        return HeaderField(
            "Location", "\(context.request.base)/\(settings.name)/\(path)?api-version=\(version)\(flags)")
    }
}
