public import Feeds
public import HTTPServing
import PublisherService

/// Health, metrics and the page of a process that follows feeds. Read-only.
public struct FeedStatusServer: Sendable {
    private let settings: StatusServerSettings
    private let report: @Sendable () async -> IngestReport

    /// - Parameter report: returns the state of the process at the time of the call.
    public init(_ settings: StatusServerSettings, report: @escaping @Sendable () async -> IngestReport) {
        self.settings = settings
        self.report = report
    }

    /// Serves until `stop()` is called on the returned server.
    /// - Returns: the server, once the port is open.
    public func start() async throws(ListenFailure) -> RunningServer {
        try await ReportResponder(settings, page: .feeds) { [report] in await report() }.start()
    }
}

extension IngestReport: ServedReport {
    var metrics: [UInt8] { FeedMetrics.text(self, .now) }

    func status(limit: Int) -> [UInt8] { json(version: ServiceVersion.text, limit: limit) }
}
