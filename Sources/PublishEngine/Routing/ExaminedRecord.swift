import KafkaModel
import NewsModel
import NotificationHub

/// What a record says, once examined. Immutable, so copies of the engine may share it.
final class Content: Sendable {
    let record: SourceRecord
    let identity: RecordIdentity
    /// `nil` when the record could not be read far enough.
    let eventID: String?
    /// `nil` when the record holds no event.
    let news: News?
    /// Past this, by the clock on the wall, it is not sent.
    let deadline: Instant
    /// Past this, by the monotonic clock, it is not sent either: it cannot be younger than the time since it was read,
    /// whatever the record and the clocks say.
    let staleAt: Instant
    /// What phones are told: the event's own expiry, or its lane's.
    let expiresAt: Instant?

    init(
        record: SourceRecord, identity: RecordIdentity, eventID: String?, news: News? = nil,
        deadline: Instant = .distantFuture,
        staleAt: Instant = .distantFuture, expiresAt: Instant? = nil
    ) {
        self.record = record
        self.identity = identity
        self.eventID = eventID
        self.news = news
        self.deadline = deadline
        self.staleAt = staleAt
        self.expiresAt = expiresAt
    }

    var hasDeadline: Bool { deadline < .distantFuture || staleAt < .distantFuture }

    func isStale(_ turn: borrowing Turn) -> Bool { turn.wall >= deadline || turn.now >= staleAt }
}

/// An event and where it goes. An object, because handing on the event itself would count references for each of its
/// texts, and that on every step of its way.
final class News: Sendable {
    let event: NewsEvent
    /// `nil` when it belongs to no category.
    let routing: Routing.Tagged?
    /// Who read it, and builds its requests.
    let desk: Desk

    init(_ event: consuming NewsEvent, _ routing: Routing, read desk: Desk) {
        self.event = event
        self.desk = desk
        self.routing = if case .tagged(let tagged) = routing { tagged } else { nil }
    }

    /// `nil` when it belongs to no category.
    func request(on platform: Platform, lane: Int, since: Instant, expiresAt: Instant?) -> SendRequest? {
        guard let routing else { return nil }
        return desk.builder.build(
            event, routing: routing, platform: platform, lane: lane, since: since, expiresAt: expiresAt)
    }
}
