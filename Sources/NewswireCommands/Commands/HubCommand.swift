import ArgumentParser
import Foundation
import HubServer
import NotificationHub

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "A notification hub on this machine, for trying things out.",
        discussion: """
            It speaks the hub's protocol and keeps its rules, so newswire and other clients can send to it \
            as to the real one. Nothing leaves this machine. It prints the connection string to use; its page at / \
            is a reader's phone, and GET /_emulator/messages lists what it received.

            Example, in two terminals:
              newswire hub --name breaking-news
              NEWSWIRE_HUB_CONNECTION_STRING='…' newswire run --config newswire.yaml

            With --tls it speaks https, which many client libraries insist on; --write-certificate leaves the \
            certificate that clients must be told to trust (hub.trustRoots of newswire, --trust-roots of device).
            """)

    @Option(help: ArgumentHelp("Where to listen.", valueName: "host:port"))
    var listen = "127.0.0.1:8090"
    @Option(help: "The hub's name.")
    var name = "breaking-news"
    @Option(help: ArgumentHelp("Use this rule and key instead of new ones.", valueName: "s"))
    var connectionString: String?

    @Option(help: ArgumentHelp("Keep registrations and messages in this file, over restarts.", valueName: "file"))
    var store: String?
    @Option(
        help: ArgumentHelp("Begin with this many simulated devices, and say what they cost.", valueName: "n"))
    var devices = 0
    @Flag(help: "Speak https, with a certificate made at the start unless --certificate names one.")
    var tls = false
    @Option(help: ArgumentHelp("A certificate chain in PEM, with --private-key.", valueName: "file"))
    var certificate: String?
    @Option(help: ArgumentHelp("The certificate's key in PEM.", valueName: "file"))
    var privateKey: String?
    @Option(help: ArgumentHelp("Write the certificate that was made to this file.", valueName: "file"))
    var writeCertificate: String?

    func validate() throws {
        guard (certificate == nil) == (privateKey == nil) else {
            throw ValidationError("--certificate and --private-key belong together.")
        }
        guard 0...SimulatedDevices.countMax ~= devices else {
            throw ValidationError("--devices must be 0 to \(SimulatedDevices.countMax).")
        }
        guard devices == 0 || store == nil else { throw ValidationError("--devices are not for a --store.") }
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
            settings.storePath = store
            settings.devices = devices
            if let certificate, let privateKey {
                settings.security = .files(certificate: certificate, key: privateKey)
            } else if tls {
                settings.security = .selfSigned
            }
            return settings
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        LogLineHandler.install(level: "info", format: "auto")
        if devices > 0 { Terminal.standardError.line("registering \(devices) devices") }
        do {
            let server = try HubServer(try settings())
            if let writeCertificate, let pem = server.certificatePEM {
                try Data(pem.utf8).write(to: URL(fileURLWithPath: writeCertificate), options: .atomic)
            }
            if let devices = server.devices { Terminal.standardOutput.line("\(devices)\n") }
            try await server.run { address in
                Terminal.standardOutput.line(Self.greeting(address))
            }
        } catch let problem as HubServerProblem {
            Terminal.standardError.line("error: \(problem)")
            throw ExitCode.failure
        }
    }

    /// What a client needs. The keys are this hub's own, made for trying out, and of use nowhere else.
    static func greeting(_ address: HubAddress) -> String {
        var lines = [
            "hub \(address.hubName) at \(address.connectionString.endpoint)", "", address.connectionString.revealed,
        ]
        if let listen = address.listenConnectionString {
            lines += ["", "for apps, which may only listen:", listen.revealed]
        }
        return lines.joined(separator: "\n")
    }
}
