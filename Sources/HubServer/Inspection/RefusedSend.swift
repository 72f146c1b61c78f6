import HubEmulator

/// A send that the hub did not accept, as the page lists it.
struct RefusedSend: Sendable {
    let time: HubTime
    let tags: String?
    let body: [UInt8]
    /// The status of the answer; `nil` if the connection was reset instead.
    let status: Int?

    /// - Returns: `nil` for a send that was accepted, and for any other call.
    init?(_ request: HubHTTPRequest, _ response: HubHTTPResponse, at now: HubTime) {
        let isReset = response.transmission == .reset
        guard response.status >= 400, request.method == "POST",
            request.target.prefix(while: { $0 != "?" }).lowercased().contains("/messages")
        else { return nil }
        time = now
        tags = request.headers["ServiceBusNotification-Tags"]
        body = Array(request.body.prefix(SendSummary.bodyLengthMax))
        status = isReset ? nil : response.status
    }
}
