import ArgumentParser
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import PublishEngine

struct RedriveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Puts dead letters back on their lane.",
        discussion: """
            Reads the dead-letter topic to its present end and puts each record back, byte for byte, on the \
            topic and partition it came from. It is then sent only to the platform that failed. An event \
            keeps its time: what is past its lane's maxAge ends as expired. A dead letter without its \
            original, which was too large for the topic, is refused, and standard error names where the \
            original stands.

            Examples:
              newswire redrive --config newswire.yaml --dry-run
              newswire redrive --config newswire.yaml --outcome exhausted --since 2h
              newswire redrive --config newswire.yaml --outcome unroutable --reason unknown-category

            A dead letter is put back once: the group {kafka.group}.redrive keeps, as its committed offset, \
            the first one still there, and beside it which later ones are gone. --again begins at the \
            beginning. When it is interrupted, at most 256 may be put back twice. One record is put back at \
            most --max-redrives times in its life; its header nw-redrive counts. Dead letters stay on their \
            topic until Kafka deletes them.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: ArgumentHelp("Only this outcome; repeat for several.", valueName: "outcome"))
    var outcome: [String] = []
    @Option(
        help: ArgumentHelp("Only this reason, as the nw-reason header has it; repeat for several.", valueName: "code"))
    var reason: [String] = []
    @Option(
        help: ArgumentHelp("Only events put on their lane since then: RFC 3339, or how long ago.", valueName: "time"))
    var since: String?
    @Option(help: ArgumentHelp("Only events put on their lane before then.", valueName: "time"))
    var until: String?
    @Option(help: ArgumentHelp("Only this lane; repeat for several.", valueName: "lane"))
    var lane: [String] = []
    @Option(help: ArgumentHelp("End after this many were put back.", valueName: "n"))
    var limit: Int?
    @Option(help: ArgumentHelp("How often one record may be put back.", valueName: "n"))
    var maxRedrives = 3
    @Flag(help: "Also what an earlier run put back.")
    var again = false
    @Flag(help: "Only say what would be put back.")
    var dryRun = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        guard (1...1000).contains(maxRedrives) else { throw ValidationError("--max-redrives must be 1 to 1000.") }
        for name in outcome where Outcome(rawValue: name) == nil {
            let known = Outcome.allCases.map(\.rawValue)
            let near = SettingsSpelling.nearest(to: name, among: known).map { " Did you mean \($0)?" } ?? ""
            throw ValidationError("'\(name)' is no outcome.\(near) Known: \(known.joined(separator: ", ")).")
        }
        for (name, text) in [("--since", since), ("--until", until)] {
            if let text, Self.time(text, now: .distantFuture) == nil {
                throw ValidationError(
                    "\(name) '\(text)' is neither a time such as 2026-01-31T06:00:00Z nor a duration such as 2h.")
            }
        }
    }

    /// An RFC 3339 time, or a duration before now.
    static func time(_ text: String, now: Instant) -> Instant? {
        Instant(rfc3339: text) ?? SettingsValue.duration(text).map { now - $0 }
    }

    func run() throws {
        let settings = try configurationOption.settings()
        let topics = settings.lanes.flatMap(\.topics)
        for name in lane where !settings.lanes.contains(where: { $0.name == name }) {
            let known = settings.lanes.map(\.name).joined(separator: ", ")
            throw ValidationError("There is no lane '\(name)'. Known: \(known).")
        }
        let stop = StopSign()
        let signals = SignalWatch { stop.raise() }
        defer { withExtendedLifetime(signals) {} }
        let output = Terminal.standardOutput
        var summary = RedriveSummary()
        do {
            let counts = try KafkaAdmin(settings: settings.kafkaSettings).partitionCounts()
            guard let partitions = counts[settings.deadLettersTopic] else {
                throw KafkaFailure(
                    code: "UNKNOWN_TOPIC_OR_PART",
                    detail: "Topic \(settings.deadLettersTopic) does not exist, or this user may not see it",
                    remedy: "Create it: newswire topics --create --config FILE")
            }
            let now = Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))
            var redrive = Redrive(topics: counts.filter { topics.contains($0.key) })
            redrive.outcomes = Set(outcome.compactMap(Outcome.init(rawValue:)))
            redrive.reasons = Set(reason)
            redrive.since = since.flatMap { Self.time($0, now: now) }
            redrive.until = until.flatMap { Self.time($0, now: now) }
            redrive.maximum = maxRedrives
            if !lane.isEmpty {
                redrive.wantedTopics = Set(settings.lanes.filter { lane.contains($0.name) }.flatMap(\.topics))
            }
            try putBack(redrive, settings, partitions: partitions, stop: stop, &summary)
        } catch let failure as KafkaFailure {
            output.write(summary.table(isDryRun: dryRun, hasColours: output.hasColours))
            output.line(summary.line(isDryRun: dryRun))
            Terminal.standardError.line("error: \(failure)")
            throw ExitCode.failure
        }
        output.write(summary.table(isDryRun: dryRun, hasColours: output.hasColours))
        output.line(summary.line(isDryRun: dryRun))
        if stop.isRaised {
            Terminal.standardError.line("interrupted; the same command goes on from here")
            throw ExitCode.failure
        }
    }

    /// Refused dead letters that are named one by one.
    private static let namedMax = 1_000

    private func putBack(
        _ redrive: Redrive, _ settings: Settings, partitions: Int, stop: StopSign, _ summary: inout RedriveSummary
    ) throws(KafkaFailure) {
        let kafka = settings.kafkaSettings
        let topic = settings.deadLettersTopic
        let all = (0..<Int32(clamping: partitions)).map { TopicPartition(topic: topic, partition: $0) }
        let offsets = try GroupOffsets(settings: kafka, group: "\(kafka.group).redrive")
        let publisher = try RecordPublisher(settings: kafka)
        let committed = try offsets.read(all)
        for partition in all where !stop.isRaised && summary.putBack < limit ?? .max {
            var mark = RedriveMark(committed[partition])
            let reader = try TopicReader(
                settings: kafka, topic: topic, partitions: [partition.partition],
                from: again ? .beginning : .offset(mark.first))
            var outOfReach = 0
            while !reader.isAtEnd, !stop.isRaised, summary.putBack < limit ?? .max {
                let before = summary.putBack
                for read in try reader.next(timeout: .milliseconds(500)) where summary.putBack < limit ?? .max {
                    if !again && mark.isGone(read.record.offset) {
                        summary.addGone()
                        continue
                    }
                    let verdict = redrive.verdict(on: read.record)
                    if case .putBack(let record) = verdict {
                        if !dryRun { try publisher.publish(record) }
                        mark.putBack(read.record.offset)
                    } else {
                        mark.leave(read.record.offset)
                    }
                    let label = Redrive.label(read.record)
                    summary.add(label, verdict)
                    if let label, verdict == .refused(.truncated), summary.refused <= Self.namedMax {
                        Terminal.standardError.line(
                            "\(read.partition)/\(read.record.offset) has no original; it stands at \(label.coordinates.source)"
                        )
                    }
                }
                guard summary.putBack > before, !dryRun else { continue }
                // What is put back is stored before it counts as gone: a crash between may repeat, never lose.
                try publisher.flush()
                let (reached, lost) = mark.committed
                outOfReach = lost
                try offsets.commit([partition: reached])
            }
            if outOfReach > 0 {
                Terminal.standardError.line(
                    "\(partition): \(outOfReach) older dead letters were left too far behind; only --again meets them")
            }
        }
    }
}
