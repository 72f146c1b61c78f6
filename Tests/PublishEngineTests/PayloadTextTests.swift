import Foundation
import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

struct PayloadTextTests {
    static let wild = [
        "plain", "\"quoted\" \\ backslash / slash", "AT&T <b>bold</b> 'single'", "]]>", "<![CDATA[x]]>",
        "&amp; &#39; &",
        "family 👩‍👩‍👧‍👦 flag 🇺🇦 tone 👋🏽", "e\u{301}\u{327} Å ﬁ", "مرحبا \u{202E}override\u{202C} שלום", "日本語のニュース",
        "line\u{2028}para\u{2029}end", "a\nb\tc\rd\r\ne", "mark\u{FEFF} \u{FFFD}", "\u{10FFFF}\u{E000}\u{7F}\u{85}",
        "$(messageParam) %(x) {{headline}} ${ENV}", "trailing ", " leading", String(repeating: "é", count: 300),
    ]

    /// Xiaomi accepts no message as long as the last.
    @Test(arguments: wild, Platform.allCases.filter { $0 != .xiaomi })
    func `a message reaches the phone unchanged`(text: String, platform: Platform) throws {
        let payload = try PayloadSamples.payload(PayloadSamples.event(headline: text), platform)
        let message = PayloadSamples.message(in: payload.request.body, of: platform)
        #expect(message.map { Array($0.utf8) } == Array(text.utf8))
        #expect(payload.cuts.isDisjoint(with: .message))
    }

    @Test(arguments: Platform.allCases)
    func `control characters are kept in JSON and left out of XML`(platform: Platform) throws {
        let text = "a\u{0}b\u{1}c\u{8}\u{C}\u{1F}d\u{FFFE}e\u{FFFF}f"
        let payload = try PayloadSamples.payload(PayloadSamples.event(headline: text), platform)
        let message = PayloadSamples.message(in: payload.request.body, of: platform)
        let isXML = platform == .windows || platform == .windowsphone
        #expect(message == (isXML ? "abcdef" : text))
    }

    @Test(arguments: ["messageParam", "MessageParam", "TAG", "shorttag", "Title", "ttl"])
    func `an event's own value replaces no property of a template, because hubs ignore case`(name: String) {
        #expect(PayloadContent.isReserved(name, on: .template))
        #expect(PayloadContent.isReserved(name, on: .apple) == (name == "messageParam"))
    }

    @Test(arguments: Platform.allCases.filter { $0 != .windowsphone })
    func `the fields stand beside the message as strings`(platform: Platform) throws {
        let payload = try PayloadSamples.payload(PayloadSamples.event(), platform)
        let fields = try #require(PayloadSamples.fields(in: payload.request.body, of: platform))
        let wanted = [
            "title": "Headline", "category": "World", "id": "id-1", "link": "https://example.com/?a=1&b=2",
            "story": "story-1", "edition": "AM", "ünï\"": "<&>\\",
        ]
        for (name, value) in wanted { #expect(fields[name] as? String == value, "\(name)") }
        #expect(
            fields["image"] as? String == "https://example.com/1.jpg" && fields["summary"] as? String == "A summary")
        if platform == .template { #expect(fields.values.allSatisfy { $0 is String }) }
    }

    @Test
    func `the tutorials' body comes first and is a flat object of strings`() throws {
        let request = try PayloadBuilder().payload(
            NewsEvent(id: "1", headline: "Text"), routing: PayloadSamples.world, platform: .template, lane: LaneID(0)
        ).request
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"""
                {"messageParam":"Breaking World News : Text","tag":"1","shortTag":"1","ttl":"86400",\#
                "priority":"NORMAL","title":"Text","category":"World","id":"1"}
                """#
        )
        #expect(request.tags == "World")
        #expect(request.format == .template)
    }

    @Test func `a template can insert every field of the event`() throws {
        var event = PayloadSamples.event()
        (event.urgency, event.language, event.version) = (2, "de", NewsEvent.Version("3"))
        event.publishedAt = PayloadSamples.since
        event.data += [.init(name: "ttl", value: "1"), .init(name: "shortTag", value: "x")]
        let payload = try PayloadSamples.payload(event, .template)
        let fields = try #require(PayloadSamples.fields(in: payload.request.body, of: .template))
        let wanted = [
            "urgency": "2", "priority": "HIGH", "ttl": "900", "language": "de", "version": "3",
            "publishedAt": "2025-11-21T01:53:20.000Z", "image": "https://example.com/1.jpg", "summary": "A summary",
        ]
        for (name, value) in wanted { #expect(fields[name] as? String == value, "\(name)") }
        #expect(payload.cuts == .reservedData)
    }

    @Test func `a long summary is shortened for templates, whose text must fit into a push message`() throws {
        var event = PayloadSamples.event()
        event.summary = String(repeating: "word ", count: 3_000)
        let payload = try PayloadSamples.payload(event, .template)
        let summary = PayloadSamples.fields(in: payload.request.body, of: .template)?["summary"] as? String
        #expect(summary?.hasSuffix("…") == true && (1_500...1_536).contains(summary?.utf8.count ?? 0))
        #expect(payload.cuts == .summary)
    }

    @Test func `Apple devices group an event of several categories with its first`() throws {
        let routing = Routing.Tagged(
            categories: ["World", "Sports"], tags: ["World"], expression: "World", label: "World, Sports")
        let body = try PayloadBuilder().payload(
            PayloadSamples.event(), routing: routing, platform: .apple, lane: LaneID(0)
        ).request.body
        #expect(String(decoding: body, as: UTF8.self).contains(#""thread-id":"World","#))
    }

    @Test func `Xiaomi gets a title and texts within its bounds`() throws {
        let routing = Routing.Tagged(categories: [], tags: ["x"], expression: "x", label: "")
        let long = String(repeating: "ö", count: 200)
        let payload = try PayloadBuilder(PayloadSettings(message: "{{headline}}")).payload(
            PayloadSamples.event(headline: long), routing: routing, platform: .xiaomi, lane: LaneID(0))
        let json = try #require(PayloadSamples.json(payload.request.body))
        #expect(payload.cuts == .message)
        #expect((json["title"] as? String)?.count == 50 && (json["description"] as? String)?.count == 128)
    }

    static let bodies: [(Platform, String)] = [
        (.apple, #"{"aps":{"alert":"H","thread-id":"World"},"title":"H","category":"World","id":"1"}"#),
        (
            .fcmv1,
            #"""
            {"message":{"notification":{"body":"H"},"data":{"title":"H","category":"World","id":"1"},\#
            "android":{"ttl":"900s","priority":"NORMAL","notification":{"tag":"1"}}}}
            """#
        ),
        (
            .gcm,
            #"""
            {"data":{"message":"H","title":"H","category":"World","id":"1"},\#
            "collapse_key":"1","time_to_live":900,"priority":"normal"}
            """#
        ),
        (
            .windows,
            #"""
            <toast launch="{&quot;title&quot;:&quot;H&quot;,&quot;category&quot;:&quot;World&quot;,\#
            &quot;id&quot;:&quot;1&quot;}"><visual><binding template="ToastText01">\#
            <text id="1">H</text></binding></visual></toast>
            """#
        ),
        (
            .windowsphone,
            #"""
            <?xml version="1.0" encoding="utf-8"?><wp:Notification xmlns:wp="WPNotification"><wp:Toast>\#
            <wp:Text1>World</wp:Text1><wp:Text2>H</wp:Text2></wp:Toast></wp:Notification>
            """#
        ),
        (
            .adm,
            #"""
            {"data":{"message":"H","title":"H","category":"World","id":"1"},\#
            "consolidationKey":"1","expiresAfter":900,"priority":"normal"}
            """#
        ),
        (
            .baidu,
            #"{"title":"World","description":"H","custom_content":{"title":"H","category":"World","id":"1"}}"#
        ),
        (.browser, #"{"message":"H","tag":"1","title":"H","category":"World","id":"1"}"#),
        (
            .xiaomi,
            #"""
            {"title":"World","description":"H","notify_id":1803989619,"time_to_live":900000,\#
            "extra":{"title":"H","category":"World","id":"1"}}
            """#
        ),
    ]

    @Test(arguments: bodies)
    func `each platform's body is as its service wants it`(platform: Platform, body: String) throws {
        let payload = try PayloadSamples.payload(NewsEvent(id: "1", headline: "H"), platform, lane: 1)
        #expect(String(decoding: payload.request.body, as: UTF8.self) == body)
        #expect(payload.request.format.rawValue == platform.rawValue)
    }

    @Test(arguments: Platform.allCases)
    func `a value of the event never takes one of our names`(platform: Platform) throws {
        var event = NewsEvent(id: "1", headline: "H")
        event.data = ["id", "title", "messageParam", "message", "aps", "tag", "category", "", "ok"]
            .map { .init(name: $0, value: "evil") }
        let payload = try PayloadSamples.payload(event, platform)
        let text = String(decoding: payload.request.body, as: UTF8.self)
        #expect(text.components(separatedBy: "evil").count == (platform == .windowsphone ? 1 : 2))
        #expect(payload.cuts == .reservedData)
    }

    @Test(arguments: ["from", "message_type", "google.x", "gcm", "gcm.n.e", "notification", "collapse_key"])
    func `names that Google reserves are left out for Google only`(name: String) throws {
        var event = NewsEvent(id: "1", headline: "H")
        event.data = [.init(name: name, value: "x")]
        for platform in Platform.allCases where platform != .windowsphone {
            let payload = try PayloadSamples.payload(event, platform)
            let fields = try #require(PayloadSamples.fields(in: payload.request.body, of: platform))
            #expect((fields[name] == nil) == (platform == .fcmv1 || platform == .gcm))
        }
    }

    @Test
    func `breaking news makes a sound and other news does not`() throws {
        var event = PayloadSamples.event()
        event.urgency = 1
        let loud = try PayloadSamples.payload(event, .apple, lane: 0)
        let quiet = try PayloadSamples.payload(PayloadSamples.event(), .apple, lane: 1)
        let aps = PayloadSamples.json(loud.request.body)?["aps"] as? [String: Any]
        #expect(aps?["sound"] as? String == "default")
        #expect(aps?["interruption-level"] as? String == "time-sensitive")
        #expect(aps?["mutable-content"] as? Int == 1)
        #expect((PayloadSamples.json(quiet.request.body)?["aps"] as? [String: Any])?["sound"] == nil)
    }
}
