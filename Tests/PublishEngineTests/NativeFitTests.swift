import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

/// Bodies of the operator that are too large are shortened.
struct NativeFitTests {
    private static let alert =
        #"{"aps":{"alert":{"title":"{{headline}}","subtitle":"{{summary}}","body":"{{message}}"}},"url":"{{link}}","x":"{{data.x}}"}"#

    private func payload(_ event: NewsEvent, _ platform: Platform = .apple, _ body: String = alert) throws -> Payload {
        var settings = NativeSamples.settings(platform, body)
        settings.message = "{{headline}}"
        return try NativeSamples.payload(event, settings)
    }

    @Test func `the longest text is cut first and shorter ones stay whole`() throws {
        var event = NewsEvent(id: "1", headline: "Short headline")
        event.summary = String(repeating: "s", count: 9_000)
        event.link = "https://example.com"
        let payload = try payload(event)
        #expect(payload.cuts == .summary && payload.cuts.names == ["summary"])
        let body = try #require(JSONTree(parsing: payload.request.body))
        let alert = body["aps"]?["alert"]
        #expect(alert?["title"]?.string == "Short headline" && body["url"]?.string == "https://example.com")
        #expect(alert?["subtitle"]?.string?.hasSuffix("s…") == true)
        #expect((4_090...4_096).contains(payload.request.body.count))
    }

    @Test(
        arguments: [Platform.apple, .fcmv1, .browser, .adm, .windows],
        ["a", "\"", "👩‍👩‍👧", "e\u{301}\u{302}", "&", "\u{1}", "日"])
    func `a body is never over its limit, and texts are cut between characters`(platform: Platform, filling: String)
        throws
    {
        let body =
            platform == .windows
            ? #"<toast launch="{{headline}}"><visual><binding template="ToastGeneric"><text>{{headline}}</text><text>{{summary}}</text></binding></visual></toast>"#
            : #"{"message":{"notification":{"title":"{{headline}}","body":"{{summary}}"}}}"#
        for count in [100, 1_000, 20_000] {
            var event = NewsEvent(id: "1", headline: String(repeating: filling, count: count))
            event.summary = event.headline
            let payload = try payload(event, platform, body)
            #expect(payload.request.body.count <= platform.facts.bodyLengthMax)
            if platform == .windows { continue }
            let tree = try #require(JSONTree(parsing: payload.request.body))
            let title = try #require(tree["message"]?["notification"]?["title"]?.string)
            #expect(event.headline.hasPrefix(title.hasSuffix("…") ? String(title.dropLast()) : title))
            #expect(payload.cuts == (title == event.headline ? [] : [.title, .summary]))
        }
    }

    @Test func `values go from the last before a text becomes unreadable`() throws {
        var event = NewsEvent(id: "1", headline: String(repeating: "h", count: 500))
        event.data = [.init(name: "x", value: String(repeating: "x", count: 4_000))]
        let payload = try payload(event)
        #expect(payload.cuts == .data)
        let body = try #require(JSONTree(parsing: payload.request.body))
        #expect(body["x"] == nil && body["aps"]?["alert"]?["title"]?.string == event.headline)
    }

    @Test func `an address longer than browsers accept is left out`() throws {
        var event = NewsEvent(id: "1", headline: "h")
        event.link = String(repeating: "l", count: 2_049)
        let payload = try payload(event)
        #expect(payload.cuts == .link && JSONTree(parsing: payload.request.body)?["url"] == nil)
    }

    @Test(arguments: NativeBody.platforms)
    func `an event of megabytes still makes a body`(platform: Platform) throws {
        let huge = String(repeating: "\u{1}&\"", count: 350_000)
        var event = NewsEvent(id: huge, headline: huge)
        (event.link, event.image, event.story, event.summary) = (huge, huge, huge, huge)
        event.data = [.init(name: "x", value: huge)]
        let leaves = ["id", "story", "link", "image", "data.x", "headline", "uppercased(id)"].map { "{{\($0)}}" }
        let body =
            platform == .windows
            ? "<toast>" + leaves.map { "<text>\($0)</text>" }.joined() + "</toast>"
            : #"{"message":{"data":{"#
                + leaves.enumerated().map { #""a\#($0.offset)":"\#($0.element)""# }.joined(separator: ",") + "}}}"
        let payload = try payload(event, platform, body)
        #expect(payload.request.body.count <= platform.facts.bodyLengthMax)
        #expect(String(decoding: payload.request.body, as: UTF8.self).contains("…"))
    }

    @Test func `a body that is too large without its texts is an error, found with a long event`() throws {
        let fixed = String(repeating: "f", count: 4_000)
        let settings = NativeSamples.settings(
            .apple, #"{"aps":{"alert":"{{headline}}"},"f":"\#(fixed)","id":"{{id}}"}"#)
        let problem = try #require(settings.problems.first)
        #expect(problem.path == ["payload", "native", "apple", "body"])
        #expect(
            problem.message.contains("without its headline, summary and message") && problem.message.contains("4096"))
        #expect(throws: PayloadProblems.self) { try PayloadBuilder(settings) }
        let small = NativeSamples.settings(.apple, #"{"aps":{"alert":"{{headline}}"},"f":"\#(fixed)"}"#)
        #expect(small.problems.isEmpty)
    }
}
