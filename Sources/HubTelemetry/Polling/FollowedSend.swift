import NewsModel
import NotificationHub

/// One accepted send whose end the hub has not told yet.
struct FollowedSend: Sendable {
    var partition: Int32
    /// Of its result.
    var offset: Int64
    var send: TelemetryRecord.Send
    var lane: String
    var tags: [String]
    var acceptedAt: Instant
    /// The last poll that was answered; 0 before the first.
    var done = 0
    /// The poll that is due or under way.
    var attempt: Int
    var phase = Phase.waiting
    /// What the hub last said.
    var details: NotificationDetails?
    /// Polls without an answer since the last one with.
    var failures = 0

    enum Phase: Sendable {
        /// For its time. Next is `asking`, or `ending`.
        case waiting
        /// Next is `waiting`, or `ending`.
        case asking
        /// Its last record is being stored; then it is forgotten.
        case ending(TelemetryRecord)
    }

    /// Never negative: clocks of two machines differ.
    func age(at wall: Instant) -> Duration { max(wall - acceptedAt, .zero) }

    func record(
        at wall: Instant, attempt: Int, isFinal: Bool, error: ResultRecord.Failure? = nil
    ) -> TelemetryRecord {
        func instant(_ milliseconds: Int64?) -> Instant? { milliseconds.map { Instant(milliseconds: $0) } }
        // Without a last word of the hub, how it ended is not known, whatever it said before.
        let state = details?.state ?? .unknown
        return TelemetryRecord(
            eventID: send.eventID, platform: send.platform, notificationID: send.notificationID, lane: lane,
            attempt: attempt, state: isFinal && !state.isFinal ? .unknown : state, isFinal: isFinal, polledAt: wall,
            age: age(at: wall), acceptedAt: acceptedAt, enqueuedAt: instant(details?.enqueuedAt),
            startedAt: instant(details?.startedAt), endedAt: instant(details?.endedAt), counts: details?.counts ?? [],
            error: error)
    }
}
