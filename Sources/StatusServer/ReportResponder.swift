import ByteText
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import NewsModel

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
    private let page: PageFile.Page
    private let report: @Sendable () async -> Report
    private let gate: AccessGate

    /// - Parameter report: returns the state of the process at the time of the call.
    init(_ settings: StatusServerSettings, page: PageFile.Page, report: @escaping @Sendable () async -> Report) {
        self.settings = settings
        self.page = page
        self.report = report
        gate = AccessGate(token: settings.token, isOnLoopback: Caller.namesLoopback(settings.host))
    }

    /// - Returns: the server, once the port is open.
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
        let file = PageFile(path: path, of: page)
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
        case .health?: return Answer.json(.ok, StatusJSON.healthy)
        case .readiness?:
            return Answer.json(report.notReady.isEmpty ? .ok : .serviceUnavailable, report.notReady.readiness)
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
