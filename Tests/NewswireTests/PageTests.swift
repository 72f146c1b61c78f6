import Foundation
import TestSupport
import Testing

private let python = Python(with: "selenium")

@Test(
    .enabled(if: python != nil, "needs Python's selenium (in NEWSWIRE_TEST_PYTHON or python3)"),
    .enabled(if: Browser.isHere, "needs chromium and chromedriver"), .timeLimit(.minutes(5)))
func `a reader subscribes in a browser and receives the news that was published with it`() async throws {
    let demo = try Program.start(["demo", "--port", "0"])
    let page = try await demo.printed("  look at  ").dropFirst("  look at  ".count)
    // A phone that subscribes earlier gets the demo's own events too.
    _ = try await demo.printed("All events have their outcome")
    let ended = try await #require(python).run(script: "page.py", arguments: [String(page)] + Browser.screenshots)
    #expect(ended.status == 0)
    demo.terminate()
    _ = try await demo.ended()
}
