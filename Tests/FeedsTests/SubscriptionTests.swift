import ByteText
import NewsModel
import Testing

@testable import Feeds

/// Requests for a subscription, and its stored state.
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
        ("https://hub.example/", false, false, true), ("http://hub.example/", false, true, false),
        ("http://hub.example/", true, true, true), ("http://hub.example/", true, false, false),
    ])
    func `the secret is sent only under TLS, or to a trusted host of a feed without TLS`(
        hub: String, isTrusted: Bool, isPlain: Bool, isSent: Bool
    ) throws {
        var subscriber = TestSubscription.informed(PushSource(hub: hub, topic: "https://news.example/feed"))
        let form = try subscriber.form(trusts: isTrusted, isPlain: isPlain)
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
