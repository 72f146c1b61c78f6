import ByteText
public import NewsModel

// What the hub's calls mean, and how to answer them.

extension Subscription {
    /// The answer to a call for a path that no subscription has.
    public static let unknownCallback = WebSubAnswer(status: 404)

    /// A call of the hub that verifies a subscription, or ends it. W3C WebSub §5.2, §5.3.
    /// - Parameters:
    ///   - query: its parameters, decoded.
    ///   - path: one of `paths`; for any other, the answer is 404.
    /// - Returns: the answer, and a line for the log where there is something to say.
    public mutating func verify(
        _ query: [String: String], path: String, at now: Instant
    ) -> (answer: WebSubAnswer, note: IngestNote?) {
        switch query["hub.mode"] {
        case "subscribe": return (confirm(query, path: path, at: now), nil)
        case "denied": return deny(query, path: path, at: now)
        // The hub ends the subscription that a renewal has replaced. It may not end the present one: we did not ask.
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
            // Our answer got lost, or the hub renews by itself.
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
        let note = IngestNote(.warning, "\(denied.source.hub) denies the subscription\(reason). The feed is polled.")
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
        // More digits than an integer holds are a very long lease.
        let seconds = Int64(text) ?? .max
        if seconds == 0 { return leaseUnnamed }
        return min(max(.seconds(min(seconds, leaseMax.components.seconds)), leaseMin), leaseMax)
    }

    /// One short line of what a stranger wrote.
    private static func shown(_ text: String) -> String {
        let visible = text.cut(toBytes: 200).unicodeScalars.filter { ("\u{20}"..."\u{7E}").contains($0) }
        return String(String.UnicodeScalarView(visible))
    }
}

extension Subscription {
    /// What to do with a delivery.
    public enum Delivery: Sendable, Hashable {
        /// It comes from the hub: read its body as the feed's, with the topic as its address.
        case news(topic: String)
        /// Nobody has signed it, because the secret would have travelled in the clear: poll the feed instead.
        case hint
        /// The hub has not signed it.
        case forged
        /// For a subscription that is over.
        case unwanted
    }

    /// New content, W3C WebSub §7. The answer never tells whether a signature was right.
    ///
    /// A delivery may be sent twice or replayed during its lease; the feed's rules for known entries decide about what
    /// it holds. After a renewal no old one is accepted: each callback has its own secret.
    public mutating func receive(
        headers: [HeaderField], body: [UInt8], path: String, at now: Instant
    ) -> (answer: WebSubAnswer, delivery: Delivery) {
        // The hub need not retry, and may forget the old callback.
        if path == retired { return (WebSubAnswer(status: 410), .unwanted) }
        let signature = headers.first { $0.name == "x-hub-signature" }?.value
        if let attempt, attempt.callback.path == path, attempt.callback.signed(body, as: signature) {
            // Only the hub knows the secret, so it has verified us; this process has forgotten it, by a crash.
            activate(attempt, for: Self.leaseUnnamed, at: now)
        }
        guard let lease, lease.callback.path == path else { return (Self.unknownCallback, .unwanted) }
        let accepted = WebSubAnswer(status: 200)
        if lease.callback.secret == nil { return (accepted, .hint) }
        let isSigned = lease.callback.signed(body, as: signature)
        return (accepted, isSigned ? .news(topic: lease.source.topic) : .forged)
    }

    /// A delivery has been read.
    /// - Parameter new: its entries that were neither known nor too old to be news.
    public mutating func pushed(new: Int, at now: Instant) {
        guard lease != nil else { return }
        trust.pushed(new: new, at: now)
        failures = 0
    }

    /// The feed has been polled and read, or is unchanged.
    /// - Parameter new: its entries that were neither known nor too old to be news.
    /// - Returns: a line for the log if the hub is given up.
    public mutating func polled(new: Int, at now: Instant) -> IngestNote? {
        // After its end the hub owes nothing.
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
            "\(lease.source.hub) took the subscription and pushed nothing of what \(PushTrust.silentPollsMax) "
                + "polls found. The feed is polled as before, and the hub asked again at \(until).")
    }

    /// A process has taken over the feed, or restarted.
    public mutating func restored() { trust.begin() }
}
