import ByteText
import Crypto
import NewsModel
import Testing

@testable import Feeds

/// A subscription with everything that its shell would provide.
private struct TestSubscription {
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

    mutating func ask(trusts: Bool = false) -> [String: String]? {
        subscription.request(
            base: base, at: now, allowPrivate: trusts ? ["HUB.example"] : ["other.example"], using: &random
        ).map {
            Dictionary($0.form.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        }
    }

    mutating func form(trusts: Bool = false) throws -> [String: String] {
        let form = ask(trusts: trusts)
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

private func hex(_ code: some Sequence<UInt8>) -> String {
    String(decoding: code.flatMap { [UInt8(hexDigitOf: $0 >> 4), UInt8(hexDigitOf: $0)] }, as: UTF8.self)
}

private func sha256(_ body: String, _ secret: String) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: Array(body.utf8), using: SymmetricKey(data: Array(secret.utf8)))
    return "sha256=" + hex(code)
}

struct SubscriptionTests {
    // MARK: Asking

    @Test func `a feed without a hub sends no request`() {
        var subscriber = TestSubscription()
        #expect(subscriber.subscription.dueAt(base: subscriber.base) == nil)
        #expect(subscriber.ask() == nil)
        subscriber.subscription.learn(nil, at: subscriber.now)
        #expect(subscriber.ask() == nil)
    }

    @Test func `the form has all fields that a hub needs, and a path and a secret of its own`() throws {
        var subscriber = TestSubscription.informed()
        let form = try subscriber.form()
        let callback = try #require(form["hub.callback"])
        #expect(form["hub.mode"] == "subscribe")
        #expect(form["hub.topic"] == "https://news.example/feed")
        #expect(form["hub.lease_seconds"] == "864000")
        #expect(callback.hasPrefix("https://push.example/websub/") && callback.utf8.count == 28 + 32)
        #expect(form["hub.secret"]?.utf8.count == 64)
        #expect(subscriber.ask() == nil, "asked once")
        var other = TestSubscription.informed()
        other.random = SeededRandom(seed: 2)
        let second = try other.form()
        #expect(second["hub.callback"] != callback && second["hub.secret"] != form["hub.secret"])
    }

    @Test(arguments: [
        ("https://hub.example/", false, true), ("http://hub.example/", false, false),
        ("http://hub.example/", true, true),
    ])
    func `the secret is sent only under TLS or to a trusted host`(hub: String, isTrusted: Bool, isSent: Bool) throws {
        var subscriber = TestSubscription.informed(PushSource(hub: hub, topic: "https://news.example/feed"))
        let form = try subscriber.form(trusts: isTrusted)
        #expect((form["hub.secret"] != nil) == isSent)
    }

    @Test func `a hub that refuses lease_seconds is asked without it, at once and from then on`() throws {
        var subscriber = TestSubscription.informed()
        _ = subscriber.ask()
        #expect(subscriber.answered(400)?.level == .info)
        let form = try subscriber.form()
        #expect(form["hub.lease_seconds"] == nil)
        #expect(subscriber.answered(202) == nil)
        #expect(subscriber.confirm(lease: nil).status == 200)
        subscriber.now = try #require(subscriber.subscription.lease).renewAt
        let renewal = try subscriber.form()
        #expect(renewal["hub.lease_seconds"] == nil)
    }

    @Test func `a hub that answers 400 again is not asked for a day, then for two`() throws {
        var subscriber = TestSubscription.informed()
        for days in [1, 2, 4] as [Int64] {
            _ = subscriber.ask()
            _ = subscriber.answered(400)
            _ = subscriber.ask()
            #expect(subscriber.answered(400)?.level == .warning)
            #expect(subscriber.subscription.dueAt(base: subscriber.base) == subscriber.now + .seconds(86_400 * days))
            subscriber.now = subscriber.now + .seconds(86_400 * days)
        }
    }

    @Test(arguments: [500, 503, 429, 302])
    func `a hub with an error is asked again after 10 minutes, then 20, at most a day`(status: Int) throws {
        var subscriber = TestSubscription.informed()
        for minutes in [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440] as [Int64] {
            #expect(subscriber.ask() != nil)
            #expect(subscriber.answered(status)?.level == .warning)
            #expect(subscriber.subscription.dueAt(base: subscriber.base) == subscriber.now + .seconds(60 * minutes))
            subscriber.now = subscriber.now + .seconds(60 * minutes)
        }
    }

    @Test func `a hub that never verifies is asked again after 10 minutes, then 20, with another path each time`()
        throws
    {
        var subscriber = TestSubscription.informed()
        var callbacks: Set<String?> = []
        for minutes in [10, 20, 40] as [Int64] {
            let form = try subscriber.form()
            callbacks.insert(form["hub.callback"])
            #expect(subscriber.answered(202) == nil)
            #expect(subscriber.subscription.dueAt(base: subscriber.base) == subscriber.now + .seconds(60 * minutes))
            subscriber.now = subscriber.now + .seconds(60 * minutes)
        }
        #expect(callbacks.count == 3)
    }

    // MARK: Verification

    @Test func `a verification of our request gets its challenge back`() {
        var subscriber = TestSubscription.informed()
        _ = subscriber.ask()
        #expect(subscriber.confirm() == WebSubAnswer(status: 200, body: "echo"))
        #expect(subscriber.subscription.lease?.until == subscriber.now + .seconds(864_000))
        #expect(subscriber.answered(500) == nil, "the hub verified before it answered")
        #expect(subscriber.subscription.lease != nil)
    }

    @Test func `any other verification is answered with 404 and changes nothing`() throws {
        var subscriber = TestSubscription.informed()
        _ = subscriber.ask()
        let path = try #require(subscriber.subscription.attempt).callback.path
        let before = subscriber.subscription
        #expect(subscriber.verify("subscribe", "https://news.example/other", path: path).status == 404)
        #expect(subscriber.verify("subscribe", path: "0123").status == 404)
        #expect(subscriber.verify("unsubscribe", path: path).status == 404)
        #expect(subscriber.verify("", path: path).status == 404)
        #expect(subscriber.verify("subscribe", path: path, ["hub.challenge": nil]).status == 404)
        #expect(
            subscriber.verify("subscribe", path: path, ["hub.challenge": String(repeating: "x", count: 2_000)]).status
                == 404)
        #expect(subscriber.verify("denied", "https://news.example/other", path: path).status == 404)
        #expect(subscriber.subscription == before)
        #expect(subscriber.confirm().status == 200)
    }

    @Test(
        arguments: [
            ("864000", 864_000), ("31536000", 1_209_600), ("99999999999999999999999", 1_209_600), ("10", 600),
            ("0", 86_400), ("-5", 86_400), ("ten", 86_400), ("", 86_400), (nil, 86_400),
        ] as [(String?, Int64)])
    func `a lease is renewed after two thirds of its length`(lease: String?, seconds: Int64) throws {
        var subscriber = TestSubscription.subscribed(lease: lease)
        let active = try #require(subscriber.subscription.lease)
        #expect(active.until == subscriber.now + .seconds(seconds))
        #expect(active.renewAt == subscriber.now + .seconds(seconds * 2 / 3))
        subscriber.now = active.renewAt - .seconds(1)
        #expect(subscriber.ask() == nil)
        subscriber.now = active.renewAt
        #expect(subscriber.ask() != nil)
    }

    @Test func `the old callback works until the new one is verified`() throws {
        var subscriber = TestSubscription.subscribed()
        let old = try #require(subscriber.subscription.lease)
        let secret = subscriber.secret
        subscriber.now = old.renewAt
        let form = try subscriber.form()
        #expect(form["hub.callback"] != old.callback.base + old.callback.path)
        #expect(
            subscriber.deliver("a", signature: sha256("a", secret)) == (
                200, .news(topic: TestSubscription.source.topic)
            ))
        #expect(subscriber.confirm().status == 200)
        #expect(subscriber.secret != secret)
        let late = subscriber.deliver("a", signature: sha256("a", secret), path: old.callback.path)
        #expect(late == (410, .unwanted), "replaced")
        #expect(subscriber.deliver("a", signature: sha256("a", secret)) == (200, .forged), "replayed to the new one")
        #expect(
            subscriber.deliver("a", signature: sha256("a", subscriber.secret)).1
                == .news(topic: TestSubscription.source.topic))
        #expect(subscriber.verify("unsubscribe", path: old.callback.path).body == "echo")
        #expect(
            subscriber.verify("unsubscribe", path: try #require(subscriber.subscription.lease).callback.path).status
                == 404)
    }

    @Test func `a renewal that fails does not change the lease`() throws {
        var subscriber = TestSubscription.subscribed()
        let old = try #require(subscriber.subscription.lease)
        subscriber.now = old.renewAt
        _ = subscriber.ask()
        #expect(subscriber.answered(503)?.level == .warning)
        #expect(
            subscriber.deliver("a", signature: sha256("a", subscriber.secret)).1
                == .news(topic: TestSubscription.source.topic))
        #expect(subscriber.subscription.dueAt(base: subscriber.base) == subscriber.now + .seconds(600))
    }

    @Test func `a hub that verifies again on its own initiative extends the lease`() throws {
        var subscriber = TestSubscription.subscribed(lease: "86400")
        let path = try #require(subscriber.subscription.lease).callback.path
        subscriber.now = subscriber.now + .seconds(50_000)
        #expect(subscriber.verify("subscribe", path: path, ["hub.lease_seconds": "86400"]).status == 200)
        #expect(subscriber.subscription.lease?.until == subscriber.now + .seconds(86_400))
    }

    @Test func `a process with another public address asks the hub again`() throws {
        var subscriber = TestSubscription.subscribed()
        subscriber.base = "https://other.example/"
        let form = try subscriber.form()
        #expect(form["hub.callback"]?.hasPrefix("https://other.example/") == true)
    }

    @Test func `a feed that moves to another hub is subscribed there, but not with every poll`() throws {
        var subscriber = TestSubscription.subscribed()
        let other = PushSource(hub: "https://other.example/", topic: "https://news.example/feed")
        subscriber.subscription.learn(other, at: subscriber.now)
        subscriber.now = subscriber.now + .seconds(600)
        #expect(subscriber.ask() != nil)
        #expect(subscriber.confirm().status == 200)
        #expect(subscriber.subscription.lease?.source == other)
        for _ in 0..<10 {
            subscriber.subscription.learn(TestSubscription.source, at: subscriber.now)
            subscriber.subscription.learn(other, at: subscriber.now)
            #expect(subscriber.ask() == nil)
        }
        subscriber.subscription.learn(nil, at: subscriber.now)
        subscriber.now = subscriber.now + .seconds(864_000)
        #expect(subscriber.ask() == nil, "no hub is named any more: the lease runs out")
    }

    // MARK: Denial

    @Test func `a hub may deny a request`() throws {
        var subscriber = TestSubscription.informed()
        _ = subscriber.ask()
        let path = try #require(subscriber.subscription.attempt).callback.path
        let query = [
            "hub.mode": "denied", "hub.topic": TestSubscription.source.topic, "hub.reason": "no\nway \u{202E}x",
        ]
        let (answer, note) = subscriber.subscription.verify(query, path: path, at: subscriber.now)
        #expect(answer.status == 200)
        #expect(note?.text.contains("denies the subscription: noway x") == true)
        #expect(subscriber.subscription.dueAt(base: subscriber.base) == subscriber.now + .seconds(86_400))
    }

    @Test func `a hub may end a lease at any time`() throws {
        var subscriber = TestSubscription.subscribed()
        let callback = try #require(subscriber.subscription.lease).callback
        #expect(subscriber.verify("denied", path: callback.path).status == 200)
        #expect(
            subscriber.deliver("a", signature: sha256("a", callback.secret ?? ""), path: callback.path) == (
                404, .unwanted
            ))
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 1)
        subscriber.subscription.learn(
            PushSource(hub: "https://other.example/", topic: TestSubscription.source.topic), at: subscriber.now)
        #expect(subscriber.subscription.state == .idle, "another hub is another matter")
    }

    // MARK: Deliveries

    @Test func `every signing method is checked, in any letter case`() {
        var subscriber = TestSubscription.subscribed()
        let body = Array("<feed/>".utf8)
        let key = SymmetricKey(data: Array(subscriber.secret.utf8))
        let codes = [
            "sha1=" + hex(HMAC<Insecure.SHA1>.authenticationCode(for: body, using: key)),
            "sha256=" + hex(HMAC<SHA256>.authenticationCode(for: body, using: key)),
            "sha384=" + hex(HMAC<SHA384>.authenticationCode(for: body, using: key)),
            "sha512=" + hex(HMAC<SHA512>.authenticationCode(for: body, using: key)),
        ]
        for code in codes {
            #expect(
                subscriber.deliver("<feed/>", signature: code).1 == .news(topic: TestSubscription.source.topic),
                "\(code)")
            #expect(
                subscriber.deliver("<feed/>", signature: code.uppercased()).1
                    == .news(topic: TestSubscription.source.topic))
            #expect(subscriber.deliver("<feed/> ", signature: code) == (200, .forged))
            #expect(subscriber.deliver("<feed/>", signature: String(code.dropLast(2))).1 == .forged)
            #expect(subscriber.deliver("<feed/>", signature: code + "00").1 == .forged)
        }
        for wrong in ["", "=", "sha1", "sha1=", "md5=00", "sha256=zz", codes[1].replacing("sha256", with: "sha1")] {
            #expect(subscriber.deliver("<feed/>", signature: wrong) == (200, .forged), "\(wrong)")
        }
        #expect(subscriber.deliver("<feed/>", signature: nil) == (200, .forged))
        #expect(subscriber.deliver("<feed/>", signature: codes[1], path: "0123") == (404, .unwanted))
    }

    @Test func `a delivery that the hub could not sign is only a hint to poll`() {
        var subscriber = TestSubscription.subscribed(
            PushSource(hub: "http://hub.example/", topic: TestSubscription.source.topic))
        #expect(subscriber.deliver("<feed/>", signature: nil) == (200, .hint))
        #expect(subscriber.deliver("<feed/>", signature: "sha1=00") == (200, .hint))
    }

    @Test func `a signed delivery proves a subscription that was lost in a crash`() throws {
        var subscriber = TestSubscription.informed()
        _ = subscriber.ask()
        let callback = try #require(subscriber.subscription.attempt).callback
        #expect(subscriber.deliver("a", signature: nil, path: callback.path) == (404, .unwanted))
        let known = subscriber.deliver("a", signature: sha256("a", callback.secret ?? ""), path: callback.path)
        #expect(known == (200, .news(topic: TestSubscription.source.topic)))
        #expect(subscriber.subscription.lease != nil)
    }

    // MARK: Trust

    @Test func `polls become rare only once pushes come first`() {
        var subscriber = TestSubscription.subscribed()
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 1)
        subscriber.subscription.pushed(new: 0, at: subscriber.now)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 1, "it brought nothing that was not known")
        subscriber.subscription.pushed(new: 1, at: subscriber.now)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 5)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now + .seconds(864_000)) == 1, "the lease is over")
    }

    @Test func `an entry found by a poll counts against the hub unless its push follows soon`() {
        var subscriber = TestSubscription.subscribed()
        subscriber.subscription.pushed(new: 20, at: subscriber.now)
        func poll(new: Int, after seconds: Int64) -> IngestNote? {
            subscriber.now = subscriber.now + .seconds(seconds)
            return subscriber.subscription.polled(new: new, at: subscriber.now)
        }
        _ = poll(new: 7, after: 60)
        _ = poll(new: 0, after: 900)
        #expect(subscriber.subscription.trust.polledFirst == 0, "they may be older than the subscription")
        _ = poll(new: 1, after: 300)
        subscriber.now = subscriber.now + .seconds(599)
        subscriber.subscription.pushed(new: 0, at: subscriber.now)
        _ = poll(new: 0, after: 900)
        #expect(subscriber.subscription.trust.polledFirst == 0, "only a moment late")
        _ = poll(new: 1, after: 300)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 5)
        _ = poll(new: 0, after: 600)
        #expect(subscriber.subscription.trust.polledFirst == 1)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 1, "missed one")
        subscriber.subscription.pushed(new: 1, at: subscriber.now)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 5, "1 of 22, and it pushes again")
        _ = poll(new: 3, after: 300)
        subscriber.now = subscriber.now + .seconds(601)
        subscriber.subscription.pushed(new: 1, at: subscriber.now)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 1, "4 of 26")
        subscriber.subscription.pushed(new: 14, at: subscriber.now)
        #expect(subscriber.subscription.pollFactor(at: subscriber.now) == 5, "4 of 40")
    }

    @Test func `a hub that accepts subscriptions and never pushes is dropped, for longer each time`() throws {
        var subscriber = TestSubscription.subscribed()
        for days in [1, 2, 4, 8, 14, 14] as [Int64] {
            let path = try #require(subscriber.subscription.lease).callback.path
            var note: IngestNote?
            for _ in 0..<10 where note == nil {
                subscriber.now = subscriber.now + .seconds(900)
                note = subscriber.subscription.polled(new: 1, at: subscriber.now)
            }
            #expect(try #require(note).level == .warning)
            guard case .distrusted(TestSubscription.source, let until) = subscriber.subscription.state else {
                Issue.record("\(subscriber.subscription.state)")
                return
            }
            #expect(until == subscriber.now + .seconds(days * 86_400))
            #expect(subscriber.deliver("a", signature: nil, path: path).0 == 410)
            #expect(subscriber.ask() == nil)
            subscriber.now = until
            #expect(subscriber.ask() != nil)
            #expect(subscriber.confirm().status == 200)
        }
    }

    @Test func `polls of a quiet feed say nothing about its hub`() {
        var subscriber = TestSubscription.subscribed()
        for _ in 0..<100 {
            subscriber.now = subscriber.now + .seconds(900)
            #expect(subscriber.subscription.polled(new: 0, at: subscriber.now) == nil)
        }
        #expect(subscriber.subscription.lease != nil)
    }

    // MARK: State

    @Test func `every state is read back from its record`() throws {
        var subscribers = [TestSubscription(), TestSubscription.informed(), TestSubscription.subscribed()]
        var asked = TestSubscription.informed()
        _ = asked.ask()
        subscribers.append(asked)
        var renewing = TestSubscription.subscribed()
        renewing.now = try #require(renewing.subscription.lease).renewAt
        _ = renewing.ask()
        subscribers.append(renewing)
        _ = renewing.confirm()
        renewing.subscription.pushed(new: 3, at: renewing.now)
        subscribers.append(renewing)
        var denied = asked
        _ = denied.answered(403)
        subscribers.append(denied)
        var refused = asked
        _ = refused.answered(400)
        subscribers.append(refused)
        var dead = TestSubscription.subscribed()
        for _ in 0..<9 {
            dead.now = dead.now + .seconds(900)
            _ = dead.subscription.polled(new: 1, at: dead.now)
        }
        subscribers.append(dead)
        let parser = JSONParser()
        for subscriber in subscribers {
            let bytes = JSONWriter.object { subscriber.subscription.write(into: &$0) }
            let restored = try bytes.withUnsafeBufferPointer { Subscription(try parser.object(in: $0)) }
            #expect(restored == subscriber.subscription, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    @Test(arguments: [
        "{}", #"{"active":{}}"#, #"{"active":7,"asked":"x","offered":[]}"#, #"{"asked":{"hub":"h","topic":"t"}}"#,
        #"{"denied":{"hub":1}}"#, #"{"pushedFirst":-1,"failures":-9,"retryAt":"soon","retired":null}"#,
    ])
    func `an invalid record is read as a feed without a subscription`(text: String) throws {
        let parser = JSONParser()
        let restored = try Array(text.utf8).withUnsafeBufferPointer { Subscription(try parser.object(in: $0)) }
        #expect(restored == Subscription())
        let wild = #"{"pushedFirst":9223372036854775807,"polledFirst":9223372036854775807,"failures":99999}"#
        var subscription = try Array(wild.utf8).withUnsafeBufferPointer { Subscription(try parser.object(in: $0)) }
        subscription.learn(TestSubscription.source, at: .distantFuture)
        var random = SeededRandom(seed: 1)
        #expect(subscription.request(base: "https://push.example/", at: .distantFuture, using: &random) != nil)
        _ = subscription.answered(.failed(FetchFailure(.timeout, "no answer")), at: .distantFuture)
    }

    @Test func `no description shows a path or a secret`() throws {
        var subscriber = TestSubscription.subscribed()
        subscriber.now = try #require(subscriber.subscription.lease).renewAt
        let asked = subscriber.subscription.request(
            base: subscriber.base, at: subscriber.now, using: &subscriber.random)
        let request = try #require(asked)
        let hidden = [subscriber.subscription.lease?.callback, subscriber.subscription.attempt?.callback].compactMap(
            \.self)
        var shown = "\(request) \(subscriber.subscription) \(IngestAction.post(FetchID(1), request))"
        dump((request, subscriber.subscription), to: &shown)
        shown += String(reflecting: subscriber.subscription) + String(reflecting: request)
        #expect(hidden.count == 2)
        for callback in hidden {
            let secret = try #require(callback.secret)
            #expect(!shown.contains(callback.path) && !shown.contains(secret))
        }
    }
}
