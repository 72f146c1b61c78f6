import ArgumentParser
import Backfill
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
            A file holds one event per line (NDJSON), a JSON array, single documents (such as ninjs), one NewsML-G2 or \
            NITF document, or comma-separated values whose first line names the fields:

              {"id": "7001", "headline": "Harbour reopens", "category": "World"}

              id,headline,categories,urgency,data.section
              7001,"Harbour reopens, ferries sail",World;Business,3,front

            Files compressed with gzip or zstd are read as they are. The file name - stands for standard input. The \
            key of a record is the event's story, or its id without one, so updates of a story stay in order.

            Examples:
              newswire publish archive.ndjson --dry-run
              newswire publish archive.ndjson --rate 2000
              newswire publish a.csv --between 1:00-5:00 --zone UTC
              newswire publish 2018.ndjson.zst 2019.csv.gz

            A backfill disturbs nobody: on a lane below the first, events carry the header \(HeaderName.quiet). In \
            native mode phones show nothing; in template mode the devices' quiet template gets them \
            (payload.templates), and without one nothing is published. --ring --confirm N lets N events ring. The \
            first lane rings, and takes more than \(PublishPermission.unconfirmedMax) events only with --lane and \
            --confirm N.

            --dry-run lets the code that decides in 'newswire run' decide about each event, without failures and \
            orders and at the lane's floor of the rate. Whether a newer version or a recall overtakes a waiting event \
            is a matter of milliseconds: it says how many that may concern, and how many grow too old by waiting. It \
            remembers the ids of the first \(DryRun.idsMax >> 20) Mi events. With --json, tests and news for single \
            readers stand beside the categories. It ends with 0 also if the events would be refused, and says so.

            Every event belongs to a run (\(HeaderName.run)), whose id its results carry and 'newswire stop run:ID' \
            stops. Unless it ends with 0, the same command continues the run and publishes nothing twice: until then \
            FILE.newswire-progress keeps the position in each file. Bad lines may be mended, and lines appended; what \
            was published must stay as it is. After a crash it reads from the topic what it had written last, for \
            which it needs the right to read it; only events that the broker did not answer for are sent again.

            A bad line, which is no event or is refused by the broker, is reported and skipped; so is an item of \
            NewsML-G2 that is no news, such as a picture. A file that ends in the middle of an event is an error.

            Exit code 1 if it is refused or interrupted, if Kafka, reading or writing fails, if there are more bad \
            lines than --max-bad, or if a file holds no events.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup(title: "Backfill") var backfill: BackfillOptions
    @OptionGroup(title: "Dry run") var dryRunOptions: DryRunOptions
    @Option(
        help: "The lane; by default backfill if there is one, or the only lane.", completion: ConfiguredNames.lanes)
    var lane: String?
    @Option(help: .init("The most events per second.", valueName: "n")) var rate: Int?
    @Option(help: .init("The most bad lines, in all files together, that are no failure.", valueName: "n"))
    var maxBad = 0
    @OptionGroup var verifyOption: VerifyOption
    @Flag(help: "Stop at the first bad line.") var strict = false
    @Flag(help: "Keep no position: neither read nor write FILE.newswire-progress.") var noResume = false
    @OptionGroup var input: EventFileArguments

    func validate() throws {
        if let rate, !(1...10_000_000).contains(rate) { throw ValidationError("--rate must be 1 to 10000000.") }
        if backfill.ring, !dryRunOptions.dryRun, input.files.contains("-") {
            throw ValidationError("--ring needs files: the events of standard input cannot be counted before.")
        }
        if verifyOption.verify, dryRunOptions.dryRun {
            throw ValidationError("--verify follows what was published; --dry-run publishes nothing.")
        }
        if maxBad < 0 { throw ValidationError("--max-bad must be 0 or more.") }
        var seen: Set<String> = []
        for file in input.files where !seen.insert(Self.identity(file)).inserted {
            throw ValidationError("\(file.plain) is given twice.")
        }
    }

    /// A text that is equal for two names of the same file.
    private static func identity(_ path: String) -> String {
        var status = stat()
        guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return path }
        return "\(status.st_dev)/\(status.st_ino)"
    }

    func run() throws {
        if dryRunOptions.dryRun { return try runDry() }
        let settings = try configurationOption.settings()
        let lane = try lanePosition(settings)
        let permission = permission(lane)
        if let refusal = permission.refusal(settings.payload) {
            throw CommandFailure("nothing was published: \(refusal)")
        }
        let errors = Terminal.standardError
        let stop = StopFlag()
        Signals.onStop(hangUp: true) {
            stop.raise()
            errors.line(
                // Starts a new line, because the progress bar is on the current one.
                (errors.isInteractive ? "\n" : "")
                    + "interrupted: waiting at most 10 s for the broker to answer for what was sent; again, and it ends at once"
            )
        }
        let start = ContinuousClock.now
        var total = FilePublication.Summary()
        var progresses: PublishProgresses?
        var isSound = true
        var begun: Begun?
        do {
            let ready = try prepare(settings, lane, permission, stop, &progresses)
            begun = ready
            // Without a terminal, the summary is enough to name the run.
            if errors.isInteractive { errors.line("run \(ready.run)") }
            isSound = try publishAll(ready, permission, progresses, stop, &total)
        } catch {
            if begun == nil, (error as? KafkaFailure)?.isConfiguration == true { throw error }
            errors.plainLine("error: \(error)")
            if begun?.publisher.recreatedTopic != nil { progresses?.markGone() }
            isSound = false
        }
        if total.bad > maxBad, !strict {
            isSound = false
            let isResumable = progresses?.isEmpty == false
            notice(
                "\(counted(total.bad, "bad line")): more than --max-bad \(maxBad) allows"
                    + (isResumable ? "; mend them and run the same command again, which publishes only them" : ""))
        }
        if let begun {
            // An unread summary is no failure, because the events are on the topic.
            var output = ActOutput()
            output.line(Self.summary(total, begun, elapsed: start.duration(to: .now)))
            isSound = isSound && !output.hasLost
        }
        guard isSound, !total.isInterrupted else {
            progresses?.removeUnused()
            throw ExitCode.failure
        }
        if verifyOption.verify, let begun {
            try verifyOption.follow(begun.run.text, settings, stop, published: total.published + total.resumed)
        }
        // Removed only after success, because after a failure the operator gives the same command again.
        progresses?.removeAll()
    }

    /// Maximum events per second. Events still on the topic after the hours of --between are sent anyway, so the default
    /// is no more than the hub takes.
    func pace(_ settings: Settings) throws -> Int? {
        guard rate == nil, try backfill.schedule != nil, let hub = settings.engine.rate else { return rate }
        return max(hub.perSecond / max(settings.engine.platforms.count, 1), 1)
    }

    /// Everything that a publication needs, once all checks have passed.
    private struct Begun {
        var publisher: RecordPublisher
        var run: RunID
        /// The publication of each file, except for its path and progress.
        var publication: FilePublication
    }

    /// - Parameter total: receives the counts, even if this throws.
    /// - Returns: `false` if a file has no events.
    private func publishAll(
        _ begun: Begun, _ permission: PublishPermission, _ progresses: PublishProgresses?, _ stop: StopFlag,
        _ total: inout FilePublication.Summary
    ) throws -> Bool {
        let publisher = begun.publisher
        defer { total.published = publisher.acknowledged }
        let errors = Terminal.standardError
        let bar = ProgressBar(errors, at: .now)
        defer { bar.clear() }
        var isSound = true
        var publication = begun.publication
        for path in input.files where !total.isInterrupted {
            (publication.path, publication.progress) = (path, progresses?[path])
            let summary = try publication.run(publisher, stop: stop, bar: bar) { errors.plainLine($0) }
            bar.clear()
            Self.report(summary, path)
            isSound = isSound && !summary.isEmpty
            total.bad += summary.bad
            total.skipped += summary.skipped
            total.resumed += summary.resumed
            total.isInterrupted = summary.isInterrupted
        }
        if !canCount, !total.isInterrupted, let confirmed = permission.confirmed, publisher.acknowledged != confirmed {
            errors.line(
                "\(counted(publisher.acknowledged, "event was", plural: "events were")) published, and not the \(grouped(confirmed)) of --confirm"
            )
            return false
        }
        return isSound
    }

    /// Checks everything that could prevent the publication before the first record is sent.
    private func prepare(
        _ settings: Settings, _ lane: Int, _ permission: PublishPermission, _ stop: StopFlag,
        _ progresses: inout PublishProgresses?
    ) throws -> Begun {
        for path in input.files where path != "-" { try EventFile.examine(path) }
        guard let topic = settings.engine.lanes[lane].topics.first else { throw ExitCode.badConfiguration }
        let admin = try KafkaAdmin(settings: settings.kafkaSettings)
        // Many brokers would create a missing topic, with a number of partitions that nobody chose.
        guard let partitions = try admin.partitionCounts(of: [topic])[topic] else {
            throw KafkaFailure.missing(topic: topic)
        }
        let now = PublishClock.system.now()
        var run = backfill.run ?? RunID(begunAt: now, chance: .random(in: 0 ... .max))
        var begunAt = now
        if !noResume {
            let fresh = PublishProgress(
                topic: topic, cluster: admin.clusterID(), run: run, begunAt: begunAt.milliseconds,
                bounds: backfill.bounds.options)
            progresses = try PublishProgresses(
                input.files.filter(EventFile.isResumable), fresh: fresh, isRunNamed: backfill.run != nil)
            try progresses?.compare(topic, partitions: partitions, admin, settings.kafkaSettings, stop)
            if let earlier = progresses?.earlier {
                run = earlier.run.flatMap(RunID.init) ?? run
                begunAt = earlier.begunAt.map(Instant.init(milliseconds:)) ?? begunAt
            }
        }
        let review = EventReview(
            environment: settings.policy.environment, run: run, isSilent: permission.isSilent, others: input.headers,
            topic: topic, decoders: settings.decoders)
        let selection = try selection(review, settings, begunAt)
        if permission.needsCount, canCount, let refusal = permission.refusal(count: try count(selection, stop)) {
            throw EventFile.Failure("nothing was published: \(refusal)")
        }
        var publication = FilePublication(path: "-", format: input.chosenFormat, topic: topic)
        publication.pace = try pace(settings).map { PublishPace(rate: $0, start: .now) }
        publication.isStrict = strict
        publication.review = review
        publication.findOnTopic = { [run] since in
            try EventsOnTopic(settings.kafkaSettings, topic: topic, run: run.text, since: since, stop: stop)
        }
        publication.selection = selection
        publication.schedule = try backfill.schedule
        publication.recordsMax = canCount ? nil : permission.countMax
        let kafka = admin.limitingBatches(settings.kafkaSettings, to: [topic])
        return Begun(
            publisher: try RecordPublisher(settings: kafka, skipsRefused: true), run: run, publication: publication)
    }

    func selection(_ review: EventReview, _ settings: Settings, _ start: Instant) throws -> EventSelection {
        EventSelection(review, backfill.bounds, router: try settings.contentRules().router, start: start)
    }

    // MARK: Lane and permission

    func lanePosition(_ settings: Settings) throws -> Int {
        let names = settings.engine.lanes.map(\.name)
        let name = lane ?? (names.contains("backfill") ? "backfill" : names.count == 1 ? names.first : nil)
        guard let name else {
            throw ExitCode.wrongUsage(
                ValidationError("Choose a lane: --lane \(names.joined(separator: " or --lane "))."))
        }
        guard let position = names.firstIndex(of: name) else {
            throw ExitCode.wrongUsage(name, isNot: "a lane", known: names)
        }
        return position
    }

    func permission(_ lane: Int) -> PublishPermission {
        PublishPermission(
            isUrgentLane: lane == 0, isLaneNamed: self.lane != nil, rings: backfill.ring, confirmed: backfill.confirm)
    }

    /// True if every file can be read twice: once to count, and once to publish.
    private var canCount: Bool { input.files.allSatisfy(EventFile.isResumable) }

    private func count(_ selection: EventSelection, _ stop: StopFlag) throws -> Int {
        var selection = selection
        let bar = ProgressBar(Terminal.standardError, at: .now)
        defer { bar.clear() }
        for path in input.files {
            let file = try EventFile(path: path, format: input.chosenFormat)
            while let items = try file.next() {
                if stop.isRaised { throw EventFile.Failure("interrupted: nothing was published") }
                bar.draw(share: file.share, events: selection.count, at: .now)
                for item in items { _ = selection.choose(item) }
            }
        }
        return selection.count
    }
}

/// Messages about each file and about the whole run.
extension PublishCommand {
    static func report(_ summary: FilePublication.Summary, _ path: String, isEmpty: Bool? = nil) {
        let name = path == "-" ? "standard input" : path
        let hidden = summary.bad - FilePublication.complaintsShown
        if hidden > 0 { notice("\(name): \(counted(hidden, "further bad line")) not shown") }
        if isEmpty ?? summary.isEmpty { notice("\(name): holds no events") }
        if summary.skipped > 0 {
            notice(
                "\(name): \(counted(summary.skipped, "event")) left out by --max-events, --max-per-category or --max-age"
            )
        }
        if summary.resumed > 0 {
            notice(
                "\(name): \(counted(summary.resumed, "event was", plural: "events were")) published by an earlier command that did not finish"
            )
        }
    }

    private static func summary(_ total: FilePublication.Summary, _ begun: Begun, elapsed: Duration) -> String {
        let milliseconds = max(elapsed.nanoseconds / 1_000_000, 1)
        let rate = Int(Int64(total.published) * 1000 / milliseconds)
        var text =
            "published \(counted(total.published, "event")) to \(begun.publication.topic) in \(decimal(tenths: milliseconds / 100)) s"
        if total.published > 1, rate > 0 { text += " (\(grouped(rate))/s)" }
        if total.bad > 0 { text += ", skipped \(counted(total.bad, "bad line"))" }
        if total.skipped > 0 { text += ", left out \(counted(total.skipped, "event"))" }
        return text + ", as run \(begun.run)"
    }
}
