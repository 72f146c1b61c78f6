import NotificationHub

extension EmulatedHub {
    /// `POST /{hub}/messages`: by tag, to everyone, or with `&direct` to one handle.
    mutating func send(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try throttle(context)
        let isDirect = context.target.hasFlag("direct")
        let submission = isDirect ? try directSubmission(context) : try taggedSubmission(context, kind: .send)
        if context.target.hasFlag("test") { return try testSend(submission, context) }
        let id = try accept(submission, context)
        guard settings.tier.hasTelemetry else { return reply(201) }
        return reply(201, [location(context, "messages/\(id)", flags: isDirect ? "&direct" : "")])
    }

    private func directSubmission(_ context: CallContext) throws(Refusal) -> Submission {
        let handle = context.request.headers["ServiceBusNotification-DeviceHandle"] ?? ""
        guard !handle.isEmpty else {
            throw .badRequest("A direct send needs the ServiceBusNotification-DeviceHandle header")
        }
        return try submission(context, kind: .direct, audience: .handles([handle]))
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
            kind: kind, format: format, audience: audience, content: content, headers: Submission.forwarded(headers),
            body: context.request.body)
    }

    /// Older versions say 403 with `Retry-After` for what newer ones call 429.
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

    /// Takes the send into the log and the queue of deliveries, and names it.
    mutating func accept(_ submission: Submission, _ context: CallContext) throws(Refusal) -> String {
        guard fanOuts.count < settings.pendingMax else {
            throw Refusal(status: 503, message: "Azure Notifications Hub Server Busy", retryAfter: 1)
        }
        let id = notificationID(at: context.now)
        let number = log(submission, id: id, context, state: .enqueued)
        fanOuts.append(FanOut(number: number, id: id, submission: submission))
        return id
    }

    /// - Returns: the send's number.
    mutating func log(_ submission: Submission, id: String, _ context: CallContext, state: Telemetry.State) -> Int {
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
}
