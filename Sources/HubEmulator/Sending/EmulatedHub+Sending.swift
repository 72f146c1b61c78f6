import ByteText
import NotificationHub

extension EmulatedHub {
    /// `POST /{hub}/messages`: by tag, to everyone, or with `&direct` to one handle.
    mutating func send(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try throttle(context)
        let isDirect = context.target.hasFlag("direct")
        let submission = isDirect ? try directSubmission(context) : try taggedSubmission(context, kind: .send)
        if context.target.hasFlag("test") { return try testSend(submission, context) }
        return accepted(try accept(submission, context), context, flags: isDirect ? "&direct" : "")
    }

    private func directSubmission(_ context: CallContext) throws(Refusal) -> Submission {
        let handle = context.request.headers["ServiceBusNotification-DeviceHandle"] ?? ""
        guard !handle.isEmpty else {
            throw .badRequest("A direct send needs the ServiceBusNotification-DeviceHandle header")
        }
        let submission = try submission(context, kind: .direct, audience: .handles([handle]))
        guard submission.format != .apple || DeviceHandle.isToken(handle) else {
            throw .badRequest("The handle of an Apple device must be an even number of hexadecimal digits")
        }
        return submission
    }

    mutating func taggedSubmission(_ context: CallContext, kind: ReceivedMessage.Kind) throws(Refusal) -> Submission {
        try submission(
            context, kind: kind, audience: try audience(context.request.headers["ServiceBusNotification-Tags"]))
    }

    private func submission(
        _ context: CallContext, kind: ReceivedMessage.Kind, audience: Audience
    ) throws(Refusal) -> Submission {
        let headers = context.request.headers
        let format = try Submission.format(headers)
        let content = try PayloadRules.check(
            format: format, contentType: headers["Content-Type"], headers: headers, body: context.request.body,
            isDirect: kind == .direct)
        return Submission(
            kind: kind, format: format, audience: audience.kept(on: format), content: content,
            headers: Submission.forwarded(headers), body: context.request.body)
    }

    /// The refusal of a throttled call. Versions before 2020-06 get 403 with `Retry-After` instead of 429.
    func throttled(_ context: CallContext, seconds: Int64) -> Refusal {
        let status = context.version < .statusOfThrottling ? 403 : 429
        return Refusal(status: status, message: "The request was throttled", retryAfter: seconds)
    }

    mutating func throttle(_ context: CallContext) throws(Refusal) {
        guard let seconds = sendThrottle?.secondsToWait(at: context.now) else { return }
        throw throttled(context, seconds: seconds)
    }

    mutating func audience(_ header: String?) throws(Refusal) -> Audience {
        guard let header else { return .everyone }
        if let known = audiences[header] { return known }
        let audience = try Audience(tagsHeader: header)
        if audiences.count >= 256 { audiences = [:] }
        audiences[header] = audience
        return audience
    }

    /// Adds the send to the log and to the delivery queue.
    mutating func accept(_ submission: Submission, _ context: CallContext) throws(Refusal) -> String {
        guard fanOuts.count < settings.pendingMax, fanOuts.weight < settings.pendingBytesMax else {
            throw Refusal(status: 503, message: "Azure Notifications Hub Server Busy", retryAfter: 1)
        }
        let id = notificationID(at: context.now)
        let number = log(submission, id: id, context, state: .enqueued)
        fanOuts.append(FanOut(number: number, id: id, submission: submission))
        return id
    }

    /// Adds the send to the log and returns its number.
    mutating func log(_ submission: Submission, id: String, _ context: CallContext, state: NotificationTelemetry.State)
        -> Int
    {
        var handles: [String] = []
        if case .handles(let named) = submission.audience { handles = named }
        var message = ReceivedMessage(
            number: received.total + 1, id: id, time: context.now, kind: submission.kind, format: submission.format,
            tags: context.request.headers["ServiceBusNotification-Tags"], handles: handles, headers: submission.headers,
            body: submission.body, query: String(context.target.rawQuery))
        message.telemetry.state = state
        received.append(message, weight: message.weight)
        record(.message(message))
        return message.number
    }

    /// `POST /messages/$batch?direct`: one payload for up to 1000 handles.
    mutating func sendBatch(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        guard settings.tier.hasBatch else { throw .forbidden("Batch sends need the Basic or Standard tier") }
        try throttle(context)
        let headers = context.request.headers
        let format = try Submission.format(headers)
        let parts = try MultipartBatch.read(context.request.body, contentType: headers["Content-Type"] ?? "")
        let content = try PayloadRules.check(
            format: format, contentType: parts.contentType ?? format.contentType, headers: headers, body: parts.payload,
            isDirect: false)
        let submission = Submission(
            kind: .batch, format: format, audience: Audience.handles(parts.handles).kept(on: format), content: content,
            headers: Submission.forwarded(headers), body: parts.payload)
        return accepted(try accept(submission, context), context, flags: "&direct")
    }

    /// `&test`: sends at once to at most 10 devices chosen at random. The answer lists each device's outcome.
    mutating func testSend(_ submission: Submission, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        if let seconds = testThrottle.secondsToWait(at: context.now) { throw throttled(context, seconds: seconds) }
        var submission = submission
        submission.kind = .test
        let id = notificationID(at: context.now)
        let number = log(submission, id: id, context, state: .completed)
        var deliveries: [PushedNotification] = []
        if case .handles(let handles) = submission.audience, submission.format != .template {
            deliveries = handles.prefix(10).map { handle in
                pushed(submission, id: id, to: nil, handle: handle, at: context.now)
            }
        } else {
            let fanOut = FanOut(number: number, id: id, submission: submission)
            let plan = registrations.plan(fanOut.query, RegistrationTable.Kind(submission.format))
            var slots = route(submission.audience, plan).filter { registrations.matches($0, plan) }
            slots = slots.filter { !registrations.isRepeat($0, plan) }
            // A partial shuffle chooses the first ten places.
            for place in 0..<min(10, slots.count) {
                slots.swapAt(place, place + Int(random.next() % UInt64(slots.count - place)))
            }
            for slot in slots.prefix(10) {
                guard let registration = registrations.withoutTags(slot) else { continue }
                deliveries.append(
                    pushed(submission, id: id, to: registration, handle: registration.handle, at: context.now))
            }
        }
        testDeliveries += deliveries
        return accepted(id, context, flags: "&test", body: Array(Self.outcome(deliveries).utf8))
    }

    private static func outcome(_ deliveries: [PushedNotification]) -> String {
        let successes = deliveries.count { $0.outcome == .success }
        var out = "<NotificationOutcome xmlns=\"\(RegistrationXML.namespace)\" xmlns:i=\"\(RegistrationXML.instance)\">"
        out += "<Success>\(successes)</Success><Failure>\(deliveries.count - successes)</Failure><Results>"
        for delivery in deliveries {
            out += "<RegistrationResult><ApplicationPlatform>\(delivery.platform.rawValue)</ApplicationPlatform>"
            out += "<PnsHandle>\(XMLText.escaped(delivery.handle))</PnsHandle>"
            out += "<RegistrationId>\(delivery.registrationID ?? "")</RegistrationId>"
            out += "<Outcome>\(sentence(delivery.outcome))</Outcome></RegistrationResult>"
        }
        return out + "</Results></NotificationOutcome>"
    }

    private static func sentence(_ outcome: PushOutcome) -> String {
        switch outcome {
        case .success: "The Notification was successfully sent to the Push Notification System"
        case .invalidCredentials: "The Token obtained from the Token Provider is wrong"
        case .badChannel, .expiredChannel, .wrongToken:
            "The Push Notification System handle for the registration is invalid"
        case .invalidNotificationSize, .invalidNotificationFormat: "The notification payload is invalid"
        default: outcome.rawValue
        }
    }
}
