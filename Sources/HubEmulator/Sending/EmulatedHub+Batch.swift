import NotificationHub

extension EmulatedHub {
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
            kind: .batch, format: format, audience: .handles(parts.handles), content: content,
            headers: Submission.forwarded(headers), body: parts.payload)
        let id = try accept(submission, context)
        let fields = settings.tier.hasTelemetry ? [location(context, "messages/\(id)", flags: "&direct")] : []
        return reply(201, fields)
    }
}
