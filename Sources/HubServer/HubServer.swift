import HTTPServing
import HubEmulator
import NIOSSL

/// The emulated hub over HTTP.
public struct HubServer: Sendable {
    private let settings: HubServerSettings
    private let hub: ServedHub
    private let tls: TLSConfiguration?
    /// The self-signed certificate in PEM, for clients that must trust it; `nil` without one.
    public let certificatePEM: String?
    /// The simulated devices in the settings and their measured cost; `nil` without any.
    public let devices: SimulatedDevices?

    /// Makes the hub and restores it from the store. Does not listen yet.
    public init(_ settings: HubServerSettings) throws(HubServerProblem) {
        self.settings = settings
        var random = SystemRandomNumberGenerator()
        var hubSettings = HubSettings(name: settings.hubName, rules: [], seed: random.next())
        hubSettings.recordsChanges = settings.storePath != nil
        settings.configure(&hubSettings)
        var store: HubStore?
        if let path = settings.storePath {
            store = try HubStore(
                path: path, hub: settings.hubName, messagesKept: hubSettings.messagesKept, report: settings.report)
        }
        let kept = try store?.description(of: settings.hubName)
        if hubSettings.rules.isEmpty {
            hubSettings.rules = HubKeys.rules(for: settings.connectionString, kept: kept?.rules ?? [])
            hubSettings.namespaceRules = HubKeys.namespaceRules(
                for: settings.connectionString, kept: try store?.description(of: nil)?.rules ?? [])
        }
        let problems = hubSettings.problems
        guard problems.isEmpty else { throw .settings(problems) }
        var hub = EmulatedHub(settings: hubSettings)
        devices = settings.devices > 0 ? SimulatedDevices(settings.devices, in: &hub, ServerClock()) : nil
        var description = kept ?? HubDescription(rules: [], at: ServerClock().now)
        description.rules = hubSettings.rules
        var hubs = EmulatedNamespace(first: hub, description, makeKey: HubKeys.newKey)
        try store?.restore(into: &hubs)
        if settings.subscribesPhones { hubs.withFirst { PagePhone.subscribeAll(to: &$0, at: ServerClock().now) } }
        self.hub = ServedHub(hubs, store: store)
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
                // Making a context finds a key that belongs to another certificate.
                _ = try NIOSSLContext(configuration: configuration)
                return (configuration, nil)
            }
        } catch {
            throw .certificate("\(error)")
        }
    }

    /// Serves until `stop()` is called on the returned hub.
    /// - Returns: the hub, once the port is open.
    public func start() async throws(HubServerProblem) -> RunningHub {
        let inspection = Inspection(
            hub: hub, rule: HubKeys.rule(of: settings, among: hub.settings),
            allowsRemote: settings.allowsRemoteInspection, dashboard: settings.dashboard, publish: settings.publish)
        do throws(ListenFailure) {
            let server = try await RunningServer.start(
                HubResponder(
                    hub: hub, inspection: inspection, uploads: Uploads(settings.uploads),
                    isSecure: settings.security != .none),
                host: settings.host, port: settings.port, name: "newswire-hub", limits: settings.limits, tls: tls,
                services: [DeliveryLoop(hub: hub)])
            return RunningHub(settings, hub, server)
        } catch {
            throw .listen(error)
        }
    }
}
