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

    @Test func `each of seven tabs shows arriving news`() async throws {
        try await read("tabs")
    }

    @Test func `with the keyboard alone, phones are registered again after the hub has been restarted`() async throws {
        try await use("restart")
    }

    @Test func `the page keeps working and reports what happened, for every send and every reply`() async throws {
        try await use("mishaps")
    }

    @Test func `a choice persists beside another browser, with another hub, and without storage`() async throws {
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
        // The address is printed before everything that takes time. Stories of the page are among the results.
        let lines = ended.output.split(separator: "\n")
        #expect(lines.dropFirst().first == "  look at  \(page)")
        #expect(ended.output.contains(/accepted +page-/))
    }
}
