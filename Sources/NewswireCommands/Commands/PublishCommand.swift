import ArgumentParser
import KafkaIO
import KafkaModel
import NewsModel
import PublishEngine

struct PublishCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Puts files of events on a lane's topic.",
        discussion: """
            A file may hold one event a line (NDJSON), a JSON array, single documents (ninjs, say), or \
            comma-separated values whose first line names the fields of an event:

              id,headline,categories,urgency,data.section
              7001,"Harbour reopens, ferries sail",World;Business,3,front

            Values of categories and subjects are separated by ';'. A file named - is standard input. \
            Records are keyed by story, else by id, so updates of a story stay in order.

            Examples:
              newswire publish --config newswire.yaml archive.ndjson --rate 2000
              zcat 2019.ndjson.gz | newswire publish --config newswire.yaml -

            An interrupted run goes on where it stopped when the same command is given again: \
            FILE.newswire-progress remembers how far it got, and is removed at the end. Lines that hold no \
            event are named and passed over; --strict stops at the first.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: "The lane; backfill when left out, if there is one, or the only one.")
    var lane: String?
    @Option(help: ArgumentHelp("The most events a second.", valueName: "n"))
    var rate: Int?
    @Option(help: "ndjson, array, document or csv; found out when left out.")
    var format: String?
    @Flag(help: "Stop at the first line that holds no event.")
    var strict = false
    @Flag(help: "Neither read nor write FILE.newswire-progress.")
    var noResume = false
    @Argument(help: ArgumentHelp("Files of events, or - for standard input.", valueName: "file"))
    var files: [String]

    func validate() throws {
        if let rate, !(1...10_000_000).contains(rate) { throw ValidationError("--rate must be 1 to 10000000.") }
        if let format, EventFileFormat(rawValue: format) == nil {
            let known = EventFileFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(format)' is no format; write one of \(known).")
        }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let topic = try topic(settings)
        let errors = Terminal.standardError
        let stop = StopSign()
        let signals = SignalWatch { stop.raise() }
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
        } catch let failure as KafkaFailure {
            bar.clear()
            errors.line("error: \(failure)")
            throw ExitCode.failure
        } catch let failure as EventFile.Failure {
            bar.clear()
            errors.line("error: \(failure)")
            throw ExitCode.failure
        }
        Terminal.standardOutput.line(Self.summary(total, topic: topic, elapsed: start.duration(to: .now)))
        if total.isInterrupted || total.published + total.resumed == 0 && total.bad > 0 { throw ExitCode.failure }
    }

    private func topic(_ settings: Settings) throws -> String {
        let names = settings.lanes.map(\.name)
        let name = lane ?? (names.contains("backfill") ? "backfill" : names.count == 1 ? names.first : nil)
        guard let name else {
            throw ValidationError("Say which lane: --lane \(names.joined(separator: " or --lane ")).")
        }
        guard let topic = settings.lanes.first(where: { $0.name == name })?.topics.first else {
            throw ValidationError("There is no lane '\(name)'. Known: \(names.joined(separator: ", ")).")
        }
        return topic
    }

    /// Many brokers create a topic that is written to, with a number of partitions nobody chose.
    static func requireTopic(_ topic: String, _ settings: Settings) throws(KafkaFailure) {
        let counts = try KafkaAdmin(settings: settings.kafkaSettings).partitionCounts(of: [topic])
        guard counts[topic] != nil else {
            throw KafkaFailure(
                code: "UNKNOWN_TOPIC_OR_PART", detail: "Topic \(topic) does not exist, or this user may not see it",
                remedy: "Create it: newswire topics --create --config FILE")
        }
    }

    private static func report(_ summary: FilePublication.Summary, _ name: String, _ terminal: Terminal) {
        let hidden = summary.bad - FilePublication.complaintsShown
        if hidden > 0 { terminal.line("\(name): and \(ProgressBar.grouped(hidden)) more lines that hold no event") }
        if summary.resumed > 0 {
            terminal.line("\(name): went on after event \(ProgressBar.grouped(summary.resumed))")
        }
        if summary.isInterrupted { terminal.line("\(name): interrupted; the same command goes on from here") }
    }

    static func summary(_ total: FilePublication.Summary, topic: String, elapsed: Duration) -> String {
        let milliseconds = max(elapsed.nanoseconds / 1_000_000, 1)
        let rate = Int(Int64(total.published) * 1000 / milliseconds)
        var text =
            "published \(ProgressBar.grouped(total.published)) events to \(topic) in \(milliseconds / 1000).\(milliseconds % 1000 / 100) s (\(ProgressBar.grouped(rate))/s)"
        if total.bad > 0 { text += ", passed over \(ProgressBar.grouped(total.bad)) that are no events" }
        return text
    }
}
