import ArgumentParser
import ByteText
import Foundation
import HTTPServing
import HubEmulator
import HubServer
import NewsModel
import NewswireSettings
import NotificationHub

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Runs a notification hub on this machine, to try things out.",
        discussion: """
            It follows the protocol and the rules of a real hub, so newswire and other clients can send to it. Nothing \
            leaves this machine. It prints the connection string to use; its page at / has four phones to subscribe \
            and a form to send them news, and GET /_emulator/messages lists what it received.

            Example, in two terminals:
              newswire hub --hub breaking-news
              NEWSWIRE_HUB_CONNECTION_STRING='Endpoint=…' \\
                newswire run

            Clients can make more hubs with the namespace's connection string; page and inspection show the first one. \
            Registration jobs read and write files in a storage container that the hub itself serves.

            Many client libraries require https (--tls). They have to trust the certificate that --write-certificate \
            saves (hub.trustRoots, or device --trust-roots).

            Ctrl-C ends it. Exit code 1 if it cannot listen or cannot use the store or the certificate.
            """)

    @Option(help: .init("The address to listen on.", valueName: "host:port")) var listen = "127.0.0.1:8090"
    @Option(help: .init("The hub's name. (default: \(Self.standardName))", valueName: "name")) var hub: String?
    @Option(help: .hidden) var name: String?
    @Option(help: .init("Use the rule and key of this connection string instead of new ones.", valueName: "s"))
    var connectionString: String?

    @Option(
        help: ArgumentHelp(
            "Keep all hubs in this file across restarts: keys, registrations, messages, and the last 10,000 deliveries "
                + "of each for devices that were away. Jobs, their files and feedback are not kept.",
            valueName: "file"),
        completion: .file())
    var store: String?
    @Option(help: .init("Start with this many simulated devices, and print what they cost.", valueName: "n"))
    var devices = 0
    @Flag(help: "Use https, with a new certificate unless --certificate names one.") var tls = false
    @Option(help: .init("A certificate chain in PEM, with --private-key.", valueName: "file"), completion: .file())
    var certificate: String?
    @Option(help: .init("The certificate's key in PEM.", valueName: "file"), completion: .file())
    var privateKey: String?
    @Option(help: .init("Save the new certificate to this file.", valueName: "file"), completion: .file())
    var writeCertificate: String?
    @Flag(
        help: """
            Let callers from other machines use /_emulator and the page, by this machine's address or a name without \
            a dot; for containers.
            """)
    var remoteInspection = false

    @OptionGroup var behaviour: HubBehaviour

    private static let standardName = "breaking-news"

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together.")
        }
        if writeCertificate != nil, !tls, certificate == nil {
            throw ValidationError("--write-certificate needs --tls: without it there is no certificate.")
        }
        guard 0...SimulatedDevices.countMax ~= devices else {
            throw ValidationError("--devices must be 0 to \(SimulatedDevices.countMax).")
        }
        guard devices == 0 || store == nil else { throw ValidationError("--devices and --store exclude each other.") }
        _ = try settings()
    }

    private func settings() throws -> HubServerSettings {
        guard let address = NetworkAddress(listen) else {
            throw ValidationError("--listen must be host:port, e.g. 127.0.0.1:8090.")
        }
        do {
            var settings = HubServerSettings(
                host: address.host, port: address.port, hubName: try HubName(hub ?? name ?? Self.standardName),
                connectionString: try connectionString.map { try ConnectionString(parsing: $0) })
            guard !EmulatedNamespace.reserves(settings.hubName) else {
                throw ValidationError(
                    "--hub must not begin with '_': such names are the emulator's own. Choose another, such as "
                        + "breaking-news.")
            }
            settings.storePath = store
            settings.report = { Terminal.standardError.line($0) }
            settings.allowsRemoteInspection = remoteInspection
            settings.configure = try behaviour.configuration()
            settings.devices = devices
            if let certificate, let privateKey {
                settings.security = .files(certificate: certificate, key: privateKey)
            } else if tls {
                settings.security = .selfSigned
            }
            return settings
        } catch let error as ValidationError {
            throw error
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        Terminal.becomeService()
        LogLineHandler.install(Settings.Logging())
        OpenFiles.raiseLimit()
        if devices > 0 { notice("registering \(counted(devices, "device"))") }
        let server = try HubServer(try settings())
        if let writeCertificate, let pem = server.certificatePEM {
            try Data(pem.utf8).write(to: URL(fileURLWithPath: writeCertificate), options: .atomic)
        }
        if let devices = server.devices { try Terminal.standardOutput.line("\(devices)\n") }
        let (signals, signalled) = AsyncStream<Void>.makeStream()
        Signals.onStop { signalled.finish() }
        let hub = try await server.start()
        do {
            try Terminal.standardOutput.line(Self.greeting(hub))
        } catch {
            await hub.stop()
            throw error
        }
        for await _ in signals {}
        await hub.stop()
    }

    /// The connection strings for clients. Their keys belong to this hub and are useless elsewhere.
    private static func greeting(_ hub: RunningHub) -> String {
        var lines = [
            "hub \(hub.hubName) at \(hub.connectionString.endpoint)", "", hub.connectionString.revealed,
        ]
        if let listen = hub.listenConnectionString {
            lines += ["", "for apps, with the Listen right only:", listen.revealed]
        }
        if let namespace = hub.namespaceConnectionString {
            lines += ["", "for the whole namespace, to make and delete hubs:", namespace.revealed]
        }
        lines += ["", "the storage container for the files of registration jobs:", hub.jobsContainerURL]
        return lines.joined(separator: "\n")
    }
}

/// The options of `newswire hub` for behaviour in which real hubs differ from each other.
struct HubBehaviour: ParsableArguments {
    private static let sendsMax = 1_000_000
    private static let lagMax = Duration.seconds(600)
    private static let telemetryMax = Duration.seconds(3600)
    private static let skewMax = Duration.seconds(3600)

    @Option(
        help: ArgumentHelp(
            "The pricing tier: free, basic or standard. Only standard has telemetry, scheduled sends and jobs; free "
                + "has no batches and at most 500 devices.", valueName: "tier"),
        completion: .list(Tier.allCases.map(\.rawValue)))
    var tier = Tier.standard.rawValue
    @Option(
        help: ArgumentHelp(
            "Sends accepted a minute, 1 to \(sendsMax); more are answered with 429. Users report 100, 900 and 11500 for "
                + "the three tiers. (default: no limit)", valueName: "n"))
    var sendsPerMinute: Int?
    @Option(
        help: .init(
            "The time until a change of an installation takes effect, 0s to 10m; the service needs seconds.",
            valueName: "duration"))
    var installationLag = "0s"
    @Option(help: .init("How long a token is accepted after its expiry, 0s to 1h.", valueName: "duration"))
    var clockSkew = "0s"
    @Option(
        help: .init(
            "The form of answers: 2023 as the service is today, 2018 as older clients knew it.", valueName: "year"),
        completion: .list(APIEra.allCases.map(\.rawValue)))
    var apiEra = APIEra.year2023.rawValue

    @Flag(
        help: ArgumentHelp(
            "Refuse user ids and the tags username:…, user_… and staff from clients with the Listen right alone, as your "
                + "back end should; the service lets them pass."))
    var protectTags = false
    @Option(
        help: .init(
            "How long telemetry of a send is unknown (404), 0s to 1h; the service needs seconds.", valueName: "duration"
        ))
    var telemetryLag = "0s"
    @Option(help: .init("How long the counts of telemetry grow after that, 0s to 1h.", valueName: "duration"))
    var telemetryTime = "0s"
    @Option(help: .init("The share of sends whose telemetry stays unknown for ever, e.g. 1%.", valueName: "percent"))
    var telemetryMissing = "0%"

    func validate() throws { _ = try configuration() }

    func configuration() throws -> @Sendable (inout HubSettings) -> Void {
        guard let tier = Tier(rawValue: tier) else {
            throw ValidationError(tier, isNot: "a tier", known: Tier.allCases.map(\.rawValue))
        }
        guard let era = APIEra(rawValue: apiEra) else {
            throw ValidationError(apiEra, isNot: "a form of answers", known: APIEra.allCases.map(\.rawValue))
        }
        if let sendsPerMinute, !(1...Self.sendsMax).contains(sendsPerMinute) {
            throw ValidationError("--sends-per-minute must be 1 to \(Self.sendsMax); leave it out for no limit.")
        }
        let lag = try Self.duration("--installation-lag", installationLag, max: Self.lagMax, example: "2s")
        let skew = try Self.duration("--clock-skew", clockSkew, max: Self.skewMax)
        let telemetryLag = try Self.duration("--telemetry-lag", telemetryLag, max: Self.telemetryMax, example: "10s")
        let telemetryTime = try Self.duration("--telemetry-time", telemetryTime, max: Self.telemetryMax)
        guard let missing = SettingsValue.percent(telemetryMissing), (0...100).contains(missing) else {
            throw ValidationError("--telemetry-missing must be 0% to 100%.")
        }
        return { [sendsPerMinute, protectTags] settings in
            settings.protectsTags = protectTags
            settings.telemetry.hiddenMilliseconds = telemetryLag.nanoseconds / 1_000_000
            settings.telemetry.processingMilliseconds = telemetryTime.nanoseconds / 1_000_000
            settings.telemetry.missingMillionths = UInt64(missing) * 10_000
            (settings.tier, settings.era, settings.sendsPerMinute) = (tier, era, sendsPerMinute)
            settings.installationLagMilliseconds = lag.nanoseconds / 1_000_000
            settings.clockSkewSeconds = skew.components.seconds + (skew.components.attoseconds > 0 ? 1 : 0)
        }
    }

    private static func duration(
        _ option: String, _ text: String, max: Duration, example: String = "30s"
    ) throws -> Duration {
        guard let duration = SettingsValue.duration(text), (.zero...max).contains(duration) else {
            throw ValidationError("\(option) must be 0s to \(SettingsValue.text(max)), e.g. \(example).")
        }
        return duration
    }
}
