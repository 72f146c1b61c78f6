public import HTTPServing
public import HubTelemetry
import PublisherService

/// Health, metrics and the page of a process that polls the hub about sends. Read-only.
public struct TelemetryStatusServer: Sendable {
    private let settings: StatusServerSettings
    private let report: @Sendable () async -> TelemetryReport

    /// - Parameter report: returns the state of the process at the time of the call.
    public init(_ settings: StatusServerSettings, report: @escaping @Sendable () async -> TelemetryReport) {
        self.settings = settings
        self.report = report
    }

    /// Serves until `stop()` is called on the returned server.
    /// - Returns: the server, once the port is open.
    public func start() async throws(ListenFailure) -> RunningServer {
        try await ReportResponder(settings, page: .telemetry) { [report] in await report() }.start()
    }
}

extension TelemetryReport: ServedReport {
    var metrics: [UInt8] { TelemetryMetrics.text(self, .now) }

    func status(limit: Int) -> [UInt8] { json(version: ServiceVersion.text, limit: limit) }
}
