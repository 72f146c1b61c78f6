import Foundation
import Logging
import NewsModel
import NewswireCommands
import NotificationHub
import Synchronization
import Testing

@Test func `a table is as wide as its cells, and no cell can move the cursor`() {
    var table = TextTable(
        [.left("name", max: 8), .right("n"), "end"],
        hasColours: false)
    table.add(["a", "1", "x"])
    table.add(["much too long", "1000", "大会"])
    table.add([.init("evil\u{1B}[2J\n\u{9B}31m"), "2", ""])
    #expect(
        table.text == """
            name         n  end
            a            1  x
            much to…  1000  大会
            evil[2J…     2  

            """)
}

@Test(.timeLimit(.minutes(5))) func `a table of many rows takes no longer per row than one of few`() {
    var table = TextTable(["order", .left("reason", max: 80)], hasColours: false)
    let reason = String(repeating: "r", count: 100)
    // If columns were measured again for each row, that alone would take hours.
    for number in 0..<20_000 { table.add([.init("recall of \(number)"), .init(reason)]) }
    let lines = table.text.split(separator: "\n")
    #expect(lines.count == 20_001)
    #expect(lines.last == "recall of 19999  \(String(repeating: "r", count: 79))…")
}

@Test func `a text cannot hide or reorder the text beside it`() {
    let hidden: [Unicode.Scalar] =
        ["\u{80}", "\u{85}", "\u{9B}", "\u{61C}", "\u{200E}", "\u{200F}"] + ["\u{2028}", "\u{2029}"]
        + (0x202A...0x202E).compactMap(Unicode.Scalar.init) + (0x2066...0x2069).compactMap(Unicode.Scalar.init)
    for scalar in hidden {
        let text = "a\(Character(scalar))b"
        let digits = String(scalar.value, radix: 16)
        #expect(text.escapingHidden == "a\\u" + String(repeating: "0", count: 4 - digits.count) + digits + "b")
        #expect(!text.plain.unicodeScalars.contains(scalar))
    }
    #expect("exe\u{202E}txt".plain == "exe\\u202etxt")
    // These are parts of letters and emoji.
    for text in ["é", "؛", "ؼ", "†", "…", "“x”", "👩\u{200D}🚒", "می\u{200C}خواهم", "\u{A0}"] {
        #expect(text.escapingHidden == text)
    }
}

@Test func `JSON that is printed means the same with escapes`() throws {
    let id = "a\u{202E}\u{85}\u{2028}b"
    let line = String(decoding: JSONWriter.object { $0.field("id", id) }, as: UTF8.self).escapingHidden
    #expect(line == #"{"id":"a\u202e\u0085\u2028b"}"#)
    let read = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
    #expect(read == ["id": id])
}

@Test func `colours do not change the width of a cell`() {
    var table = TextTable(["a", "b"], hasColours: true)
    table.add([.init("x", colour: .green), "y"])
    #expect(table.text == "\u{1B}[1ma\u{1B}[0m  \u{1B}[1mb\u{1B}[0m\n\u{1B}[32mx\u{1B}[0m  y\n")
}

@Test func `the progress bar shows amount, speed and time left`() {
    #expect(
        ProgressBar.text(share: 0.25, events: 12_345, elapsed: .seconds(10), width: 100)
            == "██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 25%  12,345 events  1,234/s  0:30 left")
    #expect(ProgressBar.text(share: nil, events: 7, elapsed: .seconds(1), width: 100) == "7 events  7/s")
    #expect(ProgressBar.text(share: nil, events: 1, elapsed: .seconds(2), width: 100) == "1 event")
    for width in [0, 1, 20, 79] {
        for share in [nil, -1, 0, 0.5, 1, 2, .nan] as [Double?] {
            let text = ProgressBar.text(share: share, events: 5_000_000, elapsed: .zero, width: width)
            #expect(TextWidth.columns(text) <= max(width - 1, 10))
        }
    }
}

@Test func `the bar's time includes the pauses`() {
    let text = ProgressBar.text(
        share: 0.5, events: 10, elapsed: .seconds(60), width: 100, takes: { $0 + .seconds(20 * 3_600) })
    #expect(text.contains("20 h left"))
    #expect(ProgressBar.text(share: 0.5, events: 10, elapsed: .seconds(60), width: 100).contains("1:00 left"))
}

@Test func `a result is one row`() {
    var result = ResultRecord(
        eventID: "e\n1", platform: .apple, outcome: .rejected, lane: "live",
        source: .init(partition: TopicPartition(topic: "t", partition: 0), offset: 1),
        settledAt: Instant(milliseconds: 1_795_227_600_123))
    result.categories = ["World", "Sports"]
    result.httpStatus = 400
    result.latency.total = .milliseconds(12)
    result.error = .init(code: "refused", detail: "no")
    let table = ResultTable(width: 140, hasColours: false)
    #expect(
        table.line(result)
            == "2026-11-21 02:20:00  rejected     e 1           -             apple         World,Sports           400        12  refused: no"
    )
    #expect(TextWidth.columns(table.title) <= 140)
    result.cut = ["summary", "message"]
    result.leftOut = ["Weather"]
    let wide = ResultTable(width: 240, hasColours: false).line(result)
    #expect(wide.hasSuffix("refused: no; cut: summary, message; left out: Weather"))
}

private func logged(_ format: LogLineHandler.Format, _ body: (Logger) -> Void) -> String {
    let lines = Lines()
    let handler = LogLineHandler(
        label: "newswire", format: format, threshold: LogThreshold(.info), write: { lines.add($0) },
        now: { Instant(milliseconds: 1_795_227_600_123) })
    body(Logger(label: "newswire") { _ in handler })
    return lines.text
}

private final class Lines: Sendable {
    private let lines = Mutex("")
    func add(_ line: String) { lines.withLock { $0 += line } }
    var text: String { lines.withLock { $0 } }
}

@Test func `a log event is one JSON object on one line`() throws {
    let text = logged(.json) { log in
        log.info(
            "settled",
            metadata: ["b": "x\n\"y\"", "a": .stringConvertible(3), "level": "taken", "list": ["1", ["k": "v"]]])
        log.debug("too detailed")
    }
    #expect(
        text
            == #"{"time":"2026-11-21T02:20:00.123Z","level":"info","message":"settled","source":"newswire","a":3,"b":"x\n\"y\"","metadata.level":"taken","list":["1",{"k":"v"}]}"#
            + "\n")
}

@Test func `a log event is one line of text that no value can break`() {
    let text = logged(.text(isColoured: false)) { $0.warning("settled", metadata: ["id": "a\n\u{1B}[2Jb", "n": "1"]) }
    #expect(text == "02:20:00.123 WARNING  settled id=\"a\\n\\u001b[2Jb\" n=1\n")
}

@Test func `percentiles are by nearest rank`() {
    var state = ResultTally.State()
    #expect(state.hubTime(percent: 99) == nil)
    state.hubTimes = Array((1...200).reversed())
    #expect(state.hubTime(percent: 50) == .nanoseconds(100))
    #expect(state.hubTime(percent: 99) == .nanoseconds(198))
    #expect(state.hubTime(percent: 100) == .nanoseconds(200))
}
