public import Feeds
public import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import PublisherService

/// Health, metrics and the page of a process that follows feeds. Nothing can be done there, only looked at.
public struct FeedStatusServer: Sendable {
    private let settings: StatusServerSettings
    private let report: @Sendable () async -> IngestReport

    /// - Parameter report: how the process is doing at the moment of the call.
    public init(_ settings: StatusServerSettings, report: @escaping @Sendable () async -> IngestReport) {
        self.settings = settings
        self.report = report
    }

    /// Serves until `stop()` is called on the server that this returns.
    /// - Returns: once the port is open.
    public func start() async throws(ListenFailure) -> RunningServer {
        let gate = AccessGate(token: settings.token, isOnLoopback: Caller.namesLoopback(settings.host))
        return try await RunningServer.start(
            FeedStatusResponder(report: report, gate: gate), host: settings.host, port: settings.port,
            limits: settings.limits)
    }
}

private struct FeedStatusResponder: HTTPResponder {
    let report: @Sendable () async -> IngestReport
    let gate: AccessGate

    private enum Page: String {
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
        let file = PageFile(path: path, of: .feeds)
        guard file != nil || Page(rawValue: path) != nil else {
            return Answer.problem(.notFound, "There is nothing here.")
        }
        guard [.get, .head].contains(request.method) else {
            var answer = Answer.wrongMethod(allowed: "GET, HEAD")
            // Do not read a body.
            answer.headers[.connection] = "close"
            return answer
        }
        if let file { return Answer.file(file) }
        let report = await report()
        switch Page(rawValue: path) {
        // It has answered, so its event loop is alive.
        case .health?: return Answer.json(.ok, StatusJSON.healthy)
        case .readiness?: return Answer.json(report.notReady.isEmpty ? .ok : .serviceUnavailable, report.readiness)
        case .metrics?: return Answer.answer(.ok, MetricsText.contentType, FeedMetrics.text(report, .now))
        case .status?:
            let limit = request.uri.queryParameters["limit"].map { Int($0) ?? 0 } ?? .max
            guard limit > 0 else { return Answer.problem(.badRequest, "limit must be a whole number from 1.") }
            return Answer.json(.ok, report.json(version: ServiceVersion.text, limit: limit))
        case nil: return Answer.problem(.notFound, "There is nothing here.")
        }
    }
}
