import ByteText
import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

struct PayloadFitTests {
    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc…"), ("abcdefg", 3, "…"), ("abcdefg", 2, ""), ("abcdefg", 0, ""),
        ("", 0, ""), ("ab cdefg", 6, "ab…"), ("\"\"\"\"", 7, "\"\"…"), ("👩‍👩‍👧👩‍👩‍👧", 21, "👩‍👩‍👧…"), ("👩‍👩‍👧👩‍👩‍👧", 20, "👩‍👩…"),
        ("e\u{301}e\u{301}e\u{301}", 8, "e\u{301}…"), ("🇺🇦🇺🇦", 15, "🇺🇦…"), ("a\r\nb", 5, "a…"),
        ("\u{1}\u{1}\u{1}", 15, "\u{1}\u{1}…"),
    ])
    func `text is cut between characters with an ellipsis`(text: String, room: Int, cut: String) {
        let result = TextCut.cut(text, to: room, cost: JSONEscaping.cost)
        #expect(Array(result.unicodeScalars) == Array(cut.unicodeScalars))
    }

    @Test
    func `a character larger than the room is cut between its scalars`() {
        let piled = "e" + String(repeating: "\u{301}", count: 50_000)
        #expect(TextCut.cut(piled, to: 100, cost: JSONEscaping.cost).utf8.count <= 100)
    }

    /// Texts whose escaped form is much longer, in every way.
    static let fillings = ["a", "\"", "\\", "\n", "\u{1}", "é", "👩‍👩‍👧", "&", "<", "'", "日", "e\u{301}\u{302}"]

    /// Xiaomi has a limit for the message itself.
    @Test(arguments: Platform.allCases.filter { $0 != .xiaomi }, fillings)
    func `a body is never over its limit and a cut message fills it`(platform: Platform, filling: String) throws {
        let longest = 5 * platform.facts.bodyLengthMax / filling.utf8.count
        for count in [platform.facts.bodyLengthMax / 40, platform.facts.bodyLengthMax / 2, longest] {
            let event = PayloadSamples.event(headline: String(repeating: filling, count: count) + "!")
            let payload = try PayloadSamples.payload(event, platform)
            let body = payload.request.body
            #expect(body.count <= platform.facts.bodyLengthMax)
            let message = try #require(PayloadSamples.message(in: body, of: platform))
            if payload.cuts.contains(.message) {
                #expect(message.hasSuffix("…"))
                let isXML = platform == .windows || platform == .windowsphone
                #expect(isXML || event.headline.hasPrefix(message.dropLast()))
                // White space before the ellipsis is removed, and here the whole text is white space.
                if platform != .template, filling != "\n" { #expect(body.count > platform.facts.bodyLengthMax - 64) }
            } else if !(filling == "\u{1}" && (platform == .windows || platform == .windowsphone)) {
                #expect(message == event.headline)
            }
        }
    }

    @Test(arguments: Platform.allCases.filter { $0 != .template && $0 != .windowsphone })
    func `at the limit nothing is cut and one byte over it the summary goes first`(platform: Platform) throws {
        var event = NewsEvent(id: "1", headline: "Headline")
        event.summary = ""
        let spare = platform.facts.bodyLengthMax - (try PayloadSamples.payload(event, platform).request.body.count)
        event.summary = String(repeating: "s", count: spare)
        let full = try PayloadSamples.payload(event, platform)
        #expect(full.request.body.count == platform.facts.bodyLengthMax)
        #expect(full.cuts.isEmpty)
        event.summary?.append("s")
        let over = try PayloadSamples.payload(event, platform)
        #expect(over.request.body.count < platform.facts.bodyLengthMax)
        #expect(over.cuts == .summary)
        event.summary?.removeLast(2)
        #expect(try PayloadSamples.payload(event, platform).request.body.count == platform.facts.bodyLengthMax - 1)
    }

    @Test(arguments: [Platform.apple, .fcmv1, .windows, .template])
    func `the event's own values go from the last, as few as needed`(platform: Platform) throws {
        var event = NewsEvent(id: "1", headline: "Headline")
        event.data = (0..<5_000).map { .init(name: "field\($0)", value: String(repeating: "v", count: 40)) }
        let payload = try PayloadSamples.payload(event, platform)
        #expect(payload.cuts.contains(.data))
        #expect(!payload.cuts.contains(.message))
        let fields = try #require(PayloadSamples.fields(in: payload.request.body, of: platform))
        let kept = (0..<5_000).filter { fields["field\($0)"] != nil }
        #expect(kept == Array(0..<kept.count))
        #expect(payload.request.body.count <= platform.facts.bodyLengthMax)
        #expect(payload.request.body.count > platform.facts.bodyLengthMax - 130)
    }

    @Test
    func `a template's message and title stay small enough for the hub's rendering`() throws {
        let event = NewsEvent(id: "1", headline: String(repeating: "\"", count: 4_000))
        let payload = try PayloadSamples.payload(event, .template)
        #expect(payload.cuts == [.message, .title])
        #expect(payload.request.body.count < 3_200)
        #expect(payload.cuts.names == ["title", "message"])
    }

    @Test(arguments: Platform.allCases)
    func `parts of a megabyte each still make a payload that carries the headline`(platform: Platform) throws {
        let huge = String(repeating: "\u{1}&\"", count: 350_000)
        var event = NewsEvent(id: huge, headline: "Headline")
        event.link = huge
        event.image = huge
        event.story = huge
        event.summary = huge
        event.data = [.init(name: huge, value: huge)]
        let payload = try PayloadSamples.payload(event, platform)
        #expect(payload.request.body.count <= platform.facts.bodyLengthMax)
        #expect(PayloadSamples.message(in: payload.request.body, of: platform) == "Headline")
        event.headline = huge
        let worse = try PayloadSamples.payload(event, platform)
        #expect(worse.request.body.count <= platform.facts.bodyLengthMax)
        #expect(PayloadSamples.message(in: worse.request.body, of: platform)?.hasSuffix("…") == true)
    }

    @Test(arguments: Platform.allCases)
    func `twenty long category names leave room for the message`(platform: Platform) throws {
        let names = (10..<30).map { String(repeating: "&", count: 62) + "\($0)" }
        let routing = Routing.Tagged(
            categories: names, tags: ["x"], expression: "x", label: names.joined(separator: ", "))
        let payload = try PayloadBuilder(PayloadSettings(message: "{{headline}}")).payload(
            PayloadSamples.event(), routing: routing, platform: platform, lane: LaneID(0))
        #expect(payload.request.body.count <= platform.facts.bodyLengthMax)
        #expect(PayloadSamples.message(in: payload.request.body, of: platform) == "Headline")
    }
}
