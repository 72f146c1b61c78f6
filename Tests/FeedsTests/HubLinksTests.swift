import Feeds
import Testing

struct HubLinksTests {
    private static let address = "https://news.example/feed.xml"

    @Test(arguments: [
        (
            ["<https://hub.example/>; rel=\"hub\", <https://news.example/all>; rel=\"self\""], "https://hub.example/",
            "all"
        ),
        (["<https://hub.example/>;rel=hub", "<https://news.example/all>; rel=self"], "https://hub.example/", "all"),
        (
            ["<https://news.example/all>; title=\"a, \\\"b\\\"; <c>\"; REL=\"Self hub\""], "https://news.example/all",
            "all"
        ),
        (["<http://old.example/>; rel=hub, <https://hub.example/>; rel=hub"], "https://hub.example/", "feed.xml"),
        (["<http://old.example/>; rel=hub"], "http://old.example/", "feed.xml"),
        (
            ["<https://a.example/>; rel=next; rel=hub, <https://hub.example/>; rel=hub; rel=x"], "https://hub.example/",
            "feed.xml"
        ),
        (["</all>; rel=self, <//hub.example/>; rel=hub"], "https://hub.example/", "all"),
        (["<javascript:alert(1)>; rel=hub, <https://hub.example/>; rel=hub"], "https://hub.example/", "feed.xml"),
    ])
    func `hub and topic are taken from Link headers`(headers: [String], hub: String, topic: String) {
        let source = PushSource(headers: headers, document: HubLinks(), address: Self.address)
        #expect(source == PushSource(hub: hub, topic: "https://news.example/\(topic)"))
    }

    @Test(arguments: [
        "", "hub", "<https://hub.example/", "<https://hub.example/>", "<https://hub.example/>; rel=\"next",
        "<ftp://hub.example/>; rel=hub", "x, <https://hub.example/>; rel=hub",
        "<>;;;=;=\"\\", "<//>; rel=hub",
    ])
    func `a header without a usable hub names no source`(header: String) {
        #expect(PushSource(headers: [header], document: HubLinks(), address: Self.address) == nil)
    }

    @Test func `headers override the document, and the document completes them`() {
        let document = HubLinks(hubs: ["https://other.example/"], selfLink: "https://news.example/document")
        func source(_ header: String) -> PushSource? {
            PushSource(headers: [header], document: document, address: Self.address)
        }
        #expect(
            source("<https://hub.example/>; rel=hub, <https://news.example/header>; rel=self")
                == PushSource(hub: "https://hub.example/", topic: "https://news.example/header"))
        #expect(
            source("<https://hub.example/>; rel=hub")
                == PushSource(hub: "https://hub.example/", topic: "https://news.example/document"))
        #expect(
            source("<https://news.example/header>; rel=self")
                == PushSource(hub: "https://other.example/", topic: "https://news.example/document"))
    }
}
