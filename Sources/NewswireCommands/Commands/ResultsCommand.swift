import ArgumentParser
import ByteText
import KafkaIO
import NewsModel
import NewswireSettings
import PublishEngine

struct ResultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results",
        abstract: "Reads the results topic: the outcome of every delivery.",
        discussion: """
            Outcomes:
            \(Self.outcomes)

            Examples:
              newswire results --since 2h
              newswire results --outcome rejected --tail 20
              newswire results --event 7001
              newswire results --story quake-1
              newswire results --follow --json | jq .latencyMs.total
              newswire results --since 2h --with-telemetry

            Without --since and --tail it begins with the oldest result, or with --follow at the last \
            \(Self.tailOfFollow). It ends where the topic ended when the command started, or with --follow at Ctrl-C. \
            Filters come first: --tail 20 --outcome rejected shows the last 20 that were rejected. A record without an \
            id shows its place, topic/partition/offset, instead; an event without a story shows -.

            --with-telemetry adds what `newswire telemetry` has learned, seconds to minutes after a send.

            Exit code 1 if the topic cannot be read, or if a list is interrupted.
            """)

    /// The outcomes and their meanings, as lines of the help text.
    private static var outcomes: String {
        Outcome.allCases.map { outcome in
            let gap = String(repeating: " ", count: max(14 - outcome.rawValue.count, 1))
            return "  \(outcome.rawValue)\(gap)\(outcome.facts.meaning.replacing("`", with: ""))"
        }.joined(separator: "\n")
    }

    @OptionGroup var configurationOption: ConfigurationOption
    @Flag(help: "Wait for further results until Ctrl-C.") var follow = false
    @Option(
        help: .init("Only results since then: an RFC 3339 time, or how long ago, e.g. 10m.", valueName: "time"),
        transform: TimeArgument.init(parsing:))
    var since: TimeArgument?
    @Option(
        help: .init("Only results before then; the same formats.", valueName: "time"),
        transform: TimeArgument.init(parsing:))
    var until: TimeArgument?
    @Option(
        parsing: .unconditional,
        help: .init(
            "Begin with the last this many, in the order of their times; by default \(Self.tailOfFollow) with --follow, all without.",
            valueName: "n"))
    var tail: Int?
    @Option(help: .init("Only results of this event; repeat for several.", valueName: "id")) var event: [String] = []
    @Option(
        help: .init(
            "Only results of this story, or of the event with this id if it has no story; repeat for several.",
            valueName: "story"))
    var story: [String] = []
    @OptionGroup var outcomeOption: OutcomeOption
    @Flag(help: "Print one JSON object per line, for programs.") var json = false
    @Flag(help: "Add how many devices each send has reached.") var withTelemetry = false
    @Option(parsing: .unconditional, help: .init("Stop after this many results.", valueName: "n")) var limit: Int?

    private static let tailOfFollow = 10
    /// Maximum for --tail, because these results are buffered in memory.
    private static let tailMax = 10_000

    func validate() throws {
        if withTelemetry, follow {
            throw ValidationError("--with-telemetry is not for --follow: the hub tells seconds to minutes later.")
        }
        if until != nil, follow { throw ValidationError("--until is not for --follow, which has no end.") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if let tail, !(0...Self.tailMax).contains(tail) {
            throw ValidationError("--tail must be 0 to \(Self.tailMax).")
        }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let stop = Signals.stopFlag()
        let output = Terminal.standardOutput
        let table = ResultTable(
            width: output.isInteractive ? output.width : 200, hasColours: output.hasColours, hasTelemetry: withTelemetry
        )
        // Printed once the topic was read, so that an error has no table above it.
        var title = json ? nil : table.title
        var reading = ResultReading(
            settings.kafkaSettings, topic: settings.engine.resultsTopic, follow: follow, stop: stop)
        reading.outcomes = outcomeOption.outcomes
        reading.events = Set(event)
        reading.stories = Set(story)
        let now = ServiceClock.wall
        reading.since = since?.instant(at: now)
        reading.until = until?.instant(at: now)
        var left = limit ?? .max
        var telemetry: ResultTelemetry?
        if withTelemetry {
            telemetry = try ResultTelemetry(
                settings.kafkaSettings, topic: settings.telemetry.topic, since: reading.since, stop: stop)
        }
        try reading.run(tail: tail ?? (follow && since == nil ? Self.tailOfFollow : nil)) { found throws(ExitCode) in
            let word = telemetry?.lastRecord(about: found.result)
            if let title = title.take() { try output.line(title) }
            try output.line(
                json
                    ? String(decoding: ResultTelemetry.json(found.json, word), as: UTF8.self)
                    : table.line(found.result, word))
            left -= 1
            return left > 0
        } isRead: {
            !output.isAbandoned
        }
        if let title { try output.line(title) }
        if let telemetry {
            notice(telemetry.summary)
            let missing = telemetry.dropped + telemetry.unreadable
            if missing > 0 {
                notice("left out \(counted(missing, "telemetry record")): unreadable, or older than there is room for")
            }
            if telemetry.isHeldUp { reportHidden(settings.telemetry.topic) }
        }
        reportSkipped(reading.unreadable, of: settings.engine.resultsTopic, "result")
        if reading.isHeldUp { reportHidden(settings.engine.resultsTopic) }
        // Without --follow, an interrupted list is not the whole one.
        if stop.isRaised, !follow { throw ExitCode.failure }
    }
}
