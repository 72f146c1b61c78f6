import ArgumentParser
import ByteText
import KafkaIO
import KafkaModel
package import NewsModel
import NewswireSettings
import PublishEngine

struct ResultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results",
        abstract: "Reads the results topic: the outcome of every delivery.",
        discussion: """
            Outcomes:
              accepted      the hub took the notification
              rejected      the hub refused this notification
              exhausted     all attempts failed; the hub certainly did not take it
              unknown       the hub may have taken it; it is not sent again
              expired       too old, or past its own expiresAt
              undecodable   not a news event
              unroutable    no known category
              duplicate     an event with this id and version was sent before
              superseded    a newer version of the story was already waiting
              withheld      the event says that it is not to be published
              canceled      recalled before it was sent

            Examples:
              newswire results --config newswire.yaml
              newswire results --config newswire.yaml --outcome rejected
              newswire results --config newswire.yaml --follow --json | jq .latencyMs.total

            Without --follow it stops where the topic ended when the command started. Exit code 1 if the topic \
            cannot be read.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Wait for further results until Ctrl-C.")
    var follow = false
    @OptionGroup var outcomeOption: OutcomeOption
    @Flag(help: "Print one JSON object per line, for programs.")
    var json = false
    @Option(help: ArgumentHelp("Stop after this many results.", valueName: "n"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let wanted = outcomeOption.outcomes
        let stop = StopFlag()
        let signals = StopSignals { stop.raise() }
        defer { withExtendedLifetime(signals) {} }
        let output = Terminal.standardOutput
        let table = ResultTable(width: output.isInteractive ? output.width : 200, hasColours: output.hasColours)
        if !json { output.line(table.title) }
        var shown = 0
        var unreadable = 0
        do {
            let reader = try TopicReader(
                settings: settings.kafkaSettings, topic: settings.engine.resultsTopic, from: .beginning, follow: follow)
            while !stop.isRaised, shown < limit ?? .max, follow || !reader.isAtEnd {
                for read in try reader.next(timeout: .milliseconds(500)) where shown < limit ?? .max {
                    guard let value = read.record.value, let result = try? ResultRecord(decoding: value) else {
                        unreadable += 1
                        continue
                    }
                    guard wanted.isEmpty || wanted.contains(result.outcome) else { continue }
                    shown += 1
                    output.line(json ? String(decoding: value, as: UTF8.self) : table.line(result))
                }
            }
        } catch {
            Terminal.standardError.line("error: \(error)")
            throw ExitCode.failure
        }
        if unreadable > 0 {
            Terminal.standardError.line(
                "skipped \(counted(unreadable, "record")) of \(settings.engine.resultsTopic) that no result can be read from"
            )
        }
    }
}

/// Results as rows that are printed one by one, so their widths are fixed beforehand.
package struct ResultTable: Sendable {
    private let hasColours: Bool
    private let widths: [Int]

    private static let columns: [TextTable.Column] = [
        .init(title: "settled"), .init(title: "outcome"), .init(title: "event"), .init(title: "platform"),
        .init(title: "categories"), .init(title: "status", isRightAligned: true),
        .init(title: "total ms", isRightAligned: true), .init(title: "remarks"),
    ]

    /// - Parameter width: in characters; the event's id and the remarks share the space that the others leave.
    package init(width: Int, hasColours: Bool) {
        self.hasColours = hasColours
        let fixed = [19, 11, 0, 12, 18, 6, 8]
        let left = max(width - fixed.reduce(0, +) - 2 * fixed.count, 40)
        let id = min(max(left / 2, 16), 40)
        widths = [19, 11, id, 12, 18, 6, 8, max(left - id, 12)]
    }

    package var title: String {
        TextTable(Self.columns, hasColours: hasColours).line(
            Self.columns.map { .init($0.title, colour: .bold) }, widths)
    }

    package func line(_ result: ResultRecord) -> String {
        let time = result.settledAt.description.prefix(19).map { $0 == "T" ? " " : $0 }
        let total = result.latency.total.map { String($0.nanoseconds / 1_000_000) } ?? "-"
        return TextTable(Self.columns, hasColours: hasColours).line(
            [
                .init(String(time)), .init(result.outcome.rawValue, colour: result.outcome.colour),
                .init(result.eventID ?? "-"), .init(result.platform.rawValue),
                .init(result.categories.joined(separator: ",")), .init(result.httpStatus.map(String.init) ?? "-"),
                .init(total), .init(Self.remarks(result)),
            ], widths)
    }

    private static func remarks(_ result: ResultRecord) -> String {
        var remarks = result.error.map { ["\($0.code): \($0.detail)"] } ?? []
        if result.afterRecall { remarks.append("recalled while it was on its way") }
        if !result.cut.isEmpty { remarks.append("cut: \(result.cut.joined(separator: ", "))") }
        if !result.leftOut.isEmpty { remarks.append("left out: \(result.leftOut.joined(separator: ", "))") }
        return remarks.joined(separator: "; ")
    }
}

extension Outcome {
    var colour: TerminalColour {
        switch self {
        case .accepted: .green
        case .rejected, .exhausted, .undecodable, .unroutable: .red
        case .unknown, .expired: .yellow
        case .duplicate, .superseded, .withheld, .canceled: .grey
        }
    }
}
