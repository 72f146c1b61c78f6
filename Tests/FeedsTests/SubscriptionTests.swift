import ByteText
import Crypto
import NewsModel
import Testing

@testable import Feeds

/// A subscription with everything that its shell would provide.
private struct Desk {
    var subscription = Subscription()
    var now = Instant(milliseconds: 1_780_000_000_000)
    var random = SeededRandom(seed: 1)
    var base = "https://push.example/websub/"

    static let source = PushSource(hub: "https://hub.example/", topic: "https://news.example/feed")

    /// A subscription that has learned of a hub.
    static func informed(_ source: PushSource = source) -> Desk {
        var desk = Desk()
        desk.subscription.learn(source, at: desk.now)
        return desk
    }

    /// A subscription with a lease of this many seconds.
    static func subscribed(_ source: PushSource = source, lease: String? = "864000", trusts: Bool = false) -> Desk {
        var desk = informed(source)
        _ = desk.ask(trusts: trusts)
        _ = desk.confirm(lease: lease)
        return desk
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
        var desk = Desk()
        #expect(desk.subscription.dueAt(base: desk.base) == nil)
        #expect(desk.ask() == nil)
        desk.subscription.learn(nil, at: desk.now)
        #expect(desk.ask() == nil)
    }

    @Test func `the form has all fields that a hub needs, and a path and a secret of its own`() throws {
        var desk = Desk.informed()
        let form = try desk.form()
        let callback = try #require(form["hub.callback"])
        #expect(form["hub.mode"] == "subscribe")
        #expect(form["hub.topic"] == "https://news.example/feed")
        #expect(form["hub.lease_seconds"] == "864000")
        #expect(callback.hasPrefix("https://push.example/websub/") && callback.utf8.count == 28 + 32)
        #expect(form["hub.secret"]?.utf8.count == 64)
        #expect(desk.ask() == nil, "asked once")
        var other = Desk.informed()
        other.random = SeededRandom(seed: 2)
        let second = try other.form()
        #expect(second["hub.callback"] != callback && second["hub.secret"] != form["hub.secret"])
    }

    @Test(arguments: [
        ("https://hub.example/", false, true), ("http://hub.example/", false, false),
        ("http://hub.example/", true, true),
    ])
    func `the secret is sent only under TLS or to a trusted host`(hub: String, isTrusted: Bool, isSent: Bool) throws {
        var desk = Desk.informed(PushSource(hub: hub, topic: "https://news.example/feed"))
        let form = try desk.form(trusts: isTrusted)
        #expect((form["hub.secret"] != nil) == isSent)
    }

    @Test func `a hub that refuses lease_seconds is asked without it, at once and from then on`() throws {
        var desk = Desk.informed()
        _ = desk.ask()
        #expect(desk.answered(400)?.level == .info)
        let form = try desk.form()
        #expect(form["hub.lease_seconds"] == nil)
        #expect(desk.answered(202) == nil)
        #expect(desk.confirm(lease: nil).status == 200)
        desk.now = try #require(desk.subscription.lease).renewAt
        let renewal = try desk.form()
        #expect(renewal["hub.lease_seconds"] == nil)
    }

    @Test func `a hub that answers 400 again is not asked for a day, then for two`() throws {
        var desk = Desk.informed()
        for days in [1, 2, 4] as [Int64] {
            _ = desk.ask()
            _ = desk.answered(400)
            _ = desk.ask()
            #expect(desk.answered(400)?.level == .warning)
            #expect(desk.subscription.dueAt(base: desk.base) == desk.now + .seconds(86_400 * days))
            desk.now = desk.now + .seconds(86_400 * days)
        }
    }

    @Test(arguments: [500, 503, 429, 302])
    func `a hub with an error is asked again after 10 minutes, then 20, at most a day`(status: Int) throws {
        var desk = Desk.informed()
        for minutes in [10, 20, 40, 80, 160, 320, 640, 1_280, 1_440, 1_440] as [Int64] {
            #expect(desk.ask() != nil)
            #expect(desk.answered(status)?.level == .warning)
            #expect(desk.subscription.dueAt(base: desk.base) == desk.now + .seconds(60 * minutes))
            desk.now = desk.now + .seconds(60 * minutes)
        }
    }

    @Test func `a hub that never verifies is asked again after 10 minutes, then 20, with another path each time`()
        throws
    {
        var desk = Desk.informed()
        var callbacks: Set<String?> = []
        for minutes in [10, 20, 40] as [Int64] {
            let form = try desk.form()
            callbacks.insert(form["hub.callback"])
            #expect(desk.answered(202) == nil)
            #expect(desk.subscription.dueAt(base: desk.base) == desk.now + .seconds(60 * minutes))
            desk.now = desk.now + .seconds(60 * minutes)
        }
        #expect(callbacks.count == 3)
    }

    // MARK: Verification

    @Test func `a verification of our request gets its challenge back`() {
        var desk = Desk.informed()
        _ = desk.ask()
        #expect(desk.confirm() == WebSubAnswer(status: 200, body: "echo"))
        #expect(desk.subscription.lease?.until == desk.now + .seconds(864_000))
        #expect(desk.answered(500) == nil, "the hub verified before it answered")
        #expect(desk.subscription.lease != nil)
    }

    @Test func `any other verification is answered with 404 and changes nothing`() throws {
        var desk = Desk.informed()
        _ = desk.ask()
        let path = try #require(desk.subscription.attempt).callback.path
        let before = desk.subscription
        #expect(desk.verify("subscribe", "https://news.example/other", path: path).status == 404)
        #expect(desk.verify("subscribe", path: "0123").status == 404)
        #expect(desk.verify("unsubscribe", path: path).status == 404)
        #expect(desk.verify("", path: path).status == 404)
        #expect(desk.verify("subscribe", path: path, ["hub.challenge": nil]).status == 404)
        #expect(
            desk.verify("subscribe", path: path, ["hub.challenge": String(repeating: "x", count: 2_000)]).status == 404)
        #expect(desk.verify("denied", "https://news.example/other", path: path).status == 404)
        #expect(desk.subscription == before)
        #expect(desk.confirm().status == 200)
    }

    @Test(
        arguments: [
            ("864000", 864_000), ("31536000", 1_209_600), ("99999999999999999999999", 1_209_600), ("10", 600),
            ("0", 86_400), ("-5", 86_400), ("ten", 86_400), ("", 86_400), (nil, 86_400),
        ] as [(String?, Int64)])
    func `a lease is renewed after two thirds of its length`(lease: String?, seconds: Int64) throws {
        var desk = Desk.subscribed(lease: lease)
        let active = try #require(desk.subscription.lease)
        #expect(active.until == desk.now + .seconds(seconds))
        #expect(active.renewAt == desk.now + .seconds(seconds * 2 / 3))
        desk.now = active.renewAt - .seconds(1)
        #expect(desk.ask() == nil)
        desk.now = active.renewAt
        #expect(desk.ask() != nil)
    }

    @Test func `the old callback works until the new one is verified`() throws {
        var desk = Desk.subscribed()
        let old = try #require(desk.subscription.lease)
        let secret = desk.secret
        desk.now = old.renewAt
        let form = try desk.form()
        #expect(form["hub.callback"] != old.callback.base + old.callback.path)
        #expect(desk.deliver("a", signature: sha256("a", secret)) == (200, .news(topic: Desk.source.topic)))
        #expect(desk.confirm().status == 200)
        #expect(desk.secret != secret)
        let late = desk.deliver("a", signature: sha256("a", secret), path: old.callback.path)
        #expect(late == (410, .unwanted), "replaced")
        #expect(desk.deliver("a", signature: sha256("a", secret)) == (200, .forged), "replayed to the new one")
        #expect(desk.deliver("a", signature: sha256("a", desk.secret)).1 == .news(topic: Desk.source.topic))
        #expect(desk.verify("unsubscribe", path: old.callback.path).body == "echo")
        #expect(desk.verify("unsubscribe", path: try #require(desk.subscription.lease).callback.path).status == 404)
    }

    @Test func `a renewal that fails does not change the lease`() throws {
        var desk = Desk.subscribed()
        let old = try #require(desk.subscription.lease)
        desk.now = old.renewAt
        _ = desk.ask()
        #expect(desk.answered(503)?.level == .warning)
        #expect(desk.deliver("a", signature: sha256("a", desk.secret)).1 == .news(topic: Desk.source.topic))
        #expect(desk.subscription.dueAt(base: desk.base) == desk.now + .seconds(600))
    }

    @Test func `a hub that verifies again on its own initiative extends the lease`() throws {
        var desk = Desk.subscribed(lease: "86400")
        let path = try #require(desk.subscription.lease).callback.path
        desk.now = desk.now + .seconds(50_000)
        #expect(desk.verify("subscribe", path: path, ["hub.lease_seconds": "86400"]).status == 200)
        #expect(desk.subscription.lease?.until == desk.now + .seconds(86_400))
    }

    @Test func `a process with another public address asks the hub again`() throws {
        var desk = Desk.subscribed()
        desk.base = "https://other.example/"
        let form = try desk.form()
        #expect(form["hub.callback"]?.hasPrefix("https://other.example/") == true)
    }

    @Test func `a feed that moves to another hub is subscribed there, but not with every poll`() throws {
        var desk = Desk.subscribed()
        let other = PushSource(hub: "https://other.example/", topic: "https://news.example/feed")
        desk.subscription.learn(other, at: desk.now)
        desk.now = desk.now + .seconds(600)
        #expect(desk.ask() != nil)
        #expect(desk.confirm().status == 200)
        #expect(desk.subscription.lease?.source == other)
        for _ in 0..<10 {
            desk.subscription.learn(Desk.source, at: desk.now)
            desk.subscription.learn(other, at: desk.now)
            #expect(desk.ask() == nil)
        }
        desk.subscription.learn(nil, at: desk.now)
        desk.now = desk.now + .seconds(864_000)
        #expect(desk.ask() == nil, "no hub is named any more: the lease runs out")
    }

    // MARK: Denial

    @Test func `a hub may deny a request`() throws {
        var desk = Desk.informed()
        _ = desk.ask()
        let path = try #require(desk.subscription.attempt).callback.path
        let query = ["hub.mode": "denied", "hub.topic": Desk.source.topic, "hub.reason": "no\nway \u{202E}x"]
        let (answer, note) = desk.subscription.verify(query, path: path, at: desk.now)
        #expect(answer.status == 200)
        #expect(note?.text.contains("denies the subscription: noway x") == true)
        #expect(desk.subscription.dueAt(base: desk.base) == desk.now + .seconds(86_400))
    }

    @Test func `a hub may end a lease at any time`() throws {
        var desk = Desk.subscribed()
        let callback = try #require(desk.subscription.lease).callback
        #expect(desk.verify("denied", path: callback.path).status == 200)
        #expect(
            desk.deliver("a", signature: sha256("a", callback.secret ?? ""), path: callback.path) == (404, .unwanted))
        #expect(desk.subscription.pollFactor(at: desk.now) == 1)
        desk.subscription.learn(PushSource(hub: "https://other.example/", topic: Desk.source.topic), at: desk.now)
        #expect(desk.subscription.state == .idle, "another hub is another matter")
    }

    // MARK: Deliveries

    @Test func `every signing method is checked, in any letter case`() {
        var desk = Desk.subscribed()
        let body = Array("<feed/>".utf8)
        let key = SymmetricKey(data: Array(desk.secret.utf8))
        let codes = [
            "sha1=" + hex(HMAC<Insecure.SHA1>.authenticationCode(for: body, using: key)),
            "sha256=" + hex(HMAC<SHA256>.authenticationCode(for: body, using: key)),
            "sha384=" + hex(HMAC<SHA384>.authenticationCode(for: body, using: key)),
            "sha512=" + hex(HMAC<SHA512>.authenticationCode(for: body, using: key)),
        ]
        for code in codes {
            #expect(desk.deliver("<feed/>", signature: code).1 == .news(topic: Desk.source.topic), "\(code)")
            #expect(desk.deliver("<feed/>", signature: code.uppercased()).1 == .news(topic: Desk.source.topic))
            #expect(desk.deliver("<feed/> ", signature: code) == (200, .forged))
            #expect(desk.deliver("<feed/>", signature: String(code.dropLast(2))).1 == .forged)
            #expect(desk.deliver("<feed/>", signature: code + "00").1 == .forged)
        }
        for wrong in ["", "=", "sha1", "sha1=", "md5=00", "sha256=zz", codes[1].replacing("sha256", with: "sha1")] {
            #expect(desk.deliver("<feed/>", signature: wrong) == (200, .forged), "\(wrong)")
        }
        #expect(desk.deliver("<feed/>", signature: nil) == (200, .forged))
        #expect(desk.deliver("<feed/>", signature: codes[1], path: "0123") == (404, .unwanted))
    }

    @Test func `a delivery that the hub could not sign is only a hint to poll`() {
        var desk = Desk.subscribed(PushSource(hub: "http://hub.example/", topic: Desk.source.topic))
        #expect(desk.deliver("<feed/>", signature: nil) == (200, .hint))
        #expect(desk.deliver("<feed/>", signature: "sha1=00") == (200, .hint))
    }

    @Test func `a signed delivery proves a subscription that was lost in a crash`() throws {
        var desk = Desk.informed()
        _ = desk.ask()
        let callback = try #require(desk.subscription.attempt).callback
        #expect(desk.deliver("a", signature: nil, path: callback.path) == (404, .unwanted))
        let known = desk.deliver("a", signature: sha256("a", callback.secret ?? ""), path: callback.path)
        #expect(known == (200, .news(topic: Desk.source.topic)))
        #expect(desk.subscription.lease != nil)
    }

    // MARK: Trust

    @Test func `polls become rare only once pushes come first`() {
        var desk = Desk.subscribed()
        #expect(desk.subscription.pollFactor(at: desk.now) == 1)
        desk.subscription.pushed(new: 0, at: desk.now)
        #expect(desk.subscription.pollFactor(at: desk.now) == 1, "it brought nothing that was not known")
        desk.subscription.pushed(new: 1, at: desk.now)
        #expect(desk.subscription.pollFactor(at: desk.now) == 5)
        #expect(desk.subscription.pollFactor(at: desk.now + .seconds(864_000)) == 1, "the lease is over")
    }

    @Test func `an entry found by a poll counts against the hub unless its push follows soon`() {
        var desk = Desk.subscribed()
        desk.subscription.pushed(new: 20, at: desk.now)
        func poll(new: Int, after seconds: Int64) -> IngestNote? {
            desk.now = desk.now + .seconds(seconds)
            return desk.subscription.polled(new: new, at: desk.now)
        }
        _ = poll(new: 7, after: 60)
        _ = poll(new: 0, after: 900)
        #expect(desk.subscription.trust.polledFirst == 0, "they may be older than the subscription")
        _ = poll(new: 1, after: 300)
        desk.now = desk.now + .seconds(599)
        desk.subscription.pushed(new: 0, at: desk.now)
        _ = poll(new: 0, after: 900)
        #expect(desk.subscription.trust.polledFirst == 0, "only a moment late")
        _ = poll(new: 1, after: 300)
        #expect(desk.subscription.pollFactor(at: desk.now) == 5)
        _ = poll(new: 0, after: 600)
        #expect(desk.subscription.trust.polledFirst == 1)
        #expect(desk.subscription.pollFactor(at: desk.now) == 1, "missed one")
        desk.subscription.pushed(new: 1, at: desk.now)
        #expect(desk.subscription.pollFactor(at: desk.now) == 5, "1 of 22, and it pushes again")
        _ = poll(new: 3, after: 300)
        desk.now = desk.now + .seconds(601)
        desk.subscription.pushed(new: 1, at: desk.now)
        #expect(desk.subscription.pollFactor(at: desk.now) == 1, "4 of 26")
        desk.subscription.pushed(new: 14, at: desk.now)
        #expect(desk.subscription.pollFactor(at: desk.now) == 5, "4 of 40")
    }

    @Test func `a hub that accepts subscriptions and never pushes is dropped, for longer each time`() throws {
        var desk = Desk.subscribed()
        for days in [1, 2, 4, 8, 14, 14] as [Int64] {
            let path = try #require(desk.subscription.lease).callback.path
            var note: IngestNote?
            for _ in 0..<10 where note == nil {
                desk.now = desk.now + .seconds(900)
                note = desk.subscription.polled(new: 1, at: desk.now)
            }
            #expect(try #require(note).level == .warning)
            guard case .distrusted(Desk.source, let until) = desk.subscription.state else {
                Issue.record("\(desk.subscription.state)")
                return
            }
            #expect(until == desk.now + .seconds(days * 86_400))
            #expect(desk.deliver("a", signature: nil, path: path).0 == 410)
            #expect(desk.ask() == nil)
            desk.now = until
            #expect(desk.ask() != nil)
            #expect(desk.confirm().status == 200)
        }
    }

    @Test func `polls of a quiet feed say nothing about its hub`() {
        var desk = Desk.subscribed()
        for _ in 0..<100 {
            desk.now = desk.now + .seconds(900)
            #expect(desk.subscription.polled(new: 0, at: desk.now) == nil)
        }
        #expect(desk.subscription.lease != nil)
    }

    // MARK: State

    @Test func `every state is read back from its record`() throws {
        var desks = [Desk(), Desk.informed(), Desk.subscribed()]
        var asked = Desk.informed()
        _ = asked.ask()
        desks.append(asked)
        var renewing = Desk.subscribed()
        renewing.now = try #require(renewing.subscription.lease).renewAt
        _ = renewing.ask()
        desks.append(renewing)
        _ = renewing.confirm()
        renewing.subscription.pushed(new: 3, at: renewing.now)
        desks.append(renewing)
        var denied = asked
        _ = denied.answered(403)
        desks.append(denied)
        var refused = asked
        _ = refused.answered(400)
        desks.append(refused)
        var dead = Desk.subscribed()
        for _ in 0..<9 {
            dead.now = dead.now + .seconds(900)
            _ = dead.subscription.polled(new: 1, at: dead.now)
        }
        desks.append(dead)
        let parser = JSONParser()
        for desk in desks {
            let bytes = JSONWriter.object { desk.subscription.write(into: &$0) }
            let restored = try bytes.withUnsafeBufferPointer { Subscription(try parser.object(in: $0)) }
            #expect(restored == desk.subscription, "\(String(decoding: bytes, as: UTF8.self))")
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
        subscription.learn(Desk.source, at: .distantFuture)
        var random = SeededRandom(seed: 1)
        #expect(subscription.request(base: "https://push.example/", at: .distantFuture, using: &random) != nil)
        _ = subscription.answered(.failed(FetchFailure(.timeout, "no answer")), at: .distantFuture)
    }

    @Test func `no description shows a path or a secret`() throws {
        var desk = Desk.subscribed()
        desk.now = try #require(desk.subscription.lease).renewAt
        let asked = desk.subscription.request(base: desk.base, at: desk.now, using: &desk.random)
        let request = try #require(asked)
        let hidden = [desk.subscription.lease?.callback, desk.subscription.attempt?.callback].compactMap(\.self)
        var shown = "\(request) \(desk.subscription) \(IngestAction.post(FetchID(1), request))"
        dump((request, desk.subscription), to: &shown)
        shown += String(reflecting: desk.subscription) + String(reflecting: request)
        #expect(hidden.count == 2)
        for callback in hidden {
            let secret = try #require(callback.secret)
            #expect(!shown.contains(callback.path) && !shown.contains(secret))
        }
    }
}
