import ByteText
import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

/// Bodies that the operator writes in `payload.native`.
struct NativePayloadTests {
    private var event: NewsEvent { PayloadSamples.event() }

    @Test func `members keep their order, numbers and flags their type`() throws {
        let body =
            #"{"z":1.50,"aps":{"alert":{"title":"{{category}}","body":"{{headline}}"},"badge":1},"a":true,"n":null,"l":["x","{{id}}"]}"#
        #expect(
            try NativeSamples.body(event, .apple, body)
                == #"{"z":1.50,"aps":{"alert":{"title":"World","body":"Headline"},"badge":1},"a":true,"n":null,"l":["x","id-1"]}"#
        )
    }

    @Test(arguments: [
        ("{{id}}", "id-1"), ("{{story}}", "story-1"), ("{{link}}", "https://example.com/?a=1&b=2"),
        ("{{image}}", "https://example.com/1.jpg"), ("{{summary}}", "A summary"), ("{{urgency}}", "2"),
        ("{{message}}", "Breaking World News : Headline"), ("{{categories}}", "World"), ("{{categorySlug}}", "world"),
        ("{{collapseId}}", "story-1"), ("{{ttl}}", "3600"), ("{{expiresAt}}", "2025-11-21T02:53:20.000Z"),
        ("{{urgencyClass}}", "breaking"), ("{{data.edition}}", "AM"),
        ("news-{{categorySlug}}/{{id}}", "news-world/id-1"),
        ("{{uppercased(category)}}", "WORLD"),
        ("{{#summary}}has one{{/summary}}{{^summary}}none{{/summary}}", "has one"),
        ("{{^image}}no{{/image}}{{#ttl}}lives{{/ttl}}", "lives"),
    ])
    func `every variable has its value`(template: String, value: String) throws {
        var event = event
        event.urgency = 2
        #expect(
            try NativeSamples.body(event, .apple, #"{"x":"\#(template)","aps":{}}"#) == #"{"x":"\#(value)","aps":{}}"#)
    }

    @Test func `a member that is one absent variable is left out, and so is the container that it empties`() throws {
        let bare = NewsEvent(id: "1", headline: "H")
        let body =
            #"{"s":"{{summary}}","o":{"i":{"l":"{{link}}"},"j":["{{image}}"]},"e":{},"m":"[{{link}}]","k":"{{story}}"}"#
        #expect(try NativeSamples.body(bare, .apple, body) == #"{"e":{},"m":"[]"}"#)
        var event = bare
        event.link = "l"
        #expect(try NativeSamples.body(event, .apple, body) == #"{"o":{"i":{"l":"l"}},"e":{},"m":"[l]"}"#)
        event.image = "i"
        event.story = "k"
        #expect(
            try NativeSamples.body(event, .apple, body) == #"{"o":{"i":{"l":"l"},"j":["i"]},"e":{},"m":"[l]","k":"k"}"#)
        #expect(try NativeSamples.body(bare, .apple, #"{"aps":{"alert":{"subtitle":"{{summary}}"}}}"#) == "{}")
    }

    @Test func `values are escaped for JSON`() throws {
        var event = event
        event.headline = "\"AT&T\" \\ <b>\n\u{1}é"
        let body = try NativeSamples.body(
            event, .apple, #"{"aps":{"alert":"a\"b {{headline}}"},"k\"":"{{uppercased(headline)}}"}"#)
        #expect(
            body
                == #"{"aps":{"alert":"a\"b \"AT&T\" \\ <b>\n\u0001é"},"k\"":"\"AT&T\" \\ <B>\n\u0001É"}"#)
    }

    @Test func `values are escaped for XML texts and attributes`() throws {
        var event = event
        event.headline = "\"A&B\" <c>\n\u{1}"
        let toast =
            #"<toast launch='{{headline}}'><visual><binding template="ToastGeneric"><text>&lt;{{headline}}</text></binding></visual></toast>"#
        #expect(
            try NativeSamples.body(event, .windows, toast)
                == #"<toast launch="&quot;A&amp;B&quot; &lt;c&gt;&#10;"><visual><binding template="ToastGeneric"><text>&lt;"A&amp;B" &lt;c&gt;"#
                + "\n</text></binding></visual></toast>")
    }

    @Test func `attributes and elements of one absent variable are left out of a toast`() throws {
        let toast = """
            <toast launch="{{link}}"><visual><binding template="ToastGeneric"><text>{{headline}}</text>\
            <text hint-style="body">{{summary}}</text><image placement="hero" src="{{image}}"/></binding></visual>\
            <actions> <action content="Open" arguments="{{link}}"/> </actions></toast>
            """
        #expect(
            try NativeSamples.body(NewsEvent(id: "1", headline: "H"), .windows, toast)
                == #"<toast><visual><binding template="ToastGeneric"><text>H</text></binding></visual></toast>"#)
        let full = try NativeSamples.body(event, .windows, toast)
        #expect(full.contains(#"<image placement="hero" src="https://example.com/1.jpg"/>"#))
        #expect(
            full.contains(
                #"<actions> <action content="Open" arguments="https://example.com/?a=1&amp;b=2"/> </actions>"#))
    }

    @Test func `sections are merged over the body`() throws {
        let body = #"{"aps":{"alert":"{{headline}}","sound":"soft.caf","badge":1},"url":"u"}"#
        let breaking =
            #"{"aps":{"sound":{"name":"alarm.caf","volume":1},"badge":null,"interruption-level":"time-sensitive"},"flash":true}"#
        var urgent = event
        urgent.urgency = 1
        #expect(
            try NativeSamples.body(urgent, .apple, body, [.breaking: breaking])
                == #"{"aps":{"alert":"Headline","sound":{"name":"alarm.caf","volume":1},"interruption-level":"time-sensitive"},"url":"u","flash":true}"#
        )
        #expect(
            try NativeSamples.body(event, .apple, body, [.breaking: breaking])
                == #"{"aps":{"alert":"Headline","sound":"soft.caf","badge":1},"url":"u"}"#)
    }

    @Test func `quiet and background news disturb nobody, whatever the body says`() throws {
        let body =
            #"{"aps":{"alert":"{{headline}}","sound":"alarm.caf","badge":2,"interruption-level":"critical"},"u":1}"#
        let quiet = #"{"aps":{"sound":"soft.caf"},"q":"{{urgencyClass}}"}"#
        #expect(
            try NativeSamples.body(event, .apple, body, [.quiet: quiet], isQuiet: true)
                == #"{"aps":{"alert":"Headline","badge":2,"interruption-level":"passive"},"u":1,"q":"quiet"}"#)
        #expect(
            try NativeSamples.body(
                event, .apple, body, [.background: #"{"h":"{{headline}}"}"#], isQuiet: true, inBackground: true)
                == #"{"aps":{"interruption-level":"critical","content-available":1},"u":1,"h":"Headline"}"#)
    }

    @Test func `FCM gets its lifetime, replacement and silence last`() throws {
        let body =
            #"{"message":{"notification":{"body":"{{headline}}"},"android":{"ttl":"5s","priority":"HIGH","notification":{"channel_id":"loud","sound":"x"}},"data":{"u":"{{link}}"}}}"#
        #expect(
            try NativeSamples.body(event, .fcmv1, body)
                == #"{"message":{"notification":{"body":"Headline"},"android":{"ttl":"3600s","priority":"HIGH","notification":{"channel_id":"loud","sound":"x","tag":"story-1"},"collapse_key":"story-1"},"data":{"u":"https://example.com/?a=1&b=2"}}}"#
        )
        #expect(
            try NativeSamples.body(event, .fcmv1, body, isQuiet: true)
                == #"{"message":{"notification":{"body":"Headline"},"android":{"ttl":"3600s","priority":"NORMAL","notification":{"channel_id":"breakingNewsQuiet","tag":"story-1"},"collapse_key":"story-1"},"data":{"u":"https://example.com/?a=1&b=2","quiet":"true"}}}"#
        )
        let channel = #"{"message":{"android":{"notification":{"channel_id":"silent"}}}}"#
        #expect(
            try NativeSamples.body(event, .fcmv1, body, [.quiet: channel], isQuiet: true).contains(
                #""channel_id":"silent""#))
        let background = try NativeSamples.body(event, .fcmv1, body, isQuiet: true, inBackground: true)
        #expect(!background.contains("notification") && background.contains(#""priority":"NORMAL""#))
    }

    @Test func `data-only messages stay data-only, and an event without a story has no collapse key`() throws {
        let event = NewsEvent(id: "1", headline: "H")
        #expect(
            try NativeSamples.body(event, .fcmv1, #"{"message":{"data":{"t":"{{headline}}"}}}"#)
                == #"{"message":{"data":{"t":"H"},"android":{"priority":"NORMAL","ttl":"3600s"}}}"#)
    }

    @Test func `browsers get the tag where service workers read it`() throws {
        #expect(
            try NativeSamples.body(event, .browser, #"{"title":"{{headline}}","vibrate":[1]}"#)
                == #"{"title":"Headline","vibrate":[1],"tag":"story-1"}"#)
        #expect(
            try NativeSamples.body(
                event, .browser, #"{"notification":{"title":"{{headline}}","vibrate":[1]}}"#, isQuiet: true)
                == #"{"notification":{"title":"Headline","tag":"story-1","silent":true}}"#)
    }

    @Test func `Amazon gets its lifetime as a number`() throws {
        #expect(
            try NativeSamples.body(event, .adm, #"{"data":{"t":"{{headline}}"}}"#)
                == #"{"data":{"t":"Headline"},"priority":"normal","consolidationKey":"story-1","expiresAfter":3600}"#)
    }

    @Test func `a quiet toast is silent, and one in the background is raw`() throws {
        let toast =
            #"<toast scenario="alarm"><visual/><audio src="ms-winsoundevent:Notification.Looping.Alarm"/></toast>"#
        #expect(
            try NativeSamples.body(event, .windows, toast, isQuiet: true)
                == #"<toast><visual/><audio silent="true"/></toast>"#)
        let settings = NativeSamples.settings(.windows, toast, [.background: #"{"h":"{{headline}}"}"#])
        let raw = try NativeSamples.payload(event, settings, isQuiet: true, inBackground: true)
        #expect(raw.request.body == Array(#"{"h":"Headline"}"#.utf8))
        #expect(raw.request.isRaw && raw.request.fields.contains(HeaderField("X-WNS-Type", "wns/raw")))
        let standard = try NativeSamples.payload(
            event, NativeSamples.settings(.windows, toast), isQuiet: true, inBackground: true)
        #expect(
            String(decoding: standard.request.body, as: UTF8.self).contains(
                #""message":"Breaking World News : Headline""#))
    }

    @Test(arguments: [Platform.apple, .fcmv1, .windows, .browser, .adm])
    func `headers and tags are those of the built-in body`(platform: Platform) throws {
        let body = platform == .windows ? "<toast/>" : #"{"message":{}}"#
        for (isQuiet, inBackground) in [(false, false), (true, false), (true, true)] {
            var settings = NativeSamples.settings(platform, body, [.background: #"{"message":{}}"#])
            let own = try NativeSamples.payload(event, settings, isQuiet: isQuiet, inBackground: inBackground)
            settings.native = [:]
            let standard = try NativeSamples.payload(event, settings, isQuiet: isQuiet, inBackground: inBackground)
            #expect(own.request.fields == standard.request.fields)
            #expect(own.request.tags == standard.request.tags && own.request.isRaw == standard.request.isRaw)
        }
    }

    @Test func `platforms without a body keep the built-in one`() throws {
        var settings = NativeSamples.settings(.apple, #"{"aps":{}}"#)
        settings.mode = .native([.apple, .fcmv1])
        let standard = try NativeSamples.payload(event, PayloadSettings(), on: .fcmv1)
        settings.timeToLive = PayloadSettings().timeToLive
        #expect(try NativeSamples.payload(event, settings, on: .fcmv1) == standard)
    }

    @Test func `a test is marked in every text`() throws {
        var event = event
        event.isTest = true
        #expect(
            try NativeSamples.body(event, .apple, #"{"a":"{{headline}}","b":"{{summary}}","c":"{{message}}"}"#)
                == #"{"a":"TEST Headline","b":"TEST A summary","c":"TEST Breaking World News : Headline"}"#)
    }

    @Test(arguments: [
        ("World", "world"), ("Politik & Wirtschaft", "politik-wirtschaft"), ("Österreich", "österreich"),
        ("  U.S. News 24 ", "u-s-news-24"), ("", ""),
    ])
    func `a category's slug has its words with hyphens`(name: String, slug: String) {
        #expect(NativeContent.slug(name) == slug)
    }

    @Test func `any event makes valid JSON`() throws {
        var random = SeededRandom(seed: 31)
        let leaves = [
            "{{summary}}", "{{link}}", "{{data.edition}}", "x{{image}}", "{{#story}}s{{/story}}", "\\\"",
            "{{headline}}",
        ]
        func value(_ depth: Int) -> String {
            let count = Int.random(in: 0...3, using: &random)
            switch Int.random(in: 0...(depth > 3 ? 1 : 3), using: &random) {
            case 0: return "1"
            case 1: return "\"\(leaves[Int.random(in: 0..<leaves.count, using: &random)])\""
            case 2: return "[" + (0..<count).map { _ in value(depth + 1) }.joined(separator: ",") + "]"
            default: return "{" + (0..<count).map { "\"m\($0)\":\(value(depth + 1))" }.joined(separator: ",") + "}"
            }
        }
        for _ in 0..<300 {
            let builder = try PayloadBuilder(NativeSamples.settings(.apple, #"{"a":\#(value(0)),"b":\#(value(0))}"#))
            for bits in 0..<8 {
                var event = NewsEvent(id: "1", headline: "\"H\"\n")
                if bits & 1 != 0 { event.summary = "s\\" }
                if bits & 2 != 0 { (event.link, event.image) = ("l", "i") }
                if bits & 4 != 0 { (event.story, event.data) = ("s", [.init(name: "edition", value: "e")]) }
                let body = builder.payload(
                    event, routing: PayloadSamples.world, platform: .apple, lane: .init(0)
                ).request.body
                #expect(JSONTree(parsing: body) != nil, "\(String(decoding: body, as: UTF8.self))")
            }
        }
    }
}
