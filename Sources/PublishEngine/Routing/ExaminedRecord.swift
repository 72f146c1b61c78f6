import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub

/// The content of an examined record. Immutable, so copies of the engine may share it.
final class ExaminedRecord: Sendable {
    let record: SourceRecord
    let identity: RecordIdentity
    /// `nil` when the record could not be read far enough.
    let eventID: String?
    /// `nil` when the record holds no event.
    let routed: RoutedEvent?
    /// The reason why the record cannot be sent: no event, an event that must not leave here, or no category.
    let failure: ResultRecord.Failure?
    /// The wall clock time after which the record is not sent.
    let deadline: Instant
    /// The monotonic time after which the record is not sent either. Its age is at least the time since it was read.
    let staleAt: Instant
    /// The end of the embargo or of the quiet hours that delay the event; `nil` if it may leave at once.
    let release: Instant?
    /// The name of the newsroom's own format; `nil` for a built-in one.
    let format: String?
    /// The reason for its return from the held topic; `nil` if it was never there.
    let returned: ReturnReason?
    /// The place of the original, if the record is its copy from the held topic.
    let heldFrom: ResultRecord.Source?
    /// Quiet hours delay the event that began after it was examined.
    let isDelayedLater: Bool

    /// A record without an event.
    init(_ record: SourceRecord, _ identity: RecordIdentity, _ undecodable: Undecodable) {
        self.record = record
        self.identity = identity
        eventID = undecodable.eventID
        routed = nil
        failure = ResultRecord.Failure(code: undecodable.reason.rawValue, detail: undecodable.detail)
        deadline = .distantFuture
        staleAt = .distantFuture
        release = nil
        format = undecodable.format
        returned = nil
        heldFrom = nil
        isDelayedLater = false
    }

    /// - Parameter maxAge: the lane's maximum age; `nil` for no limit.
    init(
        _ record: SourceRecord, _ identity: RecordIdentity, _ event: consuming NewsEvent, by rules: ContentRules,
        maxAge: Duration?, format: String?, _ turn: borrowing Turn
    ) {
        self.record = record
        self.format = format
        self.identity = identity
        eventID = event.id
        let (expiresAt, embargo) = (event.expiresAt, event.embargoUntil)
        let routing = rules.router.route(event, isForEverybody: record.isReplacement)
        let isSilent = record.isSilent
        // `publish` refuses such events too, but the settings may have changed since.
        let wouldRing = isSilent && event.status == .usable && !rules.builder.settings.canBackfillSilently
        let refusal = rules.policy.refusal(of: event) ?? (wouldRing ? .wouldRing : nil)
        failure = if let refusal { refusal } else if case .unroutable(let failure) = routing { failure } else { nil }
        let routed = RoutedEvent(
            event, routing, by: rules, isRefused: refusal != nil, isReplacement: record.isReplacement,
            isSilent: isSilent)
        self.routed = routed
        returned = record.text(of: HeaderName.held).map { ReturnReason(rawValue: $0) ?? .due }
        heldFrom = record.heldFrom
        var tooOldAt = maxAge.map { max(record.timestamp ?? turn.wall, embargo ?? .distantPast) + $0 }
        var release = embargo
        // News that quiet hours delay is still news when they end.
        let leavesAt = max(turn.wall, embargo ?? .distantPast)
        if tooOldAt ?? .distantFuture > leavesAt, case .hold(let until) = routed.treatment(at: leavesAt) {
            tooOldAt = maxAge.map { until + $0 }
            release = until
        }
        staleAt = release == nil ? maxAge.map { turn.now + $0 } ?? .distantFuture : .distantFuture
        // The age of a record without a timestamp is the time since it was read, by the monotonic clock.
        let isDatedByUs = record.timestamp == nil && release == nil
        deadline = min(expiresAt ?? .distantFuture, isDatedByUs ? .distantFuture : tooOldAt ?? .distantFuture)
        self.release = release
        isDelayedLater = false
    }

    /// - Parameter release: the end of the quiet hours that delay the event.
    private init(_ former: ExaminedRecord, until release: Instant, maxAge: Duration?) {
        record = former.record
        identity = former.identity
        eventID = former.eventID
        routed = former.routed
        failure = former.failure
        deadline = min(former.routed?.event.expiresAt ?? .distantFuture, maxAge.map { release + $0 } ?? .distantFuture)
        staleAt = .distantFuture
        self.release = release
        format = former.format
        returned = former.returned
        heldFrom = former.heldFrom
        isDelayedLater = true
    }

    /// The record as quiet hours delay it that have begun since it was examined; `nil` if none have, if they began after its
    /// deadline, or if it is too old when they end.
    func delayed(maxAge: Duration?, _ turn: borrowing Turn) -> ExaminedRecord? {
        // The last moment at which it was news, by the wall clock.
        let lastNewsAt = min(deadline, turn.now > staleAt ? turn.wall - (turn.now - staleAt) : turn.wall)
        guard case .hold(let until)? = routed?.treatment(at: lastNewsAt), until > release ?? .distantPast else {
            return nil
        }
        let delayed = ExaminedRecord(self, until: until, maxAge: maxAge)
        return delayed.isStale(turn) ? nil : delayed
    }

    var hasDeadline: Bool { deadline < .distantFuture || staleAt < .distantFuture }

    func isStale(_ turn: borrowing Turn) -> Bool { turn.expiryClock >= deadline || turn.now >= staleAt }

    /// The time before which the event does not leave, by the embargo clock; `nil` if that time has passed.
    func due(_ turn: borrowing Turn) -> Due? {
        guard let routed else { return nil }
        if let embargo = routed.event.embargoUntil, embargo > turn.releaseClock {
            return Due(at: embargo, because: .embargo)
        }
        if case .hold(let until) = routed.treatment(at: turn.wall) { return Due(at: until, because: .quietHours) }
        return nil
    }

    var isReplacement: Bool { routed?.isReplacement ?? false }

    /// The failure of an event that quiet hours drop now; `nil` if it may leave.
    func prohibition(_ turn: borrowing Turn) -> ResultRecord.Failure? {
        if case .withhold(let failure)? = routed?.treatment(at: turn.wall) { failure } else { nil }
    }

    /// The reason why the record is stale.
    var expiry: ResultRecord.Failure {
        if let expiresAt = routed?.event.expiresAt, expiresAt == deadline {
            return .init(.expired, "the event's expiresAt has passed")
        }
        return .init(.tooOld, "older than the lane's maxAge")
    }
}

/// An event and its routing. An object, because copying the event would count references for each of its texts at every
/// step.
final class RoutedEvent: Sendable {
    let event: NewsEvent
    /// `nil` when it belongs to no category.
    let routing: Routing.Tagged?
    /// The code of its language, if languages have tags. A withheld event ends others of its language, even without a category.
    let edition: String?
    /// The event must not leave here whatever its status: a foreign environment, a test without testers, or a silent
    /// event that would ring. The record's `failure` has the reason.
    let isRefused: Bool
    /// The event replaces a recalled notification, so it makes no sound.
    fileprivate let isReplacement: Bool
    /// The event belongs to a silent backfill, at any hour.
    private let isSilent: Bool
    /// The event makes no sound at any hour, because it is a part of a silent backfill or by its urgency.
    private let isQuiet: Bool
    /// Quiet hours do not affect the event.
    private let isSentAtAnyHour: Bool
    /// The rules that routed it also build its requests.
    private let rules: ContentRules

    init(
        _ event: consuming NewsEvent, _ routing: Routing, by rules: ContentRules, isRefused: Bool, isReplacement: Bool,
        isSilent: Bool, edition: String? = nil
    ) {
        self.edition =
            if case .tagged(let tagged) = routing { tagged.edition } else { edition ?? rules.router.edition(of: event) }
        self.event = event
        self.isRefused = isRefused
        self.isReplacement = isReplacement
        self.isSilent = isSilent
        isQuiet = isSilent || rules.builder.settings.interruption.isQuiet(event)
        isSentAtAnyHour = !isReplacement && !isQuiet && rules.policy.quietHours.isEmpty
        self.rules = rules
        self.routing = if case .tagged(let tagged) = routing { tagged } else { nil }
    }

    /// The event as one of the given language. It has no readers.
    func edition(_ code: String) -> RoutedEvent {
        RoutedEvent(
            event, .unroutable(.init(.unknownLanguage, "")), by: rules, isRefused: isRefused,
            isReplacement: isReplacement, isSilent: isSilent, edition: code)
    }

    /// The key that orders the event: its story's, with the language if languages are sent separately. Otherwise
    /// version 2 in French would supersede version 1 in English. Recalls use the story alone.
    var orderKey: String {
        edition.map { Self.orderKey(event.orderKey, edition: $0) } ?? event.orderKey
    }

    /// The key under which the event is held.
    var heldKey: String {
        guard event.isForSomeOfItsStory else { return orderKey }
        var readers = Fingerprint()
        // The order of the readers says nothing.
        for user in Set(event.users).sorted() { readers.mix(user) }
        return HeldKey.key(of: orderKey, readers: readers.value)
    }

    static func orderKey(_ story: String, edition: String) -> String { "\(story)#\(edition)" }

    /// The version on the ledger. It contains the edition, because translations may share one id.
    var ledgerVersion: String? {
        edition.map { "\($0):\(event.ledgerVersion ?? "")" } ?? event.ledgerVersion
    }

    /// Extracts the event's version from a `ledgerVersion`.
    ///
    /// - Parameter story: the `orderKey`, which ends in the edition.
    static func version(ofLedger text: String, story: String?) -> NewsEvent.Version? {
        let edition = story?.split(separator: "#", omittingEmptySubsequences: false).dropFirst().last
        guard let edition, text.hasPrefix("\(edition):") else { return NewsEvent.version(ofLedger: text) }
        return NewsEvent.version(ofLedger: String(text.dropFirst(edition.count + 1)))
    }

    /// The languages whose readers get a substitute text.
    func filled(on platform: Platform) -> [String] { rules.builder.filled(for: event, on: platform) }

    /// The treatment of the event at a wall clock time, if it may leave here at all.
    func treatment(at wall: Instant) -> Treatment {
        guard !isSentAtAnyHour, let routing else { return .send }
        if isReplacement { return rules.builder.settings.canBeSilent ? .sendSilently : .send }
        let treatment = rules.treatment(of: event, routing, at: wall)
        return isQuiet && treatment == .send ? .sendSilently : treatment
    }

    /// - Parameter send: the number of the send, from 0.
    /// - Returns: `nil` when it belongs to no category.
    func payload(
        on platform: Platform, send: Int, lane: LaneID, since: Instant, sentAt: Instant, isQuiet: Bool
    ) -> Payload? {
        guard let routing = routing?.send(send) else { return nil }
        return rules.builder.payload(
            event, routing: routing, platform: platform, lane: lane, since: since, sentAt: sentAt,
            isQuiet: isQuiet, inBackground: isSilent)
    }
}

extension SourceRecord {
    /// The run of `publish` that wrote the record.
    var run: String? { headers.isEmpty ? nil : headers.last { $0.name == HeaderName.run }?.text }

    fileprivate var isReplacement: Bool { has(HeaderName.replacement) }

    /// The event must not disturb anyone.
    fileprivate var isSilent: Bool { has(HeaderName.quiet) }

    private func has(_ header: String) -> Bool { !headers.isEmpty && headers.contains { $0.name == header } }
}
