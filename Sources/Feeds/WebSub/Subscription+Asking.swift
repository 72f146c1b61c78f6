import ByteText
public import NewsModel

// Requests to the hub: their times, their forms, and the effects of the replies.

extension Subscription {
    /// Must be called after each answer with a document. Other answers (304, errors) have no links and change nothing.
    /// - Parameter source: `nil` if the feed names no hub, or WebSub is off for it.
    public mutating func learn(_ source: PushSource?, at now: Instant) {
        guard source != offered else { return }
        if source?.hub != offered?.hub { omitsLease = false }
        offered = source
        guard let source else {
            // An existing lease is kept until it expires.
            if case .active = state {} else { state = .idle }
            return
        }
        switch state {
        case .active(var lease) where lease.source != source:
            // The feed or its hub has moved. The renewal waits, because some feeds name another hub with each answer.
            lease.renewAt = min(lease.renewAt, now + Self.patience)
            state = .active(lease)
        case .denied(let past, _), .distrusted(let past, _):
            if past.hub != source.hub { state = .idle }
        default: break
        }
    }

    /// Time at which `request` will have a form to post, as far as is known; `nil` if never.
    /// - Parameter base: the public address of this process's callback, ending in a slash.
    public func dueAt(base: String) -> Instant? {
        guard offered != nil else { return nil }
        let due: Instant
        switch state {
        case .idle: due = retryAt
        case .asked(let attempt): due = attempt.askedAt + delay
        case .active(let lease):
            if let renewal = lease.renewal {
                due = renewal.askedAt + delay
            } else {
                // Calls to another process's callback never reach this process.
                due = lease.callback.base == base ? lease.renewAt : retryAt
            }
        case .denied(_, let until), .distrusted(_, let until): due = until
        }
        return max(due, retryAt)
    }

    /// The form to post now; `nil` if nothing is due. The reply must be passed to `answered`.
    /// - Parameters:
    ///   - base: the public address of this process's callback, ending in a slash.
    ///   - allowPrivate: hosts at private addresses, from the feed's rules. A hub there may be asked.
    ///   - isPlain: true if the feed itself is polled without TLS. A hub at one of `allowPrivate` then gets the secret
    ///     without TLS too, because a reader of the network could also change what polls read.
    ///   - random: must be unpredictable in production.
    public mutating func request(
        base: String, at now: Instant, allowPrivate: [String] = [], isPlain: Bool = false,
        using random: inout some RandomNumberGenerator
    ) -> WebSubRequest? {
        guard let source = offered, let due = dueAt(base: base), due <= now else { return nil }
        // The previous attempt was not verified in time.
        if attempt != nil { failures = min(failures + 1, Self.failuresMax) }
        let address = WebAddress(source.hub)
        let isInside = isPlain && allowPrivate.contains { address?.host.equalsIgnoringASCIICase($0) == true }
        let attempt = Attempt(
            source: source,
            callback: WebSubCallback(base: base, isSecret: address?.scheme == .https || isInside, using: &random),
            askedAt: now)
        if case .active(var lease) = state {
            lease.renewal = attempt
            state = .active(lease)
        } else {
            state = .asked(attempt)
        }
        return form(attempt, allowPrivate)
    }

    private func form(_ attempt: Attempt, _ allowPrivate: [String]) -> WebSubRequest {
        var form = [
            HeaderField("hub.mode", "subscribe"), HeaderField("hub.topic", attempt.source.topic),
            HeaderField("hub.callback", attempt.callback.url),
            // Hubs of PubSubHubbub 0.3 refuse a request without it; others ignore it.
            HeaderField("hub.verify", "async"),
        ]
        if !omitsLease { form.append(HeaderField("hub.lease_seconds", "\(Self.leaseWanted.components.seconds)")) }
        if let secret = attempt.callback.secret { form.append(HeaderField("hub.secret", secret)) }
        return WebSubRequest(url: attempt.source.hub, form: form, allowPrivate: allowPrivate)
    }

    /// Applies the hub's reply to the form.
    /// - Returns: a line for the log, if there is something to report.
    public mutating func answered(_ result: FetchResult, at now: Instant) -> IngestNote? {
        // The attempt is verified already, because hubs may verify before they reply.
        guard let attempt else { return nil }
        let reason: String
        switch result {
        case .answered(let answer) where (200...299).contains(answer.status): return nil
        case .answered(let answer) where answer.status == 400 && !omitsLease:
            omitsLease = true
            abandonAttempt()
            return IngestNote(
                .info,
                "\(attempt.source.shownHub) answered the subscription with 400; it is asked again without a lease."
            )
        case .answered(let answer) where (400...499).contains(answer.status) && answer.status != 429:
            omitsLease = false
            refused(attempt, at: now)
            return IngestNote(
                .warning, "\(attempt.source.shownHub) refuses the subscription with \(answer.status). \(pollsOn(now))")
        case .answered(let answer): reason = "it answered \(answer.status)"
        case .failed(let failure): reason = failure.detail
        }
        abandonAttempt()
        retryAt = now + delay
        failures = min(failures + 1, Self.failuresMax)
        return IngestNote(.warning, "\(attempt.source.shownHub) took no subscription: \(reason). \(pollsOn(now))")
    }

    private func pollsOn(_ now: Instant) -> String {
        let next = max(retryAt, until ?? retryAt)
        return "The feed is polled as before, and the hub asked again at \(next)."
    }

    private var until: Instant? {
        switch state {
        case .denied(_, let until), .distrusted(_, let until): until
        default: nil
        }
    }

    mutating func abandonAttempt() {
        switch state {
        case .asked: state = .idle
        case .active(var lease):
            lease.renewal = nil
            state = .active(lease)
        default: break
        }
    }

    /// Pauses requests to the hub for a long time. An existing lease stays until it expires.
    mutating func refused(_ attempt: Attempt, at now: Instant) {
        abandonAttempt()
        let until = now + pause
        failures = min(failures + 1, Self.failuresMax)
        retryAt = until
        if lease == nil { state = .denied(attempt.source, until: until) }
    }

    /// 1 day, 2 days, 4 days …, at most `leaseMax`.
    var pause: Duration { min(Self.refusalPause * (1 << min(failures, 4)), Self.leaseMax) }

    /// 10 minutes, 20, 40 …, at most a day.
    private var delay: Duration { min(Self.patience * (1 << min(failures, 8)), Self.refusalPause) }
}
