import NewsModel
import Testing

@testable import Feeds

/// Verifications by a hub, and the leases that they begin, extend or end.
struct SubscriptionLeaseTests {
    @Test func `the callbacks of former requests to the hub are forgotten`() {
        var ingester = Ingester(IngestSettings())
        var feed = Feeds.FollowedFeed(name: "wire", partition: 0, writer: "w", rules: nil)
        var subscriber = TestSubscription.informed()
        for _ in 0..<20 {
            #expect(subscriber.ask() != nil)
            subscriber.now = subscriber.now + .seconds(10 * 86_400)
            feed.state.webSub = subscriber.subscription
            ingester.learnCallbacks(of: &feed)
        }
        #expect(Set(ingester.callbacks.keys) == Set(subscriber.subscription.paths))
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
}
