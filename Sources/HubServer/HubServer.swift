import HubEmulator
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import NotificationHub
import ServiceLifecycle

/// The emulated hub over HTTP.
public struct HubServer: Sendable {
    private let settings: HubServerSettings
    private let hub: ServedHub
    private let tls: TLSConfiguration?
    /// The self-signed certificate in PEM, for clients that are to trust it; `nil` without one.
    public let certificatePEM: String?
    /// The devices that the settings ask for, and what they cost; `nil` when they ask for none.
    public let devices: SimulatedDevices?

    /// Makes the hub, with what the store remembers; nothing listens yet.
    public init(_ settings: HubServerSettings) throws(HubServerProblem) {
        self.settings = settings
        var random = SystemRandomNumberGenerator()
        var hubSettings = HubSettings(name: settings.hubName, rules: [], seed: random.next())
        hubSettings.recordsChanges = settings.storePath != nil
        settings.configure(&hubSettings)
        var store: HubStore?
        if let path = settings.storePath { store = try HubStore(path: path, messagesKept: hubSettings.messagesKept) }
        if hubSettings.rules.isEmpty {
            hubSettings.rules = HubKeys.rules(for: settings.connectionString, kept: try store?.rules() ?? [])
        }
        let problems = hubSettings.problems
        guard problems.isEmpty else { throw .settings(problems) }
        try store?.save(hubSettings.rules)
        var hub = EmulatedHub(settings: hubSettings)
        try store?.restore(into: &hub)
        devices = settings.devices > 0 ? SimulatedDevices(settings.devices, in: &hub, ServerClock()) : nil
        self.hub = ServedHub(hub, store: store)
        (tls, certificatePEM) = try Self.security(settings, now: self.hub.now)
    }

    private static func security(
        _ settings: HubServerSettings, now: HubTime
    ) throws(HubServerProblem) -> (TLSConfiguration?, pem: String?) {
        do {
            switch settings.security {
            case .none: return (nil, nil)
            case .selfSigned:
                let certificate = try SelfSignedCertificate(host: settings.host, now: now)
                return (try certificate.configuration, certificate.pem)
            case .files(let certificate, let key):
                let chain = try NIOSSLCertificate.fromPEMFile(certificate)
                let configuration = TLSConfiguration.makeServerConfiguration(
                    certificateChain: chain.map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
                return (configuration, nil)
            }
        } catch {
            throw .certificate("\(error)")
        }
    }

    /// Serves until `stop()` is called on what this returns.
    /// - Returns: once the port is open.
    public func start() async throws(HubServerProblem) -> RunningHub {
        let (ports, opened) = AsyncStream<Int>.makeStream()
        let application = try application { opened.yield($0) }
        // Ended by a graceful shutdown, never by cancellation: that would trap on a connection that is just being made.
        var configuration = ServiceGroupConfiguration(services: [application], logger: application.logger)
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        let group = ServiceGroup(configuration: configuration)
        let serving = Task {
            defer { opened.finish() }
            try await group.run()
        }
        for await port in ports { return RunningHub(settings, hub, port: port, group: group, serving: serving) }
        let reason: String
        do {
            try await serving.value
            reason = "it closed at once"
        } catch {
            reason = "\(error)"
        }
        throw .listen(host: settings.host, port: settings.port, reason: reason)
    }

    /// Serves until the process is told to end (SIGTERM or SIGINT).
    /// - Parameter onReady: called once, when the port is open; what it gets ends with the server.
    public func run(onReady: @escaping @Sendable (HubAddress) -> Void) async throws(HubServerProblem) {
        let (settings, hub) = (settings, hub)
        let application = try application { port in
            onReady(HubAddress(settings, rules: hub.settings.rules, port: port))
        }
        do { try await application.runService() } catch {
            throw .listen(host: settings.host, port: settings.port, reason: "\(error)")
        }
    }

    private func application(
        onOpen: @escaping @Sendable (Int) -> Void
    ) throws(HubServerProblem) -> Application<HubResponder> {
        // Failures of single connections are their clients' business.
        var logger = Logger(label: "newswire.hub")
        logger.logLevel = .critical
        let inspection = Inspection(
            hub: hub, allowsRemote: settings.allowsRemoteInspection, publish: settings.publish)
        let server: HTTPServerBuilder
        do { server = try tls.map { try .tls(tlsConfiguration: $0) } ?? .http1() } catch {
            throw .certificate("\(error)")
        }
        return Application(
            responder: HubResponder(hub: hub, inspection: inspection, isSecure: settings.security != .none),
            server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port), serverName: "newswire-hub"),
            services: [DeliveryLoop(hub: hub)],
            onServerRunning: { channel in onOpen(channel.localAddress?.port ?? 0) },
            logger: logger)
    }
}
