import Backfill
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

/// Counts all runs on the topics. Commits its position as offsets of the group `{group}.runs`, with each partition's counts
/// beside its offset. The next command then reads only what was added since. Brokers forget such offsets after a week without
/// a command. The command after that counts from the beginning.
///
/// Counts are kept beside offsets, because everyone who may read the topics can keep them there. A publisher may write no order
/// to the control topic, and a file beside the events would be on one machine only.
struct RunSurvey {
    private let kafka: KafkaSettings
    private let lanes: [String]
    private let results: String
    /// `false` if a lane named `runs` has the group.
    private let hasGroup: Bool
    /// The error that prevented keeping the counts for the next command.
    private(set) var markFailure: KafkaFailure?
    /// The number of records of runs for which there was no room.
    private(set) var ignored = 0
    /// The topics that an open transaction hides records of.
    private(set) var hiddenTopics: [String] = []

    init(_ settings: Settings) {
        kafka = settings.kafkaSettings
        lanes = settings.engine.lanes.flatMap(\.topics)
        results = settings.engine.resultsTopic
        hasGroup = !settings.engine.lanes.contains { $0.name == Self.name }
    }

    private static let name = "runs"

    /// Blocks until everything is read that is on the topics now.
    ///
    /// - Parameters:
    ///   - afresh: true to count from the beginning.
    ///   - stop: ends the reading early, with the counts until then.
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
            // The broker keeps no text, or another version wrote it.
            if tables[partition] == nil { marks[partition] = nil }
        }
        let reading = try RunReading(
            kafka, lanes: lanes, results: results, from: .offsets(marks.mapValues(\.offset)), follow: false)
        for partition in reading.restarted { (marks[partition], tables[partition]) = (nil, nil) }
        let moved = try read(reading, &tables, stop)
        keep(tables, moved, marks, in: offsets)
        if !stop.isRaised { hiddenTopics = reading.hiddenTopics() }
        var all = RunTable()
        for (_, table) in tables { all.merge(table) }
        ignored = all.ignored
        return all.runs.mapValues(\.tally)
    }

    /// - Returns: the next offset of each partition from which something was read.
    private func read(
        _ reading: RunReading, _ tables: inout [TopicPartition: RunTable], _ stop: StopFlag
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        var moved: [TopicPartition: Int64] = [:]
        while !reading.sourcesAtEnd, !stop.isRaised {
            for read in try reading.nextSources(timeout: .milliseconds(200)) {
                tables[read.partition, default: RunTable()].add(source: read.record, for: kafka.group)
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
                tables[read.partition, default: RunTable()].add(result, of: run, read.record)
            }
        }
        return moved
    }

    private static func run(of record: SourceRecord, _ parser: JSONParser) -> String? {
        // The fields are views into the parser's memory, which the next record overwrites.
        record.value.flatMap { try? JSONFields($0, parser).string("run") }
    }

    /// Commits the counts. The next command counts again what cannot be committed.
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
            // Includes partitions without new records, so that the broker does not forget their offsets.
            try offsets.commit(marks)
        } catch {
            markFailure = error
        }
    }
}
