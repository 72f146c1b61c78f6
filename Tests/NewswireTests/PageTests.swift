import Foundation
import TestSupport
import Testing

private let python = Python(with: "selenium")

/// The page of `newswire hub` and `newswire demo` in a browser.
@Suite(
    .enabled(if: python != nil, "needs Python's selenium (in NEWSWIRE_TEST_PYTHON or python3)"),
    .enabled(if: Browser.isHere, "needs chromium and chromedriver"), .timeLimit(.minutes(15)), .serialized)
struct PageTests {
    @Test func `a reader of the demo sees news arrive, sends some, and learns how many phones had them`() async throws {
        try await read("demo")
    }

    @Test func `in seven tabs, each shows what arrives`() async throws {
        try await read("tabs")
    }

    @Test func `with the keyboard alone, phones are registered again after the hub has been restarted`() async throws {
        try await use("restart")
    }

    @Test func `whatever is sent and whatever the hub does, the page goes on and says what happened`() async throws {
        try await use("mishaps")
    }

    @Test func `a choice holds beside another browser, with another hub, and where nothing may be stored`() async throws
    {
        try await use("others")
    }

    @Test func `three readers in three languages have three texts of one send, and one registration each`() async throws
    {
        try await use("languages")
    }

    private func use(_ mode: String) async throws {
        let arguments = [mode, Program.url.path] + Browser.screenshots
        #expect(try await #require(python).run(script: "page.py", arguments: arguments).status == 0)
    }

    private func read(_ mode: String) async throws {
        let demo = try Program.start(["demo", "--port", "0"])
        let page = try await demo.printed("  look at  ").dropFirst("  look at  ".count)
        let arguments = [mode, String(page)] + Browser.screenshots
        #expect(try await #require(python).run(script: "page.py", arguments: arguments).status == 0)
        demo.signal(SIGINT)
        let ended = try await demo.ended()
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
        // The address stands before everything that takes time, the stories of the page among the results.
        let lines = ended.output.split(separator: "\n")
        #expect(lines.dropFirst().first == "  look at  \(page)")
        #expect(ended.output.contains(/accepted +page-/))
    }
}
