import ByteText
public import Feeds
public import HTTPServing
import HTTPTypes
public import HubTelemetry
import Hummingbird
import NIOCore
import NewsModel
import PublisherService

/// Serves health, metrics and a page of a process other than the publisher, until `stop()` is called on the returned
/// server. Read-only.
public enum ReportServer {
    /// Serves a process that follows feeds.
    /// - Parameter report: returns the state of the process at the time of the call.
    /// - Returns: the server, once the port is open.
    public static func start(
        _ settings: StatusServerSettings, feeds report: @escaping @Sendable () async -> IngestReport
    ) async throws(ListenFailure) -> RunningServer {
        try await ReportResponder(settings, page: .feeds, report: report).start()
    }

    /// Serves a process that polls the hub about sends.
    /// - Parameter report: returns the state of the process at the time of the call.
    /// - Returns: the server, once the port is open.
    public static func start(
        _ settings: StatusServerSettings, telemetry report: @escaping @Sendable () async -> TelemetryReport
    ) async throws(ListenFailure) -> RunningServer {
        try await ReportResponder(settings, page: .telemetry, report: report).start()
    }
}

extension IngestReport: ServedReport {
    var metrics: [UInt8] { FeedMetrics.text(self, .now) }

    func status(limit: Int) -> [UInt8] { json(version: ServiceVersion.text, limit: limit) }
}

extension TelemetryReport: ServedReport {
    var metrics: [UInt8] { TelemetryMetrics.text(self, .now) }

    func status(limit: Int) -> [UInt8] { json(version: ServiceVersion.text, limit: limit) }
}

/// The report of a process other than the publisher, in the requested forms.
protocol ServedReport: Sendable {
    var notReady: [ReadinessReason] { get }
    /// The metrics in the text format of Prometheus.
    var metrics: [UInt8] { get }
    /// The status as JSON, with at most `limit` items in each list.
    func status(limit: Int) -> [UInt8]
}

/// Serves the report of a process other than the publisher. Read-only.
struct ReportResponder<Report: ServedReport>: HTTPResponder {
    private let settings: StatusServerSettings
    private let page: PageFiles
    private let report: @Sendable () async -> Report
    private let gate: AccessGate

    /// - Parameter report: returns the state of the process at the time of the call.
    init(_ settings: StatusServerSettings, page: PageFiles, report: @escaping @Sendable () async -> Report) {
        self.settings = settings
        self.page = page
        self.report = report
        gate = AccessGate(token: settings.token, isOnLoopback: Caller.namesLoopback(settings.host))
    }

    func start() async throws(ListenFailure) -> RunningServer {
        try await RunningServer.start(self, host: settings.host, port: settings.port, limits: settings.limits)
    }

    private enum Resource: String {
        case health = "/healthz"
        case readiness = "/readyz"
        case metrics = "/metrics"
        case status = "/api/status"
    }

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        guard gate.mayRead(context.caller(request), authorization: request.headers[.authorization]) else {
            return Answer.problem(.forbidden, "Ask for localhost or a loopback address.")
        }
        let path = request.uri.path
        let file = page[path]
        guard file != nil || Resource(rawValue: path) != nil else {
            return Answer.problem(.notFound, "There is nothing here.")
        }
        guard [.get, .head].contains(request.method) else {
            var answer = Answer.wrongMethod(allowed: "GET, HEAD")
            // Closing the connection avoids reading a body.
            answer.headers[.connection] = "close"
            return answer
        }
        if let file { return Answer.file(file) }
        let report = await report()
        switch Resource(rawValue: path) {
        // The process is alive because its event loop has answered.
        case .health?: return Answer.json(.ok, StatusJSON.health())
        case .readiness?: return Answer.readiness(report.notReady)
        case .metrics?: return Answer.answer(.ok, MetricsText.contentType, report.metrics)
        case .status?:
            guard let query = request.query else { return Answer.brokenQuery }
            let limit = query["limit"].map { Int($0) ?? 0 } ?? .max
            guard limit > 0 else { return Answer.problem(.badRequest, "limit must be a whole number from 1.") }
            return Answer.json(.ok, report.status(limit: limit))
        case nil: return Answer.problem(.notFound, "There is nothing here.")
        }
    }
}
