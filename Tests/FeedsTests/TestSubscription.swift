import ByteText
import Crypto
import NewsModel
import Testing

@testable import Feeds

/// A subscription with everything that its shell would provide.
struct TestSubscription {
    var subscription = Subscription()
    var now = Instant(milliseconds: 1_780_000_000_000)
    var random = SeededRandom(seed: 1)
    var base = "https://push.example/websub/"

    static let source = PushSource(hub: "https://hub.example/", topic: "https://news.example/feed")

    /// A subscription that has learned of a hub.
    static func informed(_ source: PushSource = source) -> TestSubscription {
        var subscriber = TestSubscription()
        subscriber.subscription.learn(source, at: subscriber.now)
        return subscriber
    }

    /// A subscription with a lease of this many seconds.
    static func subscribed(_ source: PushSource = source, lease: String? = "864000", trusts: Bool = false)
        -> TestSubscription
    {
        var subscriber = informed(source)
        _ = subscriber.ask(trusts: trusts)
        _ = subscriber.confirm(lease: lease)
        return subscriber
    }

    mutating func ask(trusts: Bool = false, isPlain: Bool = false) -> [String: String]? {
        subscription.request(
            base: base, at: now, allowPrivate: trusts ? ["HUB.example"] : ["other.example"], isPlain: isPlain,
            using: &random
        ).map {
            Dictionary($0.form.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        }
    }

    mutating func form(trusts: Bool = false, isPlain: Bool = false) throws -> [String: String] {
        let form = ask(trusts: trusts, isPlain: isPlain)
        return try #require(form)
    }

    mutating func answered(_ status: Int) -> IngestNote? {
        subscription.answered(.answered(FetchAnswer(status: status, finalURL: Self.source.hub)), at: now)
    }

    /// Lets the hub verify the request in flight.
    mutating func confirm(lease: String? = "864000", topic: String = source.topic) -> WebSubAnswer {
        guard let attempt = subscription.attempt else { return WebSubAnswer(status: 0) }
        return verify("subscribe", topic, path: attempt.callback.path, ["hub.lease_seconds": lease])
    }

    mutating func verify(
        _ mode: String, _ topic: String = source.topic, path: String, _ more: [String: String?] = [:]
    ) -> WebSubAnswer {
        let query = ["hub.mode": mode, "hub.topic": topic, "hub.challenge": "echo"].merging(more) { $1 }
        return subscription.verify(query.compactMapValues(\.self), path: path, at: now).answer
    }

    mutating func deliver(_ body: String, signature: String?, path: String? = nil) -> (Int, Subscription.Delivery) {
        let headers = signature.map { [HeaderField("x-hub-signature", $0)] } ?? []
        let path = path ?? subscription.lease?.callback.path ?? ""
        let result = subscription.receive(headers: headers, body: Array(body.utf8), path: path, at: now)
        return (result.answer.status, result.delivery)
    }

    var secret: String { subscription.lease?.callback.secret ?? "" }
}

func hex(_ code: some Sequence<UInt8>) -> String {
    String(decoding: code.flatMap { [UInt8(hexDigitOf: $0 >> 4), UInt8(hexDigitOf: $0)] }, as: UTF8.self)
}

func sha256(_ body: String, _ secret: String) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Array(body.utf8), using: SymmetricKey(data: Array(secret.utf8)))
    return "sha256=" + hex(code)
}
