import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

/// Counts what the topics say of all runs. How far it got, and what it counted until there, it commits as offsets of the group
/// `{group}.runs`, each with its partition's counts beside it: the next command reads only what was added since. Brokers forget
/// such offsets after a week without a command; then it counts from the beginning.
///
/// A publisher may write no order to the control topic, and a file beside the events would be on one machine only: an offset is
/// where everyone who may read the topics can keep a count.
struct RunSurvey {
    private let kafka: KafkaSettings
    private let lanes: [String]
    private let results: String
    /// `false` if a lane of this name has the group.
    private let hasGroup: Bool
    /// Why the counts could not be kept for the next command.
    private(set) var markFailure: KafkaFailure?
    /// Records of more runs than there is room for.
    private(set) var ignored = 0

    init(_ settings: Settings) {
        kafka = settings.kafkaSettings
        lanes = settings.engine.lanes.flatMap(\.topics)
        results = settings.engine.resultsTopic
        hasGroup = !settings.engine.lanes.contains { $0.name == Self.name }
    }

    private static let name = "runs"

    /// Blocks until everything is read that stands on the topics now.
    ///
    /// - Parameters:
    ///   - afresh: counts from the beginning.
    ///   - stop: ends it early, with what was read.
    mutating func runs(afresh: Bool, stop: StopFlag) throws -> [String: RunTally] {
        let counts = try KafkaAdmin(settings: kafka).partitionCounts(of: lanes + [results])
        let partitions = counts.flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let offsets = try GroupOffsets(settings: kafka, group: "\(kafka.group).\(Self.name)")
        var marks = afresh || !hasGroup ? [:] : (try? offsets.read(partitions)) ?? [:]
        var tables: [TopicPartition: RunTable] = [:]
        for (partition, mark) in marks {
            tables[partition] = RunTable(text: mark.metadata)
            // Brokers that keep no text, or another version's.
            if tables[partition] == nil { marks[partition] = nil }
        }
        let reading = try RunReading(
            kafka, lanes: lanes, results: results, from: .offsets(marks.mapValues(\.offset)), follow: false)
        for partition in reading.restarted { (marks[partition], tables[partition]) = (nil, nil) }
        let moved = try read(reading, &tables, stop)
        keep(tables, moved, marks, in: offsets)
        var all = RunTable()
        for (_, table) in tables { all.merge(table) }
        ignored = all.ignored
        return all.runs.mapValues(\.tally)
    }

    /// - Returns: the next offset of each partition that something was read of.
    private func read(
        _ reading: RunReading, _ tables: inout [TopicPartition: RunTable], _ stop: StopFlag
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        var moved: [TopicPartition: Int64] = [:]
        while !reading.sourcesAtEnd, !stop.isRaised {
            for read in try reading.nextSources(timeout: .milliseconds(200)) {
                tables[read.partition, default: RunTable()].take(source: read.record)
                moved[read.partition] = read.record.offset + 1
            }
        }
        let parser = JSONParser()
        while !reading.resultsAtEnd, !stop.isRaised {
            for read in try reading.nextResults(timeout: .milliseconds(200)) {
                moved[read.partition] = read.record.offset + 1
                guard let result = RunResult(read.record, group: kafka.group),
                    let run = Self.run(of: read.record, parser)
                else { continue }
                tables[read.partition, default: RunTable()].take(result, of: run, read.record)
            }
        }
        return moved
    }

    private static func run(of record: SourceRecord, _ parser: JSONParser) -> String? {
        // Its fields are views into the parser's memory, which the next record takes.
        record.value.flatMap { try? JSONFields($0, parser).string("run") }
    }

    /// What cannot be kept is counted again by the next command.
    private mutating func keep(
        _ tables: [TopicPartition: RunTable], _ moved: [TopicPartition: Int64],
        _ before: [TopicPartition: GroupOffsets.Position], in offsets: GroupOffsets
    ) {
        var marks = before
        for (partition, offset) in moved {
            guard let text = (tables[partition] ?? RunTable()).text else { continue }
            marks[partition] = .init(offset: offset, metadata: text)
        }
        guard hasGroup, !marks.isEmpty else { return }
        do {
            // Those that have not moved too, so that the broker does not forget them.
            try offsets.commit(marks)
        } catch {
            markFailure = error
        }
    }
}
