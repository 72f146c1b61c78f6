import ArgumentParser
import Foundation
import KafkaModel
import NewsModel
import NewswireSettings
import NotificationHub
import PublishEngine
import PublisherService

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends one notification now, without Kafka.",
        discussion: """
            Use it for a test message, or for urgent news while Kafka is down. No result is written.

            Examples:
              newswire send --config newswire.yaml --category World \\
                --message "A test" --dry-run
              newswire send --config newswire.yaml --category Sports \\
                --message "Final score 2:1" --platform apple

            --dry-run prints the exact requests, with the signature masked, and sends nothing.

            Exit code 1 unless the hub accepted every request.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: "The category whose readers receive it.")
    var category: String
    @Option(help: "The headline; payload.message turns it into the notification's text.")
    var message: String
    @Option(
        help: ArgumentHelp(
            "Only this platform; repeat for several. By default those of the configuration.", valueName: "platform"),
        completion: .list(Platform.allCases.map(\.rawValue)))
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
                throw ValidationError(name, isNot: "a platform", known: Platform.allCases.map(\.rawValue))
            }
            return platform
        }
    }

    func run() async throws {
        let settings = try configurationOption.settings()
        let requests = try requests(settings)
        let sender = try SingleSend(settings)
        if dryRun {
            try Terminal.standardOutput.line(requests.map(sender.text(of:)).joined(separator: "\n\n---\n\n"))
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
        try Terminal.standardOutput.write(table.text)
        if !isAccepted { throw ExitCode.failure }
    }

    private func requests(_ settings: Settings) throws -> [SendRequest] {
        let table = try settings.categoryTable()
        // Whatever the policy for unroutable news, an unknown category is a typing mistake here.
        let router = try Router(table: table, unroutable: .deadLetter)
        var event = NewsEvent(id: "send-\(UUID().uuidString.lowercased())", headline: message)
        event.categories = [category]
        guard case .tagged(let routing) = router.route(event) else {
            throw ExitCode.wrongUsage(category, isNot: "a category", known: table.categories.map(\.name))
        }
        let builder = try PayloadBuilder(settings.payload)
        let (chosen, now) = (try platforms(), ServiceClock().now.wall)
        return (chosen.isEmpty ? settings.payload.platforms : chosen).map {
            builder.build(event, routing: routing, platform: $0, lane: LaneID(0), since: now, expiresAt: nil)
        }
    }
}
