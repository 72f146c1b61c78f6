import Feeds
import TestSupport
import Testing

/// The subscriber's cases of websub.rocks, by their numbers, against a hub that speaks HTTP.
@Suite(.timeLimit(.minutes(2)))
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
    private static let page = """
        <!doctype html><html><head><link rel="hub" href="HUB"><link rel="self" href="SELF"></head><body>News</body></html>
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
    private static func subscribe(_ desk: PushDesk, _ hub: FakeWebSubHub) async throws -> FakeWebSubHub.Subscriber {
        hub.serve("/feed", page(atom, hub, topic: "/feed"))
        try await desk.discover("/feed")
        try await desk.ask()
        return try #require(hub.subscribers.last)
    }

    // MARK: Discovery

    @Test(arguments: ["100 header", "101 HTML tag", "102 Atom", "103 RSS", "104 header beats tag"])
    func `a hub is found where the publisher names it`(name: String) async throws {
        try await PushDesk.run { desk, hub in
            let links = Self.links(hub, topic: "/all")
            switch name.prefix(3) {
            case "100": hub.serve("/all", .init(headers: links, body: "no links"))
            case "101": hub.serve("/all", Self.page(Self.page, hub, topic: "/all"))
            case "102": hub.serve("/all", Self.page(Self.atom, hub, topic: "/all"))
            case "103": hub.serve("/all", Self.page(Self.rss, hub, topic: "/all"))
            default:
                hub.serve("/all", Self.page(Self.page, hub, hubPath: "/wrong", topic: "/wrong", headers: links))
            }
            try await desk.discover("/all")
            try await desk.ask()
            #expect(hub.verifications.map(\.status) == [200])
            #expect(hub.subscribers.map(\.topic) == [hub.url("/all")])
            let subscriber = try #require(hub.subscribers.last)
            #expect(try await hub.deliver("news", to: subscriber).status == 200)
            #expect(desk.deliveries == [.news(topic: hub.url("/all"))])
        }
    }

    @Test(arguments: [200, 302, 301])
    func `200, 201, 202: the topic is the address that the feed gives as its own`(status: Int) async throws {
        try await PushDesk.run { desk, hub in
            hub.serve("/all", Self.page(Self.atom, hub, topic: "/canonical"))
            hub.serve("/old", .init(status: status, headers: [("Location", "/all")]))
            try await desk.discover(status == 200 ? "/all" : "/old")
            try await desk.ask()
            #expect(hub.subscribers.map(\.topic) == [hub.url("/canonical")])
        }
    }

    @Test(arguments: [307, 308])
    func `203, 204: a hub that has moved is asked at its new address`(status: Int) async throws {
        try await PushDesk.run { desk, hub in
            hub.behave { $0.movedBy = status }
            let subscriber = try await Self.subscribe(desk, hub)
            #expect(hub.forms.count == 1)
            #expect(try await hub.deliver("news", to: subscriber).status == 200)
        }
    }

    @Test func `205: a verification of another topic is answered with 404`() async throws {
        try await PushDesk.run { desk, hub in
            hub.behave { $0.topic = "https://news.example/other" }
            hub.serve("/feed", Self.page(Self.atom, hub, topic: "/feed"))
            try await desk.discover("/feed")
            let form = try #require(try await desk.ask())
            #expect(hub.verifications.map(\.status) == [404])
            #expect(desk.subscription.lease == nil)
            hub.behave { $0.topic = nil }
            try await hub.verify(form)
            #expect(desk.subscription.lease != nil)
        }
    }

    // MARK: Deliveries

    @Test(arguments: [FakeWebSubHub.Signature.sha1, .sha256])
    func `300: a delivery is answered with 2xx, whatever its Link headers say`(method: FakeWebSubHub.Signature)
        async throws
    {
        try await PushDesk.run { desk, hub in
            let subscriber = try await Self.subscribe(desk, hub)
            let reply = try await hub.deliver("news", to: subscriber, signed: method)
            #expect((200...299).contains(reply.status) && reply.body.isEmpty)
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            #expect(desk.deliveries == [.news(topic: hub.url("/feed"))])
        }
    }

    @Test(arguments: [FakeWebSubHub.Signature.wrong, .missing])
    func `301, 302: a delivery with a wrong signature, or without one, is ignored`(
        signature: FakeWebSubHub.Signature
    ) async throws {
        try await PushDesk.run { desk, hub in
            let subscriber = try await Self.subscribe(desk, hub)
            let reply = try await hub.deliver("forged", to: subscriber, signed: signature)
            #expect((200...299).contains(reply.status), "which says nothing about the signature")
            #expect(desk.deliveries == [.ignored])
        }
    }

    @Test func `a delivery replayed to another callback is a forgery`() async throws {
        try await PushDesk.run { desk, hub in
            let old = try await Self.subscribe(desk, hub)
            desk.wait(864_000 * 2 / 3)
            try await desk.ask()
            let new = try #require(hub.subscribers.last)
            #expect(old.callback != new.callback && old.secret != new.secret)
            #expect(try await hub.deliver("news", to: old).status == 410)
            var forger = new
            forger.secret = old.secret
            #expect(try await hub.deliver("news", to: forger).status == 200)
            #expect(desk.deliveries == [.ignored, .ignored])
        }
    }

    // MARK: Leases and refusals

    @Test func `a lease is renewed with the old callback at work until the new one is verified`() async throws {
        try await PushDesk.run { desk, hub in
            let old = try await Self.subscribe(desk, hub)
            #expect(try await desk.ask() == nil)
            desk.wait(864_000 * 2 / 3)
            hub.behave { $0.verifies = false }
            try await desk.ask()
            #expect(try await hub.deliver("a", to: old).status == 200)
            hub.behave { $0.verifies = true }
            try await hub.verify(try #require(hub.forms.last))
            #expect(try await hub.deliver("b", to: try #require(hub.subscribers.last)).status == 200)
            #expect(desk.deliveries == [.news(topic: hub.url("/feed")), .news(topic: hub.url("/feed"))])
        }
    }

    @Test func `a lease of a year is renewed within two weeks`() async throws {
        try await PushDesk.run { desk, hub in
            hub.behave { $0.lease = "31536000" }
            _ = try await Self.subscribe(desk, hub)
            desk.wait(14 * 86_400)
            #expect(try await desk.ask() != nil)
        }
    }

    @Test func `a hub that refuses lease_seconds gets a form without`() async throws {
        try await PushDesk.run { desk, hub in
            hub.behave { $0.refusesLease = true }
            hub.serve("/feed", Self.page(Self.atom, hub, topic: "/feed"))
            try await desk.discover("/feed")
            try await desk.ask()
            #expect(hub.subscribers.isEmpty)
            try await desk.ask()
            #expect(hub.subscribers.count == 1)
        }
    }

    @Test func `a hub that denies, at once or later, leaves the feed to its polls`() async throws {
        try await PushDesk.run { desk, hub in
            _ = try await Self.subscribe(desk, hub)
            hub.behave { $0.mode = "denied" }
            try await hub.verify(try #require(hub.forms.last))
            #expect(hub.verifications.last?.status == 200)
            #expect(desk.subscription.lease == nil)
            #expect(try await desk.ask() == nil)
            desk.wait(86_400)
            try await desk.ask()
            #expect(desk.subscription.attempt == nil, "denied at once")
        }
    }

    @Test func `a hub that never verifies is asked again, and a late verification still counts`() async throws {
        try await PushDesk.run { desk, hub in
            hub.behave { $0.verifies = false }
            hub.serve("/feed", Self.page(Self.atom, hub, topic: "/feed"))
            try await desk.discover("/feed")
            try await desk.ask()
            desk.wait(600)
            let form = try #require(try await desk.ask())
            hub.behave { $0.verifies = true }
            desk.wait(60)
            try await hub.verify(form)
            #expect(desk.subscription.lease != nil)
        }
    }
}
