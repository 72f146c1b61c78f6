import ByteText
import NewsModel

/// The parsed headers of an answer.
struct AnswerHeaders {
    private let answer: FetchAnswer
    private let now: Int64

    init(_ answer: FetchAnswer, now: Instant) {
        self.answer = answer
        // Seconds of a 64-bit count of nanoseconds, so that adding days cannot overflow.
        self.now = now.nanoseconds.flooredQuotientAndRemainder(dividingBy: 1_000_000_000).quotient
    }

    /// The validators for the next request; `nil` if the answer has no useful ones.
    var validators: Validators? {
        // Servers that send `Expires: 0` make up new validators for each answer.
        guard answer.header("expires")?.trimmed != "0" else { return nil }
        return Self.orNil(Validators(etag: etag, lastModified: lastModified))
    }

    /// The validators after a 304, which need not repeat what it confirms. RFC 9110 §15.4.5.
    func refreshing(_ sent: Validators) -> Validators? {
        Self.orNil(Validators(etag: etag ?? sent.etag, lastModified: lastModified ?? sent.lastModified))
    }

    private static func orNil(_ validators: Validators) -> Validators? {
        validators.etag == nil && validators.lastModified == nil ? nil : validators
    }

    private var etag: String? { answer.header("etag").flatMap(Self.repeatable) }

    /// Kept as text, because publishers compare text. A date in the future (2038 occurs) would match whatever changes.
    private var lastModified: String? {
        guard let text = answer.header("last-modified").flatMap(Self.repeatable) else { return nil }
        guard let date = HTTPDate.seconds(of: text, now: now) else { return text }
        return date > now + 86_400 ? nil : text
    }

    /// Returns `nil` for text that must not be sent back in a header or kept in the state.
    private static func repeatable(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isPlain && (1...1_024).contains(text.utf8.count) ? text : nil
    }

    /// `max-age`, or else `Expires` minus `Date`. `s-maxage` is for shared caches. `no-cache` and `no-store` control
    /// the storage of an answer, not the time of the next one.
    var freshFor: Duration? {
        let seconds = maxAge ?? untilExpiry
        return seconds.map { min(.seconds(max($0, 0)), AnswerVerdict.freshMax) }
    }

    private var maxAge: Int64? {
        for field in answer.headers where field.name == "cache-control" {
            for directive in field.value.split(separator: ",").prefix(64) {
                let parts = directive.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmed.equalsIgnoringASCIICase("max-age") else { continue }
                let digits = parts[1].trimmed.drop { $0 == "\"" }.prefix { $0 != "\"" }
                guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit) else { continue }
                return Int64(digits) ?? .max
            }
        }
        return nil
    }

    private var untilExpiry: Int64? {
        guard let expires = answer.header("expires").flatMap({ HTTPDate.seconds(of: $0.trimmed, now: now) }) else {
            return nil
        }
        // The difference is by the publisher's own clock, because ours may be wrong.
        return expires - (date ?? now)
    }

    private var date: Int64? { answer.header("date").flatMap { HTTPDate.seconds(of: $0.trimmed, now: now) } }

    /// The present time by the publisher's clock; `nil` if the answer does not say it. A cache adds the time that it has kept the
    /// answer.
    var servedAt: Instant? {
        guard let date else { return nil }
        let age = answer.header("age").flatMap { Int64($0.trimmed) } ?? 0
        return Instant(milliseconds: 0) + .seconds(date) + .seconds(min(max(age, 0), 366 * 86_400))
    }

    /// `nil` also for a number that does not fit into 64 bits, because it is an error of the server.
    var retryAfter: Duration? {
        guard let value = answer.header("retry-after") else { return nil }
        let text = value.trimmed
        if text.utf8.allSatisfy(\.isASCIIDigit), Int64(text) == nil { return nil }
        return RetryAfterHeader.seconds(of: text, now: now).map { .seconds($0) }
    }

    /// True if Cloudflare demands a proof that the reader is human.
    var isBotWall: Bool {
        answer.header("cf-mitigated")?.trimmed.equalsIgnoringASCIICase("challenge") == true
    }
}
