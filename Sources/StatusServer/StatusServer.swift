public import ControlIO
public import HTTPServing
public import Logging
import NIOCore
public import OTLPTracing
public import PublisherService

/// A publisher's health, metrics and dashboard over HTTP.
public struct StatusServer: Sendable {
    private let settings: StatusServerSettings
    private let publisher: Publisher
    private let exporter: SpanExporter?
    private let log: Logger
    private let feeds: @Sendable () -> [UInt8]?
    private let control: ControlMonitor?

    /// - Parameters:
    ///   - control: shows and gives editors' orders; `nil` to disable them.
    ///   - exporter: provides the metrics about spans; `nil` without tracing.
    ///   - feeds: returns the state of feeds that other processes follow, in the form of `IngestReport.json`; `nil`
    ///     without feeds. Called on an event loop for each request of the page.
    public init(
        _ settings: StatusServerSettings, publisher: Publisher, control: ControlMonitor? = nil,
        exporter: SpanExporter? = nil, log: Logger, feeds: @escaping @Sendable () -> [UInt8]? = { nil }
    ) {
        self.feeds = feeds
        self.control = control
        self.exporter = exporter
        self.settings = settings
        self.publisher = publisher
        self.log = log
    }

    /// Serves until `stop()` is called on the returned server.
    /// - Returns: the server, once the port is open.
    public func start() async throws(ListenFailure) -> RunningServer {
        let responder = StatusResponder(
            publisher: publisher, exporter: exporter, feeds: feeds, control: control,
            gate: AccessGate(token: settings.token, isOnLoopback: Caller.namesLoopback(settings.host)), log: log,
            refusals: RefusalLog(log, interval: TimeAmount(settings.refusalInterval)))
        return try await RunningServer.start(
            responder, host: settings.host, port: settings.port, limits: settings.limits)
    }
}
