import ArgumentParser
import Foundation
import NewsModel
import NotificationHub
import PublishEngine

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends one notification now, past Kafka.",
        discussion: """
            For a test message to one's own phone, or when Kafka itself is the news. No result is written.

            Examples:
              newswire send --config newswire.yaml --category World \\
                --message "A test" --dry-run
              newswire send --config newswire.yaml --category Sports \\
                --message "Final score 2:1" --platform apple

            --dry-run prints the exact requests, with the signature masked, and sends nothing. Exit code 1 \
            unless the hub accepted every one.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: "The category whose readers get it.")
    var category: String
    @Option(help: "The headline; payload.message is built around it.")
    var message: String
    @Option(help: ArgumentHelp("Repeat for several; the configuration's when left out.", valueName: "platform"))
    var platform: [String] = []
    @Flag(help: "Print the requests instead of sending them.")
    var dryRun = false

    func validate() throws {
        _ = try platforms()
        guard !message.allSatisfy(\.isWhitespace) else { throw ValidationError("--message must not be empty.") }
    }

    private func platforms() throws -> [Platform] {
        try platform.map { name in
            guard let platform = Platform(rawValue: name) else {
                let known = Platform.allCases.map(\.rawValue)
                let near = SettingsSpelling.nearest(to: name, among: known).map { " Did you mean \($0)?" } ?? ""
                throw ValidationError("'\(name)' is no platform.\(near) Known: \(known.joined(separator: ", ")).")
            }
            return platform
        }
    }

    func run() async throws {
        let settings = try configurationOption.settings()
        let requests = try requests(settings)
        let sender = try SingleSend(settings)
        if dryRun {
            Terminal.standardOutput.line(requests.map(sender.text(of:)).joined(separator: "\n\n---\n\n"))
            return
        }
        var table = TextTable(
            [
                .init(title: "platform"), .init(title: "status"), .init(title: "notification"),
                .init(title: "outcome", widthMax: 300),
            ],
            hasColours: Terminal.standardOutput.hasColours)
        var isAccepted = true
        for request in requests {
            let verdict: SendVerdict
            do {
                verdict = SendVerdict(try await sender.send(request))
            } catch {
                Terminal.standardError.line("error: hub.trustRoots: \(error)")
                throw ExitCode.badConfiguration
            }
            isAccepted = isAccepted && verdict.isAccepted
            let outcome = verdict.remedy.isEmpty ? verdict.message : "\(verdict.message); \(verdict.remedy)"
            table.add([
                .init(request.format.rawValue), .init(verdict.status.map(String.init) ?? "-"),
                .init(verdict.notificationID ?? "-"), .init(outcome, colour: verdict.isAccepted ? .green : .red),
            ])
        }
        Terminal.standardOutput.write(table.text)
        if !isAccepted { throw ExitCode.failure }
    }

    private func requests(_ settings: Settings) throws -> [SendRequest] {
        let table = try settings.categoryTable()
        // Whatever the policy for unroutable news, a category that does not exist is a slip of the hand here.
        let router = try Router(table: table, unroutable: .deadLetter)
        var event = NewsEvent(id: "send-\(UUID().uuidString.lowercased())", headline: message)
        event.categories = [category]
        guard case .tagged(let routing) = router.route(event) else {
            throw ValidationError(
                "'\(category)' is no category. Known: \(table.categories.map(\.name).joined(separator: ", ")).")
        }
        let builder = try PayloadBuilder(settings.payload)
        let chosen = try platforms()
        return (chosen.isEmpty ? settings.payload.platforms : chosen).map {
            builder.build(event, routing: routing, platform: $0, lane: 0, since: .now, expiresAt: nil)
        }
    }
}
