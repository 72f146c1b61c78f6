import ArgumentParser
import ByteText
import Foundation
import HTTPServing
import HubEmulator
import HubServer
import NewswireSettings
import NotificationHub

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Runs a notification hub on this machine, to try things out.",
        discussion: """
            It follows the protocol and the rules of a real hub, so newswire and other clients can send to it. \
            Nothing leaves this machine. It prints the connection string to use; its page at / has four phones to \
            subscribe and a form to send them news, and GET /_emulator/messages lists what it received.

            Example, in two terminals:
              newswire hub --name breaking-news
              NEWSWIRE_HUB_CONNECTION_STRING='Endpoint=…' \\
                newswire run --config newswire.yaml

            Clients can make more hubs with the namespace's connection string; page and inspection show the first \
            one. Registration jobs read and write files in a storage container that the hub itself serves.

            With --tls it uses https, which many client libraries require; --write-certificate saves the \
            certificate that clients then have to trust (hub.trustRoots, or device --trust-roots).

            Ctrl-C ends it. Exit code 1 if it cannot listen or cannot use the store or the certificate.
            """)

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "host:port"))
    var listen = "127.0.0.1:8090"
    @Option(help: "The hub's name.")
    var name = "breaking-news"
    @Option(help: ArgumentHelp("Use the rule and key of this connection string instead of new ones.", valueName: "s"))
    var connectionString: String?

    @Option(
        help: ArgumentHelp(
            "Keep all hubs in this file across restarts: keys, registrations, messages, and the last 10,000 deliveries "
                + "of each for devices that were away. Jobs, their files and feedback are not kept.",
            valueName: "file"),
        completion: .file())
    var store: String?
    @Option(
        help: ArgumentHelp("Start with this many simulated devices, and print what they cost.", valueName: "n"))
    var devices = 0
    @Flag(help: "Use https, with a new certificate unless --certificate names one.")
    var tls = false
    @Option(
        help: ArgumentHelp("A certificate chain in PEM, with --private-key.", valueName: "file"), completion: .file())
    var certificate: String?
    @Option(help: ArgumentHelp("The certificate's key in PEM.", valueName: "file"), completion: .file())
    var privateKey: String?
    @Option(help: ArgumentHelp("Save the new certificate to this file.", valueName: "file"), completion: .file())
    var writeCertificate: String?
    @Flag(
        help: """
            Let callers from other machines use /_emulator and the page, by this machine's address or a name without \
            a dot; for containers.
            """)
    var remoteInspection = false

    @OptionGroup var behaviour: HubBehaviour

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together.")
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
                host: address.host, port: address.port, hubName: try HubName(name),
                connectionString: try connectionString.map { try ConnectionString(parsing: $0) })
            guard !EmulatedNamespace.reserves(settings.hubName) else {
                throw ValidationError(
                    "--name must not begin with '_': such names are the emulator's own. Choose another, such as "
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
        if devices > 0 { Terminal.standardError.line("registering \(counted(devices, "device"))") }
        do {
            let server = try HubServer(try settings())
            if let writeCertificate, let pem = server.certificatePEM {
                try Data(pem.utf8).write(to: URL(fileURLWithPath: writeCertificate), options: .atomic)
            }
            if let devices = server.devices { try Terminal.standardOutput.line("\(devices)\n") }
            let (signals, signalled) = AsyncStream<Void>.makeStream()
            let handlers = StopSignals { signalled.finish() }
            let hub = try await server.start()
            do {
                try Terminal.standardOutput.line(Self.greeting(hub))
            } catch {
                await hub.stop()
                throw error
            }
            for await _ in signals {}
            await hub.stop()
            withExtendedLifetime(handlers) {}
        } catch let problem as HubServerProblem {
            Terminal.standardError.line("error: \(problem)")
            throw ExitCode.failure
        }
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
