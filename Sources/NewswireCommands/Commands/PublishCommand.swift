import ArgumentParser
import ByteText
import Foundation
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
            A file holds one event per line (NDJSON), a JSON array, single documents (such as ninjs), or one \
            NewsML-G2 or NITF document, whose items become an event each:

              {"id": "7001", "headline": "Harbour reopens", "category": "World"}

            Or comma-separated values whose first line names the fields:

              id,headline,categories,urgency,data.section
              7001,"Harbour reopens, ferries sail",World;Business,3,front

            Separate several categories or subjects with ';'. Files compressed with gzip or zstd are read as \
            they are. The file name - stands for standard input. \
            The key of a record is the event's story, or its id without one, so updates of a story stay in order.

            Examples:
              newswire publish --config newswire.yaml archive.ndjson --rate 2000
              newswire publish --config newswire.yaml 2018.ndjson.zst 2019.csv.gz

            An item of NewsML-G2 that is withheld or canceled is published as such; one that is not news, such as \
            a picture or a planning item, counts as a bad line.

            A bad line, which is no event or is refused by the broker, is reported and skipped; --strict \
            stops at the first. A file that ends in the middle of an event is an error.

            Unless it ends with 0, the same command continues where it stopped and publishes nothing twice: \
            until then FILE.newswire-progress keeps the position in each file. Bad lines may be mended, and \
            lines appended, meanwhile; what was published must stay as it is. Only events that the broker did \
            not answer for are sent again, and after a crash those of the last second. For standard input no \
            position is kept.

            With --run the events belong to a run, which newswire runs shows and newswire stop run:ID pauses; --verify \
            follows the run until every event has its result, and names what is missing or doubled.

            Exit code 1 if it is interrupted, if Kafka, reading or writing fails, if there are more bad lines \
            than --max-bad, or if a file holds no events.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: "The lane; by default backfill if there is one, or the only lane.")
    var lane: String?
    @Option(help: ArgumentHelp("The most events per second.", valueName: "n"))
    var rate: Int?
    @Option(
        help: "ndjson, array, document, csv or newsml (NITF too); by default detected.",
        completion: .list(EventFileFormat.allCases.map(\.rawValue)))
    var format: String?
    @Option(
        help: ArgumentHelp("The most bad lines, in all files together, that are no failure.", valueName: "n"))
    var maxBad = 0
    @Option(
        name: .customLong("run"),
        help: ArgumentHelp("The run that the events belong to (header nw-run).", valueName: "id"))
    var runID: String?
    @OptionGroup var verifyOption: VerifyOption
    @Flag(help: "Stop at the first bad line.")
    var strict = false
    @Flag(help: "Keep no position: neither read nor write FILE.newswire-progress.")
    var noResume = false
    @Argument(help: ArgumentHelp("Files of events, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    func validate() throws {
        if let rate, !(1...10_000_000).contains(rate) { throw ValidationError("--rate must be 1 to 10000000.") }
        if verifyOption.verify, runID == nil { throw ValidationError("--verify needs --run.") }
        if maxBad < 0 { throw ValidationError("--max-bad must be 0 or more.") }
        if let format, EventFileFormat(rawValue: format) == nil {
            throw ValidationError(format, isNot: "a format", known: EventFileFormat.allCases.map(\.rawValue))
        }
        var seen: Set<String> = []
        for file in files where !seen.insert(Self.identity(file)).inserted {
            throw ValidationError("\(file.plain) is given twice.")
        }
    }

    /// Equal for two names of one file.
    private static func identity(_ path: String) -> String {
        var status = stat()
        guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return path }
        return "\(status.st_dev)/\(status.st_ino)"
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let topic = try topic(settings)
        let errors = Terminal.standardError
        let stop = StopFlag()
        let signals = StopSignals(hangUp: true) {
            stop.raise()
            errors.line(
                // Not on the line of the progress bar.
                (errors.isInteractive ? "\n" : "")
                    + "interrupted: waiting at most 10 s for the broker to answer for what was sent; again, and it ends at once"
            )
        }
        defer { withExtendedLifetime(signals) {} }
        let start = ContinuousClock.now
        var total = FilePublication.Summary()
        var progresses: PublishProgresses?
        var isSound = true
        var hasBegun = false
        do {
            let publisher = try prepare(settings, topic, &progresses)
            hasBegun = true
            isSound = try publishAll(
                publisher, topic, settings.policy.environment, progresses, stop, &total)
        } catch {
            errors.plainLine("error: \(error)")
            isSound = false
        }
        if total.bad > maxBad, !strict {
            isSound = false
            errors.line(Self.remedy(total.bad, maxBad, isResumable: progresses?.isEmpty == false))
        }
        if hasBegun {
            do {
                try Terminal.standardOutput.line(Self.summary(total, topic: topic, elapsed: start.duration(to: .now)))
            } catch {
                // Nobody reads: the events are on the topic all the same.
                isSound = isSound && error == .success
            }
        }
        guard isSound, !total.isInterrupted else {
            progresses?.removeUnused()
            throw ExitCode.failure
        }
        progresses?.removeAll()
        if verifyOption.verify, let runID {
            do {
                try verifyOption.follow(runID, settings, stop)
            } catch let failure as KafkaFailure {
                errors.plainLine("error: \(failure)")
                throw ExitCode.failure
            }
        }
    }

    /// - Parameter total: what was done, also when this throws.
    /// - Returns: `false` if a file holds no events.
    private func publishAll(
        _ publisher: RecordPublisher, _ topic: String, _ environment: String?, _ progresses: PublishProgresses?,
        _ stop: StopFlag, _ total: inout FilePublication.Summary
    ) throws -> Bool {
        defer { total.published = publisher.acknowledged }
        let errors = Terminal.standardError
        let start = ContinuousClock.now
        var bar = ProgressBar(errors, at: start)
        defer { bar.clear() }
        var isSound = true
        for path in files where !total.isInterrupted {
            var publication = FilePublication(
                path: path, format: format.flatMap(EventFileFormat.init(rawValue:)), topic: topic)
            publication.progress = progresses?[path]
            publication.rate = rate
            publication.start = start
            publication.isStrict = strict
            publication.environment = environment
            publication.run = runID
            let summary = try publication.run(publisher, stop: stop, report: { errors.plainLine($0) }, bar: &bar)
            bar.clear()
            Self.report(summary, path, errors)
            isSound = isSound && !summary.isEmpty
            total.bad += summary.bad
            total.isInterrupted = summary.isInterrupted
        }
        return isSound
    }

    /// Finds whatever stands against it before the first record is sent.
    private func prepare(
        _ settings: Settings, _ topic: String, _ progresses: inout PublishProgresses?
    ) throws -> RecordPublisher {
        for path in files where path != "-" { try EventFile.examine(path) }
        let admin = try KafkaAdmin(settings: settings.kafkaSettings)
        // Many brokers would create a missing topic, with a number of partitions that nobody chose.
        guard try admin.partitionCounts(of: [topic])[topic] != nil else { throw KafkaFailure.missing(topic: topic) }
        if !noResume {
            let fresh = PublishProgress(topic: topic, cluster: admin.clusterID())
            progresses = try PublishProgresses(files.filter(EventFile.isResumable), fresh: fresh)
        }
        return try RecordPublisher(settings: settings.kafkaSettings, skipsRefused: true)
    }

    private func topic(_ settings: Settings) throws -> String {
        let names = settings.engine.lanes.map(\.name)
        let name = lane ?? (names.contains("backfill") ? "backfill" : names.count == 1 ? names.first : nil)
        guard let name else {
            throw ExitCode.wrongUsage(
                ValidationError("Choose a lane: --lane \(names.joined(separator: " or --lane "))."))
        }
        guard let topic = try settings.lane(named: name).topics.first else { throw ExitCode.badConfiguration }
        return topic
    }

    private static func report(_ summary: FilePublication.Summary, _ path: String, _ terminal: Terminal) {
        let name = path == "-" ? "standard input" : path
        let hidden = summary.bad - FilePublication.complaintsShown
        if hidden > 0 { terminal.plainLine("\(name): \(counted(hidden, "further bad line")) not shown") }
        if summary.isEmpty { terminal.plainLine("\(name): holds no events") }
        if summary.resumed > 0 {
            terminal.plainLine(
                "\(name): \(counted(summary.resumed, "event was", plural: "events were")) published by an earlier command that did not finish"
            )
        }
    }

    private static func remedy(_ bad: Int, _ maxBad: Int, isResumable: Bool) -> String {
        "\(counted(bad, "bad line")): more than --max-bad \(maxBad) allows"
            + (isResumable ? "; mend them and run the same command again, which publishes only them" : "")
    }

    private static func summary(_ total: FilePublication.Summary, topic: String, elapsed: Duration) -> String {
        let milliseconds = max(elapsed.nanoseconds / 1_000_000, 1)
        let rate = Int(Int64(total.published) * 1000 / milliseconds)
        var text =
            "published \(counted(total.published, "event")) to \(topic) in \(decimal(tenths: milliseconds / 100)) s"
        if total.published > 1, rate > 0 { text += " (\(grouped(rate))/s)" }
        if total.bad > 0 { text += ", skipped \(counted(total.bad, "bad line"))" }
        return text
    }
}
