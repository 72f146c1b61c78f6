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
    private let control: ControlRoom?

    /// - Parameters:
    ///   - control: shows and gives editors' orders; `nil` without.
    ///   - exporter: its span counts become metrics; `nil` without tracing.
    ///   - feeds: what is known of the feeds that other processes follow, as `IngestReport.json` writes it; `nil` without
    ///     feeds. Called for each question of the page, on an event loop.
    public init(
        _ settings: StatusServerSettings, publisher: Publisher, control: ControlRoom? = nil,
        exporter: SpanExporter? = nil, log: Logger, feeds: @escaping @Sendable () -> [UInt8]? = { nil }
    ) {
        self.feeds = feeds
        self.control = control
        self.exporter = exporter
        self.settings = settings
        self.publisher = publisher
        self.log = log
    }

    /// Serves until `stop()` is called on the server that this returns.
    /// - Returns: once the port is open.
    public func start() async throws(ListenFailure) -> RunningServer {
        let responder = StatusResponder(
            publisher: publisher, exporter: exporter, feeds: feeds, control: control,
            gate: AccessGate(token: settings.token, isOnLoopback: Caller.namesLoopback(settings.host)), log: log,
            refusals: RefusalLog(log, interval: TimeAmount(settings.refusalInterval)))
        return try await RunningServer.start(
            responder, host: settings.host, port: settings.port, limits: settings.limits)
    }
}
