import Logging
import PublisherService
import TestSupport
import Testing

@testable import newswire

private let python = Python(with: "selenium")

@Test(
    .enabled(if: python != nil, "needs Python's selenium (in NEWSWIRE_TEST_PYTHON or python3)"),
    .enabled(if: Browser.isHere, "needs chromium and chromedriver"), .timeLimit(.minutes(5)))
func `a reader subscribes in a browser and gets the news of the demo that was asked for`() async throws {
    let demo = try await Demo(port: 0, log: Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() })
    let publishing = Task { try await demo.publisher.run() }
    let ended = try await #require(python).run(script: "page.py", arguments: [demo.page] + Browser.screenshots)
    #expect(ended.status == 0)
    demo.publisher.drain()
    try await publishing.value
    await demo.close()
}
