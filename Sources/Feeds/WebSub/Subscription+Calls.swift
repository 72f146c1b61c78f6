import ByteText
public import NewsModel

// The effects of the hub's calls, and the answers to them.

extension Subscription {
    /// The answer to a call for an unknown path.
    public static let unknownCallback = WebSubAnswer(status: 404)

    /// Handles a call of the hub that verifies a subscription or ends it. W3C WebSub §5.2, §5.3.
    /// - Parameters:
    ///   - query: the call's parameters, decoded.
    ///   - path: one of `paths`. For any other path, the answer is 404.
    /// - Returns: the answer, and a line for the log if there is something to report.
    public mutating func verify(
        _ query: [String: String], path: String, at now: Instant
    ) -> (answer: WebSubAnswer, note: IngestNote?) {
        switch query["hub.mode"] {
        case "subscribe": return (confirm(query, path: path, at: now), nil)
        case "denied": return deny(query, path: path, at: now)
        // The hub may end a subscription that a renewal has replaced, but not the current one: we did not ask for that.
        case "unsubscribe" where path == retired: return (Self.echo(query), nil)
        default: return (Self.unknownCallback, nil)
        }
    }

    private mutating func confirm(_ query: [String: String], path: String, at now: Instant) -> WebSubAnswer {
        let answer = Self.echo(query)
        guard answer.status == 200, let topic = query["hub.topic"] else { return Self.unknownCallback }
        let length = Self.leaseLength(query["hub.lease_seconds"])
        if let attempt, attempt.callback.path == path, attempt.source.topic == topic {
            activate(attempt, for: length, at: now)
        } else if var lease, lease.callback.path == path, lease.source.topic == topic {
            // Our answer was lost, or the hub renews on its own initiative.
            lease.until = now + length
            lease.renewAt = now + length * 2 / 3
            state = .active(lease)
        } else {
            return Self.unknownCallback
        }
        return answer
    }

    private mutating func activate(_ attempt: Attempt, for length: Duration, at now: Instant) {
        if let lease {
            retired = lease.callback.path
            if lease.source.hub != attempt.source.hub { trust = PushTrust() }
        } else {
            trust.begin()
        }
        state = .active(
            Lease(
                source: attempt.source, callback: attempt.callback, until: now + length,
                renewAt: now + length * 2 / 3))
        retryAt = now
    }

    private mutating func deny(
        _ query: [String: String], path: String, at now: Instant
    ) -> (answer: WebSubAnswer, note: IngestNote?) {
        let topic = query["hub.topic"]
        let reason = query["hub.reason"].map { ": \(Self.shown($0))" } ?? ""
        let denied: Attempt
        if let attempt, attempt.callback.path == path, attempt.source.topic == topic {
            denied = attempt
        } else if let lease, lease.callback.path == path, lease.source.topic == topic {
            denied = Attempt(source: lease.source, callback: lease.callback, askedAt: now)
            state = .idle
        } else {
            return (Self.unknownCallback, nil)
        }
        refused(denied, at: now)
        let note = IngestNote(
            .warning, "\(denied.source.shownHub) denies the subscription\(reason). The feed is polled.")
        return (WebSubAnswer(status: 200), note)
    }

    private static let challengeMax = 1_024

    private static func echo(_ query: [String: String]) -> WebSubAnswer {
        guard let challenge = query["hub.challenge"], (1...challengeMax).contains(challenge.utf8.count) else {
            return unknownCallback
        }
        return WebSubAnswer(status: 200, body: challenge)
    }

    private static func leaseLength(_ text: String?) -> Duration {
        guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return leaseUnnamed }
        // A number with more digits than an integer holds means a very long lease.
        let seconds = Int64(text) ?? .max
        if seconds == 0 { return leaseUnnamed }
        return min(max(.seconds(min(seconds, leaseMax.components.seconds)), leaseMin), leaseMax)
    }

    /// Makes one short line of untrusted text.
    private static func shown(_ text: String) -> String {
        let visible = text.cut(toBytes: 200).unicodeScalars.filter { ("\u{20}"..."\u{7E}").contains($0) }
        return String(String.UnicodeScalarView(visible))
    }
}

extension Subscription {
    /// The kind of a delivery, and with it the right reaction.
    public enum Delivery: Sendable, Hashable {
        /// It comes from the hub: read its body as the feed's document, with the topic as its address.
        case news(topic: String)
        /// It has no signature, because the secret would have been sent in the clear: poll the feed instead.
        case hint
        /// It has no valid signature of the hub.
        case forged
        /// Its subscription has ended.
        case unwanted
    }

    /// Receives new content, W3C WebSub §7. The answer never reveals whether a signature was right.
    ///
    /// A delivery may be sent twice or replayed during its lease; the feed's rules for known entries handle that. After
    /// a renewal, old deliveries are rejected, because each callback has its own secret.
    public mutating func receive(
        headers: [HeaderField], body: [UInt8], path: String, at now: Instant
    ) -> (answer: WebSubAnswer, delivery: Delivery) {
        // The hub need not retry, and may forget the old callback.
        if path == retired { return (WebSubAnswer(status: 410), .unwanted) }
        let signature = headers.first { $0.name == "x-hub-signature" }?.value
        if let attempt, attempt.callback.path == path, attempt.callback.signed(body, as: signature) {
            // Only the hub knows the secret, so it has verified this callback, which this process lost in a crash.
            activate(attempt, for: Self.leaseUnnamed, at: now)
        }
        guard let lease, lease.callback.path == path else { return (Self.unknownCallback, .unwanted) }
        let accepted = WebSubAnswer(status: 200)
        if lease.callback.secret == nil { return (accepted, .hint) }
        let isSigned = lease.callback.signed(body, as: signature)
        return (accepted, isSigned ? .news(topic: lease.source.topic) : .forged)
    }

    /// Records that a delivery has been read.
    /// - Parameter new: number of its entries that were neither known nor too old to be news.
    public mutating func pushed(new: Int, at now: Instant) {
        guard lease != nil else { return }
        trust.pushed(new: new, at: now)
        failures = 0
    }

    /// Records that the feed has been polled and read, or is unchanged.
    /// - Parameter new: number of its entries that were neither known nor too old to be news.
    /// - Returns: a line for the log if the hub is no longer trusted.
    public mutating func polled(new: Int, at now: Instant) -> IngestNote? {
        // A hub need not push after the end of its lease.
        guard let lease, now < lease.until else { return nil }
        trust.polled(new: new, at: now)
        guard trust.isDead else { return nil }
        let until = now + pause
        failures = min(failures + 1, Self.failuresMax)
        trust = PushTrust()
        retired = lease.callback.path
        state = .distrusted(lease.source, until: until)
        return IngestNote(
            .warning,
            "\(lease.source.shownHub) took the subscription and pushed nothing of what \(PushTrust.silentPollsMax) "
                + "polls found. The feed is polled as before, and the hub asked again at \(until).")
    }

    /// Records that a process has taken over the feed, or restarted.
    public mutating func restored() { trust.begin() }
}
