import ArgumentParser
import Backfill
import ByteText
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

struct RedriveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Puts dead letters back on their lane.",
        discussion: """
            Reads the dead-letter topic to its current end and puts each record back, byte for byte, on the topic and \
            partition it came from. It is then sent only to the platform that failed. An event keeps its time, so one \
            older than its lane's maxAge ends as expired. A dead letter whose original was too large for the topic is \
            refused, and standard error names the original's place. Of several consumer groups that read the lane, only \
            the one whose dead letter it is sends it; another one's dead letters are refused.

            Examples:
              newswire redrive --dry-run
              newswire redrive --outcome exhausted --since 2h
              newswire redrive --code unknown-category --reason "World is known now"

            A dead letter is put back once: offset and metadata of the group {kafka.group}.redrive mark which were. If two \
            runs at once, or one before and one after a crash, put the same one back, the second copy ends as duplicate. \
            --again ignores both, so each run with it sends again. The header nw-redrive counts how often a record was \
            put back, and nw-redrive-of names the delivery that it repeats. Dead letters stay on their topic until \
            Kafka deletes them. With --former-group OLD, those that the group OLD.redrive marks are not put back either.

            Who put dead letters back, and why, stands on the audit topic; a warning says so if it does not take it.

            Exit code 1 if it is interrupted, if Kafka fails, or if an open transaction hides dead letters; the same \
            command then continues.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup var outcomeOption: OutcomeOption
    @Option(help: .init("Only this error's code, as in the nw-reason header; repeat for several.", valueName: "code"))
    var code: [String] = []
    @Option(
        help: .init(
            "Only events put on their lane since then: an RFC 3339 time, or how long ago, e.g. 2h.", valueName: "time"),
        transform: TimeArgument.init(parsing:))
    var since: TimeArgument?
    @Option(
        help: .init("Only events put on their lane before then; the same formats.", valueName: "time"),
        transform: TimeArgument.init(parsing:))
    var until: TimeArgument?
    @Option(
        help: .init("Only this lane; repeat for several.", valueName: "lane"), completion: ConfiguredNames.lanes)
    var lane: [String] = []
    @Option(help: .init("Stop after putting back this many.", valueName: "n")) var limit: Int?
    @Option(help: .init("The most times that one record is put back.", valueName: "n")) var maxRedrives = 3
    @Option(help: .init("An earlier name of kafka.group: include its dead letters.", valueName: "name"))
    var formerGroup: String?
    @OptionGroup var authorOptions: AuthorOptions
    @Flag(help: "Include records that an earlier run put back.") var again = false
    @Flag(help: "Only show what would be put back.") var dryRun = false
    @Flag(help: "Print one JSON object with the counts, for programs.") var json = false

    func validate() throws {
        // The option's former meaning would otherwise put back every dead letter.
        if let code = authorOptions.reason, FailureCode(rawValue: code) != nil || code.hasPrefix("http-") {
            throw ValidationError(
                "'\(code.plain)' is a code: choose dead letters by --code; --reason says why you do it.")
        }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        guard (1...1000).contains(maxRedrives) else { throw ValidationError("--max-redrives must be 1 to 1000.") }
        let now = ServiceClock.wall
        if let since = since?.instant(at: now), let until = until?.instant(at: now), since >= until {
            throw ValidationError("--since must be earlier than --until; nothing lies between \(since) and \(until).")
        }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let topics = settings.engine.lanes.flatMap(\.topics)
        let lanes = try lane.map { try settings.lane(named: $0) }
        let stop = Signals.stopFlag(hangUp: true)
        var redrive = Redrive(
            topics: [:], group: settings.kafkaSettings.group, platforms: settings.engine.platforms)
        redrive.outcomes = outcomeOption.outcomes
        redrive.reasons = Set(code)
        let now = ServiceClock.wall
        redrive.since = since?.instant(at: now)
        redrive.until = until?.instant(at: now)
        redrive.maximum = maxRedrives
        redrive.formerGroup = formerGroup
        redrive.isAgain = again
        if !lanes.isEmpty { redrive.wantedTopics = Set(lanes.flatMap(\.topics)) }
        var summary = RedriveSummary(redrive)
        // Shows what was done also if Kafka fails in between.
        let result = Result {
            let admin = try KafkaAdmin(settings: settings.kafkaSettings)
            let counts = try admin.partitionCounts()
            guard let partitions = counts[settings.deadLettersTopic] else {
                throw KafkaFailure.missing(topic: settings.deadLettersTopic)
            }
            redrive.topics = counts.filter { topics.contains($0.key) }
            summary = RedriveSummary(redrive, includesGone: again, limit: limit ?? .max)
            let publisher = try RecordPublisher(settings: admin.limitingBatches(settings.kafkaSettings, to: topics))
            try putBack(settings, publisher, partitions: partitions, stop: stop, &summary)
        }
        if case .failure(let failure) = result {
            // Counts of zero would look like an answer.
            if summary.kinds.isEmpty { throw failure }
            notice("error: \(failure)")
        }
        let output = Terminal.standardOutput
        if json {
            try output.line(summary.json)
        } else {
            try output.write(summary.table(isDryRun: dryRun, hasColours: output.hasColours))
            try output.line(summary.line(isDryRun: dryRun))
        }
        if case .failure = result { throw ExitCode.failure }
        if stop.isRaised {
            notice("interrupted; the same command continues from here")
            throw ExitCode.failure
        }
    }

    /// Maximum number of refused dead letters that are named one by one.
    private static let namedMax = 1_000

    private static func offsets(of group: String, _ kafka: KafkaSettings) throws(KafkaFailure) -> GroupOffsets {
        try GroupOffsets(settings: kafka, group: "\(group).redrive")
    }

    private static func mark(_ position: GroupOffsets.Position?) -> RedriveMark {
        position.map { RedriveMark(offset: $0.offset, metadata: $0.metadata) } ?? RedriveMark()
    }

    private func putBack(
        _ settings: Settings, _ publisher: RecordPublisher, partitions: Int, stop: StopFlag,
        _ summary: inout RedriveSummary
    ) throws(KafkaFailure) {
        let kafka = settings.kafkaSettings
        let topic = settings.deadLettersTopic
        let all = (0..<Int32(clamping: partitions)).map { TopicPartition(topic: topic, partition: $0) }
        let offsets = try Self.offsets(of: kafka.group, kafka)
        let committed = try offsets.read(all)
        // This command never commits the former group's marks, because that group's own runs change them.
        var former: [TopicPartition: GroupOffsets.Position] = [:]
        if let formerGroup, !again { former = try Self.offsets(of: formerGroup, kafka).read(all) }
        var (isNoted, areHidden) = (false, false)
        for partition in all where !stop.isRaised && !summary.isFull {
            var mark = Self.mark(committed[partition])
            let formerMark = Self.mark(former[partition])
            let reader = try TopicReader(
                settings: kafka, topic: topic, partitions: [partition.partition],
                from: again ? .beginning : .offset(mark.first))
            var outOfReach = 0
            while !reader.isAtEnd, !stop.isRaised, !summary.isFull {
                let before = summary
                var records: [ProducedRecord] = []
                for read in try reader.next(timeout: .milliseconds(500)) where !summary.isFull {
                    let verdict = summary.decide(read.record, &mark, former: formerMark)
                    if case .putBack(let record)? = verdict { records.append(record) }
                    guard verdict == .refused(.truncated), summary.refused <= Self.namedMax,
                        let label = Redrive.label(read.record)
                    else { continue }
                    notice(
                        "\(read.partition)/\(read.record.offset) has no original; it is at \(label.coordinates.source)")
                }
                guard summary.putBack > before.putBack, !dryRun else { continue }
                if !isNoted {
                    isNoted = true
                    let line = AuditEntry.redrive(
                        group: kafka.group, at: ServiceClock.wall, by: authorOptions.author,
                        reason: authorOptions.reason)
                    AuditWriter(settings).note(line, "this redrive")
                }
                do throws(KafkaFailure) {
                    for record in Redrive.joined(records) { try publisher.publish(record) }
                    // Records are stored before their marks are committed. A crash in between may repeat some, but loses nothing.
                    try publisher.flush()
                } catch {
                    // None of them is marked, so the next run repeats those that were stored.
                    summary = before
                    throw error
                }
                let reached = mark.committed
                outOfReach = reached.outOfReach
                try offsets.commit([partition: .init(offset: reached.offset, metadata: reached.metadata)])
            }
            if !stop.isRaised, !summary.isFull, reader.hasHiddenRecords() { areHidden = true }
            if outOfReach > 0 {
                notice(
                    "\(partition): \(counted(outOfReach, "older dead letter")) will be skipped by later runs without --again"
                )
            }
        }
        if areHidden { throw .heldUp(topic: topic) }
    }
}

extension RedriveSummary {
    fileprivate var json: String {
        String(
            decoding: JSONWriter.object { json in
                json.field("putBack", putBack)
                json.field("refused", refused)
                json.field("excluded", passedOver)
                json.field("putBackEarlier", gone)
                json.array("kinds") { json in
                    for (kind, count) in kinds {
                        json.object { json in
                            json.field("topic", kind.topic)
                            json.field("outcome", kind.outcome)
                            json.field("reason", kind.reason)
                            json.field("count", count)
                            if let refusal = kind.refusal { json.field("refused", refusal.rawValue) }
                        }
                    }
                }
            }, as: UTF8.self)
    }

    fileprivate func table(isDryRun: Bool, hasColours: Bool) -> String {
        let kinds = kinds
        if kinds.isEmpty { return "" }
        var table = TextTable(
            [
                .left("topic", max: 80), "outcome", "reason", .right("records"), .left("action", max: 80),
            ], hasColours: hasColours)
        let done = isDryRun ? "would be put back" : "put back"
        for (kind, count) in kinds {
            let action = kind.refusal.map { "refused: \($0.rawValue)" } ?? done
            table.add([
                .init(kind.topic), .init(kind.outcome), .init(kind.reason), .init(grouped(count)),
                .init(action, colour: kind.refusal == nil ? .green : .red),
            ])
        }
        return table.text
    }

    fileprivate func line(isDryRun: Bool) -> String {
        var text = (isDryRun ? "would put back " : "put back ") + counted(putBack, "dead letter")
        if refused > 0 { text += ", refused \(grouped(refused))" }
        if passedOver > 0 { text += ", left \(grouped(passedOver)) excluded by the filters" }
        if gone > 0 { text += ", skipped \(grouped(gone)) put back by an earlier run" }
        return text
    }
}
