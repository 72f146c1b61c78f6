import ArgumentParser
import KafkaIO
import KafkaModel
import NewsModel

struct ResultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results",
        abstract: "Reads the results topic: what became of every event.",
        discussion: """
            Outcomes: accepted (the hub took it), rejected, exhausted, unknown, expired, undecodable, \
            unroutable, duplicate, superseded, withheld, canceled.

            Examples:
              newswire results --config newswire.yaml
              newswire results --config newswire.yaml --outcome rejected
              newswire results --config newswire.yaml --follow --json | jq .latencyMs.total

            Without --follow it ends at what was the end of the topic when it began.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Wait for more; end with Ctrl-C.")
    var follow = false
    @Option(help: ArgumentHelp("Only this outcome; repeat for several.", valueName: "outcome"))
    var outcome: [String] = []
    @Flag(help: "One JSON object a line, for programs.")
    var json = false
    @Option(help: ArgumentHelp("End after this many.", valueName: "n"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        for name in outcome where Outcome(rawValue: name) == nil {
            let known = Outcome.allCases.map(\.rawValue)
            let near = SettingsSpelling.nearest(to: name, among: known).map { " Did you mean \($0)?" } ?? ""
            throw ValidationError("'\(name)' is no outcome.\(near) Known: \(known.joined(separator: ", ")).")
        }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let wanted = Set(outcome.compactMap(Outcome.init(rawValue:)))
        let stop = StopSign()
        let signals = SignalWatch { stop.raise() }
        defer { withExtendedLifetime(signals) {} }
        let output = Terminal.standardOutput
        let table = ResultTable(width: output.isInteractive ? output.width : 200, hasColours: output.hasColours)
        if !json { output.line(table.title) }
        var shown = 0
        var unreadable = 0
        do {
            let reader = try TopicReader(
                settings: settings.kafkaSettings, topic: settings.resultsTopic, from: .beginning, follow: follow)
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
                "\(unreadable) records on \(settings.resultsTopic) are no results and were passed over")
        }
    }
}

/// Results as rows that come one by one, hence with widths chosen beforehand.
struct ResultTable: Sendable {
    private let hasColours: Bool
    private let widths: [Int]

    private static let columns: [TextTable.Column] = [
        .init(title: "settled"), .init(title: "outcome"), .init(title: "event"), .init(title: "platform"),
        .init(title: "categories"), .init(title: "status", isRightAligned: true),
        .init(title: "total ms", isRightAligned: true), .init(title: "remarks"),
    ]

    /// - Parameter width: in characters; what is left over goes to the event's id and the remarks.
    init(width: Int, hasColours: Bool) {
        self.hasColours = hasColours
        let fixed = [19, 11, 0, 12, 18, 6, 8]
        let left = max(width - fixed.reduce(0, +) - 2 * fixed.count, 40)
        let id = min(max(left / 2, 16), 40)
        widths = [19, 11, id, 12, 18, 6, 8, max(left - id, 12)]
    }

    var title: String {
        TextTable(Self.columns, hasColours: hasColours).line(
            Self.columns.map { .init($0.title, colour: .bold) }, widths)
    }

    func line(_ result: ResultRecord) -> String {
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
