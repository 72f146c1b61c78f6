import NewsModel

/// Recall requests for events that an engine has already written but that were not read from the held topic yet.
struct RecallRequests: Sendable {
    private var requests: [UInt64: Request] = [:]

    private struct Request: Sendable {
        var until: Instant
        var part: HeldPart
    }

    /// Time that a request waits for its event before it is dropped.
    static let lasts = Duration.seconds(60)
    private static let most = 10_000

    mutating func add(_ story: UInt64, _ part: HeldPart, at now: Instant) {
        if requests.count >= Self.most { requests = requests.filter { $0.value.until > now } }
        if requests.count < Self.most { requests[story] = Request(until: now + Self.lasts, part: part) }
    }

    /// Removes the request for an event.
    ///
    /// - Returns: `true` if the event is requested back.
    mutating func remove(_ entry: HeldIndex.Entry, at now: Instant) -> Bool {
        guard let request = requests[entry.story], request.part.contains(entry) else { return false }
        requests[entry.story] = nil
        return request.until > now
    }
}
