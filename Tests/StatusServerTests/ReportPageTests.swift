import TestSupport
import Testing

private let python = Python(with: "selenium")

/// The pages of the processes beside the publisher, in a browser. `NEWSWIRE_SCREENSHOTS` may name a folder to look at them in.
@Suite(
    .enabled(if: python != nil, "needs Python's selenium (in NEWSWIRE_TEST_PYTHON or python3)"),
    .enabled(if: Browser.isHere, "needs chromium and chromedriver"), .timeLimit(.minutes(15)), .serialized)
struct ReportPageTests {
    @Test func `the page of feeds shows each, the newest problem first, and what to do`() async throws {
        try await FeedStatusServerTests.serve { try await look(at: $0, "feeds") }
    }

    @Test func `the page of telemetry says who was reached, who was not and why, and what to do in every state`()
        async throws
    {
        try await TelemetryStatusServerTests.serve { try await look(at: $0, "telemetry") }
    }

    private func look(at port: Int, _ mode: String) async throws {
        let arguments = ["http://127.0.0.1:\(port)/", mode] + Browser.screenshots
        #expect(try await #require(python).run(script: "reports.py", arguments: arguments).status == 0)
    }
}
