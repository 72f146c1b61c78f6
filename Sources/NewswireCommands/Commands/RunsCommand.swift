import ArgumentParser
import Backfill
import ByteText
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

struct RunsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "Shows runs of publish: what was published, what became of it, how long it still takes.",
        discussion: """
            Examples:
              newswire runs
              newswire runs archive-2019 --follow
              newswire runs archive-2019 --verify
              newswire runs --json | jq 'select(.secondsLeft != 0) | .run'

            An event has one delivery for each platform. The rate is that of the last minute while deliveries are \
            open, and that of the whole run afterwards. To pause a run: newswire stop run:ID.

            It keeps what it has counted beside committed offsets of the group GROUP.runs, for which it needs the \
            right to read with that group, and reads only what was added since. Brokers forget these offsets after a \
            week without the command: then it counts everything that the topics still have. When there are more runs \
            than fit (some thirty on a partition), those that nothing was heard of for a week are left out.

            --verify names each delivery that has no result (missing) and each that reached the hub for more than one \
            record of the event (doubled). A request that was on its way when its publisher was killed may have been \
            made twice: that is named apart and is no failure. It reads all the run's records and results, and needs \
            95 to 190 MB for 5,000,000 events.

            Exit code 1 if there is no such run, if --verify finds anything missing or doubled, if it is interrupted, \
            or if the topics cannot be read.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Argument(help: .init("Only this run.", valueName: "id")) var id: String?
    @Flag(help: "Follow the run until every delivery is settled.") var follow = false
    @OptionGroup var verifyOption: VerifyOption
    @Flag(help: "Count from the beginning of the topics.") var afresh = false
    @Flag(help: "Print one JSON object per run, for programs.") var json = false

    func validate() throws {
        if id == nil, follow || verifyOption.verify {
            throw ValidationError("\(follow ? "--follow" : "--verify") needs the run's id.")
        }
        if afresh, follow || verifyOption.verify {
            throw ValidationError("--afresh is for the list: --follow and --verify always read everything.")
        }
        if let id, id.isEmpty { throw ValidationError("The run's id is empty.") }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let stop = Signals.stopFlag()
        if let id, follow || verifyOption.verify {
            try verifyOption.follow(id, settings, stop, isPatient: follow && !verifyOption.verify, json: json)
        } else {
            try list(settings, stop)
        }
    }

    private func list(_ settings: Settings, _ stop: StopFlag) throws {
        var survey = RunSurvey(settings)
        let runs = try survey.runs(afresh: afresh, stop: stop)
        if stop.isRaised { throw ExitCode.failure }
        let now = ServiceClock.wall
        let figures = runs.filter { id == nil || $0.key == id }.map {
            (id: $0.key, figures: $0.value.figures(platforms: settings.engine.platforms.count, at: now))
        }
        // The most recently active runs come first, after those that have no result yet.
        let sorted = figures.sorted {
            ($1.figures.last?.at ?? .distantFuture, $0.id) < ($0.figures.last?.at ?? .distantFuture, $1.id)
        }
        let output = Terminal.standardOutput
        if json {
            for run in sorted { try output.line(RunReport.json(run.id, run.figures)) }
        } else if !sorted.isEmpty {
            try output.write(RunReport.table(sorted, hasColours: output.hasColours))
        } else if id == nil {
            try output.line("no runs")
        }
        if let failure = survey.markFailure {
            notice("warning: the next command counts from the beginning: \(failure)")
        }
        if survey.ignored > 0 {
            notice(
                "warning: \(counted(survey.ignored, "record")) of more than \(grouped(RunTable.runsMax)) runs left out")
        }
        for topic in survey.hiddenTopics { reportHidden(topic) }
        if let id, sorted.isEmpty { throw CommandFailure("no run \(id) on the topics") }
    }
}

/// The options `--verify` and `--verify-timeout` of `publish` and `runs`.
struct VerifyOption: ParsableArguments {
    @Flag(help: "Follow the run until every delivery has its result, and name missing and doubled ones.")
    var verify = false
    @Option(
        help: .init(
            "With --verify: stop waiting when nothing has moved for this long. Events that an order such as stop run:ID holds do not count.",
            valueName: "duration"))
    var verifyTimeout = "5m"

    func validate() throws {
        guard let patience = SettingsValue.duration(verifyTimeout), patience >= .seconds(1) else {
            throw ValidationError("--verify-timeout must be a duration of at least 1s, e.g. 5m.")
        }
    }

    /// Follows a run to its end, shows its progress, and prints the findings.
    ///
    /// - Parameters:
    ///   - published: the number of events that are known to be published.
    ///   - isPatient: true to follow without a time limit and to verify nothing.
    ///   - json: true to write the findings to standard output as JSON, and to standard error in words.
    /// - Throws: an exit with 1 if anything is missing or doubled, or if it is interrupted; `KafkaFailure`.
    func follow(
        _ run: String, _ settings: Settings, _ stop: StopFlag, published: Int = 0, isPatient: Bool = false,
        json: Bool = false
    ) throws {
        let errors = Terminal.standardError
        var watch = RunWatch(run, on: errors, at: .now)
        defer { watch.clear() }
        let patience: Duration = isPatient ? .seconds(1 << 40) : SettingsValue.duration(verifyTimeout) ?? .seconds(300)
        let verdict = try RunFollower(settings, run: run).follow(
            patience: patience, published: published, stop: stop
        ) { watch.show($0, at: .now) }
        watch.clear()
        let output = Terminal.standardOutput
        guard verdict.figures.published > 0 else { throw CommandFailure("no run \(run) on the lanes' topics") }
        if json {
            try output.line(RunReport.json(run, verdict.figures, verdict: isPatient ? nil : verdict))
        } else {
            try output.write(RunReport.table([(run, verdict.figures)], hasColours: output.hasColours))
        }
        for line in verdict.lines(of: run) where !isPatient || verdict.isInterrupted {
            if json { errors.plainLine(line) } else { try output.line(line.plain) }
        }
        if verdict.areResultsHidden { reportHidden(settings.engine.resultsTopic) }
        guard isPatient ? !verdict.isInterrupted : verdict.isSound else { throw ExitCode.failure }
    }
}
