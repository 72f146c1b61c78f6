import ArgumentParser
import ByteText
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

struct PublishCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Puts files of events on a lane's topic.",
        discussion: """
            A file holds one event per line (NDJSON), a JSON array, or single documents (such as ninjs):

              {"id": "7001", "headline": "Harbour reopens", "category": "World"}

            Or comma-separated values whose first line names the fields:

              id,headline,categories,urgency,data.section
              7001,"Harbour reopens, ferries sail",World;Business,3,front

            Separate several categories or subjects with ';'. The file name - stands for standard input. \
            The key of a record is the event's story, or its id without one, so updates of a story stay in order.

            Examples:
              newswire publish --config newswire.yaml archive.ndjson --rate 2000
              zcat 2019.ndjson.gz | newswire publish --config newswire.yaml -

            After an interruption, the same command continues where it stopped: FILE.newswire-progress keeps the \
            position and is removed at the end. Lines that are not events are reported and skipped; --strict \
            stops at the first.

            Exit code 1 if it is interrupted, Kafka fails, or no line is an event.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: "The lane; by default backfill if there is one, or the only lane.")
    var lane: String?
    @Option(help: ArgumentHelp("The most events per second.", valueName: "n"))
    var rate: Int?
    @Option(
        help: "ndjson, array, document or csv; by default detected.",
        completion: .list(EventFileFormat.allCases.map(\.rawValue)))
    var format: String?
    @Flag(help: "Stop at the first line that is not an event.")
    var strict = false
    @Flag(help: "Do not read or write FILE.newswire-progress.")
    var noResume = false
    @Argument(help: ArgumentHelp("Files of events, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    func validate() throws {
        if let rate, !(1...10_000_000).contains(rate) { throw ValidationError("--rate must be 1 to 10000000.") }
        if let format, EventFileFormat(rawValue: format) == nil {
            throw ValidationError(format, isNot: "a format", known: EventFileFormat.allCases.map(\.rawValue))
        }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let topic = try topic(settings)
        let errors = Terminal.standardError
        let stop = StopFlag()
        let signals = StopSignals { stop.raise() }
        defer { withExtendedLifetime(signals) {} }
        var total = FilePublication.Summary()
        let start = ContinuousClock.now
        var bar = ProgressBar(errors, at: start)
        do {
            try Self.requireTopic(topic, settings)
            let publisher = try RecordPublisher(settings: settings.kafkaSettings)
            for path in files where !total.isInterrupted {
                let file = try EventFile(path: path, format: format.flatMap(EventFileFormat.init(rawValue:)))
                var publication = FilePublication(file: file, topic: topic)
                publication.progressPath = path == "-" || noResume ? nil : path
                publication.rate = rate
                publication.isStrict = strict
                let summary = try publication.run(publisher, stop: stop, report: { errors.line($0) }, bar: &bar)
                bar.clear()
                Self.report(summary, file.name, errors)
                total.published += summary.published
                total.bad += summary.bad
                total.resumed += summary.resumed
                total.isInterrupted = summary.isInterrupted
            }
        } catch {
            bar.clear()
            errors.line("error: \(error)")
            throw ExitCode.failure
        }
        try Terminal.standardOutput.line(Self.summary(total, topic: topic, elapsed: start.duration(to: .now)))
        if total.isInterrupted || total.published + total.resumed == 0 && total.bad > 0 { throw ExitCode.failure }
    }

    private func topic(_ settings: Settings) throws -> String {
        let names = settings.engine.lanes.map(\.name)
        let name = lane ?? (names.contains("backfill") ? "backfill" : names.count == 1 ? names.first : nil)
        guard let name else {
            throw ValidationError("Choose a lane: --lane \(names.joined(separator: " or --lane ")).")
        }
        guard let topic = try settings.lane(named: name).topics.first else { throw ExitCode.badConfiguration }
        return topic
    }

    /// Refuses a missing topic: many brokers would create it, with a number of partitions that nobody chose.
    private static func requireTopic(_ topic: String, _ settings: Settings) throws(KafkaFailure) {
        let counts = try KafkaAdmin(settings: settings.kafkaSettings).partitionCounts(of: [topic])
        guard counts[topic] != nil else { throw .missing(topic: topic) }
    }

    private static func report(_ summary: FilePublication.Summary, _ name: String, _ terminal: Terminal) {
        let hidden = summary.bad - FilePublication.complaintsShown
        if hidden > 0 { terminal.line("\(name): \(counted(hidden, "further bad line")) not shown") }
        if summary.resumed > 0 {
            terminal.line("\(name): continued after event \(grouped(summary.resumed))")
        }
        if summary.isInterrupted { terminal.line("\(name): interrupted; the same command continues from here") }
    }

    private static func summary(_ total: FilePublication.Summary, topic: String, elapsed: Duration) -> String {
        let milliseconds = max(elapsed.nanoseconds / 1_000_000, 1)
        let rate = Int(Int64(total.published) * 1000 / milliseconds)
        var text =
            "published \(counted(total.published, "event")) to \(topic) in \(decimal(tenths: milliseconds / 100)) s (\(grouped(rate))/s)"
        if total.bad > 0 { text += ", skipped \(counted(total.bad, "bad line"))" }
        return text
    }
}
