import EditorialControl
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
    /// Why it cannot be sent: it holds no event, one that must not leave here, or one that belongs to no category.
    let failure: ResultRecord.Failure?
    /// Past this, by the clock on the wall, it is not sent.
    let deadline: Instant
    /// Past this, by the monotonic clock, it is not sent either: it cannot be younger than the time since it was read,
    /// whatever the record and the clocks say.
    let staleAt: Instant
    /// The expiry that phones get: the event's own, or its lane's.
    let expiresAt: Instant?
    /// Why it came back from the held topic; `nil` if it was never there.
    let returned: ReturnReason?

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
        returned = nil
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
        let routing = rules.router.route(event, isForEverybody: record.isReplacement)
        let isSilent = record.isSilent
        let wouldRing = isSilent && event.status == .usable && !rules.builder.settings.canBackfillSilently
        let refusal = rules.policy.refusal(of: event) ?? (wouldRing ? .wouldRing : nil)
        failure = if let refusal { refusal } else if case .unroutable(let failure) = routing { failure } else { nil }
        let routed = RoutedEvent(
            event, routing, by: rules, isRefused: refusal != nil, isReplacement: record.isReplacement,
            isSilent: isSilent)
        self.routed = routed
        returned = record.text(of: HeaderName.held).map { ReturnReason(rawValue: $0) ?? .due }
        var tooOldAt = maxAge.map { max(record.timestamp ?? turn.wall, embargo ?? .distantPast) + $0 }
        var release = embargo
        // What is news when quiet hours hold it up is news when they end.
        let leavesAt = max(turn.wall, embargo ?? .distantPast)
        if tooOldAt ?? .distantFuture > leavesAt, case .hold(let until) = routed.treatment(at: leavesAt) {
            tooOldAt = maxAge.map { until + $0 }
            release = until
        }
        staleAt = release == nil ? maxAge.map { turn.now + $0 } ?? .distantFuture : .distantFuture
        // Without a time of its own a record is as old as the time since it was read, by the clock that is never set.
        let isDatedByUs = record.timestamp == nil && release == nil
        deadline = min(expiresAt ?? .distantFuture, isDatedByUs ? .distantFuture : tooOldAt ?? .distantFuture)
        let freshUntil = turn.wall + (staleAt - turn.now)
        self.expiresAt = expiresAt ?? tooOldAt.map { min($0, freshUntil) }
    }

    var hasDeadline: Bool { deadline < .distantFuture || staleAt < .distantFuture }

    func isStale(_ turn: borrowing Turn) -> Bool { turn.expiryClock >= deadline || turn.now >= staleAt }

    /// The time before which it does not leave, by the embargo's clock; `nil` if that has come.
    func due(_ turn: borrowing Turn) -> Due? {
        guard let routed else { return nil }
        if let embargo = routed.event.embargoUntil, embargo > turn.embargoClock {
            return Due(at: embargo, because: .embargo)
        }
        if case .hold(let until) = routed.treatment(at: turn.wall) { return Due(at: until, because: .quietHours) }
        return nil
    }

    /// Why it may not leave at this hour and not later; `nil` if it may.
    func prohibition(_ turn: borrowing Turn) -> ResultRecord.Failure? {
        if case .withhold(let failure)? = routed?.treatment(at: turn.wall) { failure } else { nil }
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
    /// It must not leave here, whatever its status says: it is for another environment, a test without testers, or one that
    /// must not ring and would. Why is the record's `failure`.
    let isRefused: Bool
    /// It takes the place of a recalled notification, which is no occasion for a sound.
    private let isReplacement: Bool
    /// It belongs to a backfill that disturbs nobody, at any hour.
    private let isSilent: Bool
    /// The hour makes no difference to it.
    private let isSentAtAnyHour: Bool
    /// The rules that routed it also build its requests.
    private let rules: ContentRules

    init(
        _ event: consuming NewsEvent, _ routing: Routing, by rules: ContentRules, isRefused: Bool, isReplacement: Bool,
        isSilent: Bool
    ) {
        self.event = event
        self.isRefused = isRefused
        self.isReplacement = isReplacement
        self.isSilent = isSilent
        isSentAtAnyHour = !isReplacement && !isSilent && rules.policy.quietHours.isEmpty
        self.rules = rules
        self.routing = if case .tagged(let tagged) = routing { tagged } else { nil }
    }

    /// The key that orders it: that of its story, and of its language where each language is sent apart. Else version 2 in French
    /// would supersede version 1 in English. Recalls go by the story alone.
    var orderKey: String {
        routing?.edition.map { Self.orderKey(event.orderKey, edition: $0) } ?? event.orderKey
    }

    static func orderKey(_ story: String, edition: String) -> String { "\(story)#\(edition)" }

    /// What tells versions of the id apart on the ledger: its translations may have one id.
    var ledgerVersion: String? {
        routing?.edition.map { "\($0):\(event.ledgerVersion ?? "")" } ?? event.ledgerVersion
    }

    /// The languages whose readers get the fallback's text.
    func filled(on platform: Platform) -> [String] { rules.builder.filled(for: event, on: platform) }

    /// What becomes of it at a time by the clock on the wall, if it may leave here at all.
    func treatment(at wall: Instant) -> Treatment {
        guard !isSentAtAnyHour, let routing else { return .send }
        if isReplacement { return rules.builder.settings.canBeSilent ? .sendSilently : .send }
        let treatment = rules.treatment(of: event, routing, at: wall)
        return isSilent && treatment == .send ? .sendSilently : treatment
    }

    /// - Parameter send: one of those that its readers need, from 0.
    /// - Returns: `nil` when it belongs to no category.
    func payload(
        on platform: Platform, send: Int, lane: LaneID, since: Instant, expiresAt: Instant?, isQuiet: Bool
    ) -> Payload? {
        guard let routing = routing?.send(send) else { return nil }
        return rules.builder.payload(
            event, routing: routing, platform: platform, lane: lane, since: since, expiresAt: expiresAt,
            isQuiet: isQuiet, inBackground: isSilent)
    }
}

extension SourceRecord {
    /// The run of `publish` that it belongs to.
    var run: String? {
        headers.isEmpty ? nil : headers.last { $0.name == HeaderName.run }?.text
    }

    fileprivate var isReplacement: Bool { has(HeaderName.replacement) }

    /// It must disturb nobody.
    fileprivate var isSilent: Bool { has(HeaderName.quiet) }

    private func has(_ header: String) -> Bool { !headers.isEmpty && headers.contains { $0.name == header } }
}
