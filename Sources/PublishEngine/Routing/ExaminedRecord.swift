import KafkaModel
import NewsModel

/// The content of a record, once examined. Immutable, so copies of the engine may share it.
final class ExaminedRecord: Sendable {
    let record: SourceRecord
    let identity: RecordIdentity
    /// `nil` when the record could not be read far enough.
    let eventID: String?
    /// `nil` when the record holds no event.
    let routed: RoutedEvent?
    /// Why it cannot be sent: it holds no event, or one that belongs to no category.
    let failure: ResultRecord.Failure?
    /// Past this, by the clock on the wall, it is not sent.
    let deadline: Instant
    /// Past this, by the monotonic clock, it is not sent either: it cannot be younger than the time since it was read,
    /// whatever the record and the clocks say.
    let staleAt: Instant
    /// The expiry that phones get: the event's own, or its lane's.
    let expiresAt: Instant?

    /// A record without an event.
    init(_ record: SourceRecord, _ identity: RecordIdentity, _ undecodable: Undecodable) {
        self.record = record
        self.identity = identity
        eventID = undecodable.eventID
        routed = nil
        failure = ResultRecord.Failure(code: undecodable.reason.rawValue, detail: undecodable.detail)
        deadline = .distantFuture
        staleAt = .distantFuture
        expiresAt = nil
    }

    /// - Parameter maxAge: the lane's.
    init(
        _ record: SourceRecord, _ identity: RecordIdentity, _ event: consuming NewsEvent, by rules: ContentRules,
        maxAge: Duration?, _ turn: borrowing Turn
    ) {
        self.record = record
        self.identity = identity
        eventID = event.id
        let (expiresAt, embargo) = (event.expiresAt, event.embargoUntil)
        let routing = rules.router.route(event)
        failure = if case .unroutable(let failure) = routing { failure } else { nil }
        routed = RoutedEvent(event, routing, by: rules)
        let tooOldAt = maxAge.map { max(record.timestamp ?? turn.wall, embargo ?? .distantPast) + $0 }
        staleAt = embargo == nil ? maxAge.map { turn.now + $0 } ?? .distantFuture : .distantFuture
        // Without a time of its own a record is as old as the time since it was read, by the clock that is never set.
        let isDatedByUs = record.timestamp == nil && embargo == nil
        deadline = min(expiresAt ?? .distantFuture, isDatedByUs ? .distantFuture : tooOldAt ?? .distantFuture)
        let freshUntil = turn.wall + (staleAt - turn.now)
        self.expiresAt = expiresAt ?? tooOldAt.map { min($0, freshUntil) }
    }

    var hasDeadline: Bool { deadline < .distantFuture || staleAt < .distantFuture }

    func isStale(_ turn: borrowing Turn) -> Bool { turn.wall >= deadline || turn.now >= staleAt }

    /// The event's embargo, if it is not over.
    func embargo(_ turn: borrowing Turn) -> Instant? {
        guard let embargo = routed?.event.embargoUntil, embargo > turn.embargoClock else { return nil }
        return embargo
    }

    /// Why it is stale.
    var expiry: ResultRecord.Failure {
        if let expiresAt = routed?.event.expiresAt, expiresAt == deadline {
            return .init(.expired, "the event's expiresAt has passed")
        }
        return .init(.tooOld, "older than the lane's maxAge")
    }
}

/// An event and its routing. An object, because handing on the event itself would count references for each of its texts,
/// and that on every step of its way.
final class RoutedEvent: Sendable {
    let event: NewsEvent
    /// `nil` when it belongs to no category.
    let routing: Routing.Tagged?
    /// The rules that routed it also build its requests.
    private let rules: ContentRules

    init(_ event: consuming NewsEvent, _ routing: Routing, by rules: ContentRules) {
        self.event = event
        self.rules = rules
        self.routing = if case .tagged(let tagged) = routing { tagged } else { nil }
    }

    /// `nil` when it belongs to no category.
    func payload(on platform: Platform, lane: LaneID, since: Instant, expiresAt: Instant?) -> Payload? {
        guard let routing else { return nil }
        return rules.builder.payload(
            event, routing: routing, platform: platform, lane: lane, since: since, expiresAt: expiresAt)
    }
}
