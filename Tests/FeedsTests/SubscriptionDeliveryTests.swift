import Crypto
import NewsModel
import Testing

@testable import Feeds

/// Deliveries by a hub, and the trust that it gains or loses.
struct SubscriptionDeliveryTests {
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
}
