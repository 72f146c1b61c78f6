import TestSupport
import Testing

private let python = Python(with: "selenium")

/// Tests the pages of other processes than the publisher, with screenshots if `NEWSWIRE_SCREENSHOTS` is set.
@Suite(
    .enabled(if: python != nil, "needs Python's selenium (in NEWSWIRE_TEST_PYTHON or python3)"),
    .enabled(if: Browser.isHere, "needs chromium and chromedriver"), .timeLimit(.minutes(15)), .serialized)
struct ReportPageTests {
    @Test func `the page of feeds lists each feed with its remedy, the newest problem first`() async throws {
        try await FeedStatusServerTests.serve { try await look(at: $0, "feeds") }
    }

    @Test func `the page of telemetry shows reached and missed devices and the remedy in every state`()
        async throws
    {
        try await TelemetryStatusServerTests.serve { try await look(at: $0, "telemetry") }
    }

    private func look(at port: Int, _ mode: String) async throws {
        let arguments = ["http://127.0.0.1:\(port)/", mode] + Browser.screenshots
        #expect(try await #require(python).run(script: "reports.py", arguments: arguments).status == 0)
    }
}
