import NewsModel
import TestSupport
import Testing

@testable import Feeds

/// The subscriber tests of websub.rocks, by their numbers: the ingester against a hub that speaks HTTP.
@Suite(.timeLimit(.minutes(15)))
struct WebSubTests {
    private static let atom = """
        <feed xmlns="http://www.w3.org/2005/Atom"><id>urn:a</id><title>A</title>
        <link rel="hub" href="HUB"/><link rel="self" href="SELF"/>
        <entry><id>urn:a:1</id><title>First</title><updated>2026-05-01T10:00:00Z</updated></entry></feed>
        """
    private static let rss = """
        <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>R</title>
        <atom:link rel="hub" href="HUB"/><atom:link rel="self" href="SELF"/>
        <item><guid isPermaLink="false">1</guid><title>First</title></item></channel></rss>
        """
    private static let bare = """
        <rss version="2.0"><channel><title>R</title><item><guid isPermaLink="false">1</guid><title>First</title></item>\
        </channel></rss>
        """
    private static let page = """
        <!doctype html><html><head><link rel="hub" href="HUB"><link rel="self" href="SELF">\
        <link rel="alternate" type="application/rss+xml" href="/real.xml"></head><body>News</body></html>
        """

    private static func page(
        _ text: String, _ hub: FakeWebSubHub, hubPath: String = "/hub", topic: String, headers: [(String, String)] = []
    ) -> FakeWebSubHub.Page {
        let body = text.replacing("HUB", with: hub.url(hubPath)).replacing("SELF", with: hub.url(topic))
        return FakeWebSubHub.Page(headers: headers, body: body)
    }

    private static func links(_ hub: FakeWebSubHub, topic: String) -> [(String, String)] {
        [("Link", "<\(hub.url("/hub"))>; rel=\"hub\", <\(hub.url(topic))>; rel=\"self\"")]
    }

    /// Subscribes to an Atom feed.
    private static func subscribe(
        _ service: PushSubscriber, _ hub: FakeWebSubHub
    ) async throws -> FakeWebSubHub.Subscriber {
        hub.serve("/feed", page(atom, hub, topic: "/feed"))
        try await service.follow("/feed")
        try await service.ask()
        return try #require(hub.subscribers.last)
    }

    // MARK: Discovery

    @Test(arguments: ["100 header", "102 Atom", "103 RSS", "104 header beats tag"])
    func `a hub is found wherever the publisher names it, and its pushes are published`(name: String) async throws {
        try await PushSubscriber.run { service, hub in
            let links = Self.links(hub, topic: "/all")
            switch name.prefix(3) {
            case "100": hub.serve("/all", .init(headers: links, body: Self.bare))
            case "102": hub.serve("/all", Self.page(Self.atom, hub, topic: "/all"))
            case "103": hub.serve("/all", Self.page(Self.rss, hub, topic: "/all"))
            default:
                hub.serve("/all", Self.page(Self.atom, hub, hubPath: "/wrong", topic: "/wrong", headers: links))
            }
            try await service.follow("/all")
            try await service.ask()
            #expect(hub.verifications.map(\.status) == [200])
            #expect(hub.subscribers.map(\.topic) == [hub.url("/all")])
            let subscriber = try #require(hub.subscribers.last)
            #expect(try await hub.deliver(service.news("Second"), to: subscriber).status == 200)
            try await service.settle()
            #expect(service.store.headlines == ["Second"])
        }
    }

    @Test func `101: a web page is not a feed, so its hub is not asked, and its feeds are listed`()
        async throws
    {
        try await PushSubscriber.run { service, hub in
            hub.serve("/all", Self.page(Self.page, hub, topic: "/all"))
            try await service.follow("/all")
            #expect(try await service.ask() == nil)
            let status = try await service.status
            #expect(status.push.phase == .none)
            #expect(status.isProblem && status.state.detail?.contains(hub.url("/real.xml")) == true)
        }
    }

    @Test(arguments: [200, 302, 301])
    func `200, 201, 202: the topic is the feed's own address`(status: Int) async throws {
        try await PushSubscriber.run { service, hub in
            hub.serve("/all", Self.page(Self.atom, hub, topic: "/canonical"))
            hub.serve("/old", .init(status: status, headers: [("Location", "/all")]))
            try await service.follow(status == 200 ? "/all" : "/old")
            try await service.ask()
            #expect(hub.subscribers.map(\.topic) == [hub.url("/canonical")])
        }
    }

    @Test(arguments: [307, 308])
    func `203, 204: a hub that has moved is asked at its new address`(status: Int) async throws {
        try await PushSubscriber.run { service, hub in
            hub.behave { $0.movedBy = status }
            let subscriber = try await Self.subscribe(service, hub)
            #expect(hub.forms.count == 1)
            #expect(try await hub.deliver(service.news("Second"), to: subscriber).status == 200)
            try await service.settle()
            #expect(service.store.headlines == ["Second"])
        }
    }

    @Test func `205: a verification of another topic is answered with 404`() async throws {
        try await PushSubscriber.run { service, hub in
            hub.behave { $0.topic = "https://news.example/other" }
            hub.serve("/feed", Self.page(Self.atom, hub, topic: "/feed"))
            try await service.follow("/feed")
            let form = try #require(try await service.ask())
            #expect(hub.verifications.map(\.status) == [404])
            #expect(try await service.push.phase == .asked)
            hub.behave { $0.topic = nil }
            try await hub.verify(form)
            #expect(try await service.push.phase == .active)
        }
    }

    // MARK: Deliveries

    @Test(arguments: [FakeWebSubHub.Signature.sha1, .sha256])
    func `300: a delivery is answered with 2xx, whatever its Link headers say`(method: FakeWebSubHub.Signature)
        async throws
    {
        try await PushSubscriber.run { service, hub in
            let subscriber = try await Self.subscribe(service, hub)
            let reply = try await hub.deliver(service.news("Second"), to: subscriber, signed: method)
            #expect((200...299).contains(reply.status) && reply.body.isEmpty)
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            let status = try await service.status
            #expect(service.store.headlines == ["Second"])
            #expect(status.counts?.pushes == 1 && status.counts?.forgedPushes == 0)
            #expect(status.push.isProven)
        }
    }

    @Test(arguments: [FakeWebSubHub.Signature.wrong, .missing])
    func `301, 302: a delivery with a wrong signature, or without one, is ignored and counted`(
        signature: FakeWebSubHub.Signature
    ) async throws {
        try await PushSubscriber.run { service, hub in
            let subscriber = try await Self.subscribe(service, hub)
            let reply = try await hub.deliver(service.news("Forged"), to: subscriber, signed: signature)
            #expect((200...299).contains(reply.status), "which says nothing about the signature")
            let status = try await service.status
            #expect(service.store.headlines.isEmpty)
            #expect(status.counts?.pushes == 0 && status.counts?.forgedPushes == 1)
            #expect(!status.push.isProven)
        }
    }

    @Test func `a delivery replayed to another callback counts as forged`() async throws {
        try await PushSubscriber.run { service, hub in
            let old = try await Self.subscribe(service, hub)
            try await service.wait(864_000 * 2 / 3)
            try await hub.verify(try #require(hub.forms.last))
            let new = try #require(hub.subscribers.last)
            #expect(old.callback != new.callback && old.secret != new.secret)
            #expect(try await hub.deliver(service.news("Second"), to: old).status == 410)
            #expect(try await service.status.counts?.forgedPushes == 0, "the hub knows no better yet")
            var forger = new
            forger.secret = old.secret
            #expect(try await hub.deliver(service.news("Second"), to: forger).status == 200)
            #expect(try await service.status.counts?.forgedPushes == 1)
            #expect(service.store.headlines.isEmpty)
        }
    }

    @Test func `a delivery is decoded by the charset in its header`() async throws {
        try await PushSubscriber.run { service, hub in
            let subscriber = try await Self.subscribe(service, hub)
            _ = try await hub.deliver(service.news("Caf\u{E9}"), to: subscriber, isLatin1: true)
            try await service.settle()
            #expect(service.store.headlines == ["Caf\u{E9}"])
        }
    }

    @Test func `an entry that comes twice, or by push and by poll, is published once`() async throws {
        try await PushSubscriber.run { service, hub in
            let subscriber = try await Self.subscribe(service, hub)
            let news = service.news("Second")
            for _ in 0..<2 { _ = try await hub.deliver(news, to: subscriber) }
            try await service.settle()
            hub.serve("/feed", .init(headers: Self.links(hub, topic: "/feed"), body: news))
            try await service.poll()
            #expect(service.store.headlines == ["Second"])
            #expect(try await service.status.push.isProven)
        }
    }

    @Test func `an unsigned hint causes a poll, but not before the feed's shortest interval has passed`() async throws {
        try await PushSubscriber.run { service, hub in
            let subscriber = try await Self.subscribe(service, hub)
            service.store.edit { $0.replacing(#/,"secret":"[^"]*"/#, with: "") }
            service.restart()
            try await service.poll()
            hub.serve("/feed", .init(headers: Self.links(hub, topic: "/feed"), body: service.news("Second")))
            for _ in 0..<3 { #expect(try await hub.deliver("", to: subscriber, signed: .missing).status == 200) }
            let polled = try await service.status
            #expect(polled.counts?.polls == 1 && polled.counts?.forgedPushes == 0)
            #expect(polled.because == "the hub says that there is something new")
            let (last, next) = (try #require(polled.lastPollAt), try #require(polled.nextPollAt))
            // The two clocks are read one after the other.
            #expect(next - last > .milliseconds(59_900))
            try await service.wait(61)
            #expect(service.store.headlines == ["Second"])
        }
    }

    // MARK: Leases and refusals

    @Test func `a renewed lease keeps its old callback until the new one is verified`() async throws {
        try await PushSubscriber.run { service, hub in
            let old = try await Self.subscribe(service, hub)
            #expect(try await service.ask() == nil)
            hub.behave { $0.verifies = false }
            try await service.wait(864_000 * 2 / 3)
            #expect(hub.forms.count == 2)
            #expect(try await hub.deliver(service.news("a"), to: old).status == 200)
            hub.behave { $0.verifies = true }
            try await hub.verify(try #require(hub.forms.last))
            #expect(try await hub.deliver(service.news("b"), to: try #require(hub.subscribers.last)).status == 200)
            try await service.settle()
            #expect(service.store.headlines == ["a", "b"])
        }
    }

    @Test func `a lease of a year is renewed within two weeks`() async throws {
        try await PushSubscriber.run { service, hub in
            hub.behave { $0.lease = "31536000" }
            _ = try await Self.subscribe(service, hub)
            // A minute more, for a machine whose clock is being set back.
            try await service.wait(14 * 86_400 + 60)
            #expect(hub.forms.count == 2)
        }
    }

    @Test func `a hub that refuses lease_seconds gets a form without it`() async throws {
        try await PushSubscriber.run { service, hub in
            hub.behave { $0.refusesLease = true }
            hub.serve("/feed", Self.page(Self.atom, hub, topic: "/feed"))
            try await service.follow("/feed")
            #expect(try await service.ask() == nil)
            try await service.ask()
            #expect(hub.subscribers.count == 1)
        }
    }

    @Test func `a feed is polled after its hub denies the subscription, at once or later`() async throws {
        try await PushSubscriber.run { service, hub in
            _ = try await Self.subscribe(service, hub)
            hub.behave { $0.mode = "denied" }
            try await hub.verify(try #require(hub.forms.last))
            #expect(hub.verifications.last?.status == 200)
            #expect(try await service.push.phase == .denied)
            #expect(try await service.ask() == nil)
            hub.serve("/feed", .init(headers: Self.links(hub, topic: "/feed"), body: service.news("Polled")))
            try await service.poll()
            #expect(service.store.headlines == ["Polled"])
            try await service.wait(86_400)
            #expect(hub.forms.count == 2)
            try await hub.verify(try #require(hub.forms.last))
            #expect(try await service.push.phase == .denied, "denied at once")
        }
    }

    @Test func `a hub that never verifies is asked again, and a late verification counts`() async throws {
        try await PushSubscriber.run { service, hub in
            hub.behave { $0.verifies = false }
            hub.serve("/feed", Self.page(Self.atom, hub, topic: "/feed"))
            try await service.follow("/feed")
            try await service.ask()
            try await service.wait(600)
            #expect(hub.forms.count == 2)
            hub.behave { $0.verifies = true }
            try await service.wait(60)
            try await hub.verify(try #require(hub.forms.last))
            #expect(try await service.push.phase == .active)
        }
    }

    @Test func `a hub that accepts the subscription but pushes nothing is dropped without a loss of news`() async throws
    {
        try await PushSubscriber.run { service, hub in
            _ = try await Self.subscribe(service, hub)
            try await service.poll()
            for number in 0..<PushTrust.silentPollsMax {
                let body = service.news("Late \(number)")
                hub.serve("/feed", .init(headers: Self.links(hub, topic: "/feed"), body: body))
                try await service.poll()
                try await service.wait(601)
            }
            try await service.poll()
            #expect(service.store.headlines == (0..<PushTrust.silentPollsMax).map { "Late \($0)" })
            let push = try await service.push
            #expect(push.phase == .distrusted && !push.isProven)
        }
    }

    // MARK: Restarts

    @Test func `a verification that arrives after a restart counts`() async throws {
        try await PushSubscriber.run { service, hub in
            hub.behave { $0.verifies = false }
            hub.serve("/feed", Self.page(Self.atom, hub, topic: "/feed"))
            try await service.follow("/feed")
            let form = try #require(try await service.ask())
            hub.behave { $0.verifies = true }
            service.restart()
            try await hub.verify(form)
            #expect(hub.verifications.map(\.status) == [200])
            let subscriber = try #require(hub.subscribers.last)
            service.restart()
            #expect(try await hub.deliver(service.news("Second"), to: subscriber).status == 200)
            try await service.settle()
            #expect(service.store.headlines == ["Second"])
        }
    }

    @Test func `a process that is still reading its state asks hubs to retry`() async throws {
        try await PushSubscriber.run { service, hub in
            let subscriber = try await Self.subscribe(service, hub)
            service.restart(isRestored: false)
            #expect(try await hub.deliver(service.news("Second"), to: subscriber).status == 503)
            try await hub.verify(try #require(hub.forms.last))
            #expect(hub.verifications.last?.status == 503)
            service.restart()
            #expect(try await hub.deliver(service.news("Second"), to: subscriber).status == 200)
            var stranger = subscriber
            stranger.callback = String(subscriber.callback.dropLast(32)) + String(repeating: "0a", count: 16)
            #expect(try await hub.deliver(service.news("Third"), to: stranger).status == 404)
            try await service.settle()
            #expect(service.store.headlines == ["Second"])
        }
    }
}
