import NewsModel
import NotificationHub

/// One accepted send whose final state the hub has not reported.
struct FollowedSend: Sendable {
    var partition: Int32
    /// The offset of the send's result.
    var offset: Int64
    var send: TelemetryRecord.Send
    var lane: String
    var tags: [String]
    var acceptedAt: Instant
    /// The last answered poll; 0 before the first.
    var done = 0
    /// The poll that is due or in flight.
    var attempt: Int
    var phase = Phase.waiting
    /// The details that the hub last reported.
    var details: NotificationDetails?
    /// Failed polls since the last answered one.
    var failures = 0

    enum Phase: Sendable {
        /// The send waits for its next poll. Followed by `asking` or `ending`.
        case waiting
        /// A question is in flight. Followed by `waiting` or `ending`.
        case asking
        /// The last record is being stored. After that the send is forgotten.
        case ending(TelemetryRecord)
    }

    /// The time since acceptance; at least zero, because the clocks of two machines differ.
    func age(at wall: Instant) -> Duration { max(wall - acceptedAt, .zero) }

    func record(
        at wall: Instant, attempt: Int, isFinal: Bool, error: ResultRecord.Failure? = nil
    ) -> TelemetryRecord {
        func instant(_ milliseconds: Int64?) -> Instant? { milliseconds.map { Instant(milliseconds: $0) } }
        // Without a final state from the hub, the outcome is unknown, whatever the hub said earlier.
        let state = details?.state ?? .unknown
        return TelemetryRecord(
            eventID: send.eventID, platform: send.platform, notificationID: send.notificationID, lane: lane,
            attempt: attempt, state: isFinal && !state.isFinal ? .unknown : state, isFinal: isFinal, polledAt: wall,
            age: age(at: wall), acceptedAt: acceptedAt, enqueuedAt: instant(details?.enqueuedAt),
            startedAt: instant(details?.startedAt), endedAt: instant(details?.endedAt), counts: details?.counts ?? [],
            error: error)
    }
}
