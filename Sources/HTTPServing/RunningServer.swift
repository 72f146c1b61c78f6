package import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
package import NIOSSL
package import ServiceLifecycle

/// A listening HTTP server of this process.
public final class RunningServer: Sendable {
    /// The time that requests in flight get to end before their connections are closed.
    private static let grace = Duration.seconds(2)

    /// Callers that the system's queue can hold. A caller that it rejects retries only after a second.
    private static let backlog = 1024

    public let port: Int
    private let connections: NIOLoopBound<AcceptedConnections>
    private let loop: any EventLoop
    private let group: ServiceGroup
    private let serving: Task<Void, any Error>

    private init(_ listener: Listener, group: ServiceGroup, serving: Task<Void, any Error>) {
        port = listener.port
        connections = listener.connections
        loop = listener.loop
        self.group = group
        self.serving = serving
    }

    /// Starts a server.
    /// - Parameters:
    ///   - port: 0 to let the system choose.
    ///   - tls: serves https, with HTTP/2 and HTTP/1.1, instead of http.
    ///   - services: run alongside the server and end with it.
    /// - Returns: the server, once the port is open.
    package static func start<Responder: HTTPResponder>(
        _ responder: Responder, host: String, port: Int, name: String? = nil, limits: ConnectionLimits,
        tls: TLSConfiguration? = nil, services: [any Service] = []
    ) async throws(ListenFailure) -> RunningServer
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        let limits = OpenFiles.limit.map { limits.fitting(filesMax: $0) } ?? limits
        let register = ConnectionRegister(limits)
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [GuardInstaller(limits, register)],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limits.headerFieldMax, maxHeaderListSize: limits.headerMax,
                maxHeaderFieldCount: 100))
        let server: HTTPServerBuilder
        do {
            server =
                try tls.map {
                    try .http2Upgrade(tlsConfiguration: $0, configuration: .init(streamConfiguration: http))
                } ?? .http1(configuration: http)
        } catch {
            throw ListenFailure(host: host, port: port, error)
        }
        // Errors of single connections are not logged, because they concern only their callers.
        var logger = Logger(label: "newswire.http")
        logger.logLevel = .critical
        let (listeners, opened) = AsyncStream<Listener>.makeStream()
        let application = Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: name, backlog: Self.backlog),
            onServerRunning: { channel in
                let listener = try? await Listener(channel, limits, register, isSecure: tls != nil)
                if let listener { opened.yield(listener) }
            }, logger: logger)
        // Only a graceful shutdown ends the group, whichever service ends first. Cancellation would drop connections
        // during their set-up, and SwiftNIO then traps (see `AcceptedConnections`).
        let group = ServiceGroup(
            configuration: .init(
                services: (services + [application]).map {
                    .init(
                        service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup)
                }, logger: logger))
        let serving = Task {
            defer { opened.finish() }
            try await group.run()
        }
        for await listener in listeners { return RunningServer(listener, group: group, serving: serving) }
        do { try await serving.value } catch { throw ListenFailure(host: host, port: port, error) }
        throw ListenFailure(host: host, port: port, cause: .other("it closed at once"))
    }

    /// Closes the port, then each connection as its requests end, and after two seconds all remaining ones.
    /// - Returns: after all are closed.
    public func stop() async {
        await group.triggerGracefulShutdown()
        let closing = loop.scheduleTask(in: TimeAmount(Self.grace)) { [connections] in connections.value.closeAll() }
        _ = await serving.result
        closing.cancel()
    }
}

/// A server's open port.
private struct Listener {
    let port: Int
    let loop: any EventLoop
    let connections: NIOLoopBound<AcceptedConnections>

    init(
        _ channel: any Channel, _ limits: ConnectionLimits, _ register: ConnectionRegister, isSecure: Bool
    ) async throws {
        loop = channel.eventLoop
        port = channel.localAddress?.port ?? 0
        connections = try await loop.submit {
            let connections = AcceptedConnections(limits, register, areSecure: isSecure)
            try channel.pipeline.syncOperations.addHandler(connections, position: .first)
            return NIOLoopBound(connections, eventLoop: channel.eventLoop)
        }.get()
    }
}
