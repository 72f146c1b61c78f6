import Hummingbird
public import Logging
import NIOCore
public import OTLPTracing
public import PublisherService
import ServiceLifecycle

/// A publisher's health, metrics and dashboard over HTTP.
public struct StatusServer: Sendable {
    /// Scrapers, probes and a handful of dashboards; more than that is somebody's mistake.
    private static let connectionsMax = 128
    /// How long a request may take to arrive whole.
    private static let requestTimeout = TimeAmount.seconds(10)
    private static let idleTimeout = TimeAmount.seconds(15)

    private let settings: StatusServerSettings
    private let publisher: Publisher
    private let exporter: SpanExporter?
    private let log: Logger

    /// - Parameter exporter: what it did with its spans is a metric; `nil` when nobody traces.
    public init(
        _ settings: StatusServerSettings, publisher: Publisher, exporter: SpanExporter? = nil, log: Logger
    ) {
        self.exporter = exporter
        self.settings = settings
        self.publisher = publisher
        self.log = log
    }

    /// Serves until `stop()` is called on what this returns.
    /// - Returns: once the port is open.
    public func start() async throws(StatusServerProblem) -> RunningStatusServer {
        let (ports, opened) = AsyncStream<Int>.makeStream()
        let application = application { opened.yield($0) }
        // Ended by a graceful shutdown, never by cancellation: that would trap on a connection that is just being made.
        var configuration = ServiceGroupConfiguration(services: [application], logger: application.logger)
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        let group = ServiceGroup(configuration: configuration)
        let serving = Task {
            defer { opened.finish() }
            try await group.run()
        }
        for await port in ports { return RunningStatusServer(port: port, group: group, serving: serving) }
        var reason = "it closed at once"
        do { try await serving.value } catch { reason = "\(error)" }
        throw .listen(host: settings.host, port: settings.port, reason: reason)
    }

    private func application(onOpen: @escaping @Sendable (Int) -> Void) -> Application<StatusResponder> {
        var logger = Logger(label: "newswire.http")
        logger.logLevel = .critical
        return Application(
            responder: StatusResponder(
                publisher: publisher, exporter: exporter, gate: ActionGate(token: settings.token), log: log),
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [RequestDeadline.Installer(Self.requestTimeout)],
                    idleTimeout: Self.idleTimeout,
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 8192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 100))),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port),
                availableConnectionsDelegate: .maximum(Self.connectionsMax, logger: logger)),
            onServerRunning: { channel in onOpen(channel.localAddress?.port ?? 0) }, logger: logger)
    }
}

/// A status that is being served by this process.
public final class RunningStatusServer: Sendable {
    public let port: Int
    private let group: ServiceGroup
    private let serving: Task<Void, any Error>

    init(port: Int, group: ServiceGroup, serving: Task<Void, any Error>) {
        self.port = port
        self.group = group
        self.serving = serving
    }

    /// Closes the port and every connection. Returns when all are closed.
    public func stop() async {
        await group.triggerGracefulShutdown()
        _ = await serving.result
    }
}
