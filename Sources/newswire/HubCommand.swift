import ArgumentParser
import HubServer
import NotificationHub

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "A notification hub on this machine, for trying things out.",
        discussion: """
            It speaks the hub's protocol and keeps its rules, so newswire and other clients can send to it \
            as to the real one. Nothing leaves this machine. It prints the connection string to use; GET \
            /_emulator/messages lists what it received.

            Example, in two terminals:
              newswire hub --name breaking-news
              NEWSWIRE_HUB_CONNECTION_STRING='…' newswire run --config newswire.yaml
            """)

    @Option(help: ArgumentHelp("Where to listen.", valueName: "host:port"))
    var listen = "127.0.0.1:8090"
    @Option(help: "The hub's name.")
    var name = "breaking-news"
    @Option(help: ArgumentHelp("Use this rule and key instead of new ones.", valueName: "s"))
    var connectionString: String?

    func validate() throws { _ = try settings() }

    private func settings() throws -> HubServerSettings {
        guard let address = NetworkAddress(listen) else {
            throw ValidationError("--listen must be host:port, e.g. 127.0.0.1:8090.")
        }
        do {
            return HubServerSettings(
                host: address.host, port: address.port, hubName: try HubName(name),
                connectionString: try connectionString.map { try ConnectionString(parsing: $0) })
        } catch {
            throw ValidationError("\(error)")
        }
    }

    func run() async throws {
        LogLineHandler.install(level: "info", format: "auto")
        do {
            try await HubServer(try settings()).run { address in
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
