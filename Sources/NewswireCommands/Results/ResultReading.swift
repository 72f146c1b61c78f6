import KafkaIO
import KafkaModel
import NewsModel

/// Reads the results topic for people. Filters the results, and begins at a time or with the last few results.
struct ResultReading {
    struct Found {
        var result: ResultRecord
        /// The JSON text of the result on the topic.
        var json: [UInt8]
    }

    /// The outcomes to include; empty for all.
    var outcomes: Set<Outcome> = []
    /// The events to include; empty for all.
    var events: Set<String> = []
    /// The stories to include, by the keys that order their events; empty for all.
    var stories: Set<String> = []
    /// The earliest time of a record to include.
    var since: Instant?
    /// The time of a record from which on none is included.
    var until: Instant?
    /// The number of records that are not results.
    private(set) var unreadable = 0
    /// True if an open transaction hides results before the end of the topic.
    private(set) var isHeldUp = false

    private let kafka: KafkaSettings
    private let topic: String
    private let follow: Bool
    private let stop: StopFlag

    init(_ kafka: KafkaSettings, topic: String, follow: Bool, stop: StopFlag) {
        (self.kafka, self.topic, self.follow, self.stop) = (kafka, topic, follow, stop)
    }

    /// - Parameters:
    ///   - tail: the number of present results to show; `nil` for all.
    ///   - show: shows a result, and returns `false` to stop.
    ///   - isRead: returns `false` if nobody reads any more. Called while no result arrives.
    mutating func run<Failure: Error>(
        tail: Int?, show: (Found) throws(Failure) -> Bool, isRead: () -> Bool
    ) throws {
        let reader: TopicReader
        if let tail {
            let last: [Found]
            (reader, last) = try self.tail(tail)
            for found in last where try !show(found) { return }
        } else {
            reader = try open(since.map { .time($0) } ?? .beginning)
        }
        while !stop.isRaised, follow || !reader.isAtEnd {
            let records = try reader.next(timeout: .milliseconds(500))
            if records.isEmpty, !isRead() { return }
            for read in records {
                guard let found = wanted(read.record) else { continue }
                if try !show(found) { return }
            }
        }
        if !stop.isRaised { isHeldUp = reader.hasHiddenRecords() }
    }

    private func open(_ start: TopicReader.Start) throws(KafkaFailure) -> TopicReader {
        try TopicReader(settings: kafka, topic: topic, from: start, follow: follow)
    }

    /// The result of a record, if it passes the filters.
    private mutating func wanted(_ record: SourceRecord) -> Found? {
        guard let value = record.value, let result = try? ResultRecord(decoding: value) else {
            unreadable += 1
            return nil
        }
        let isWanted =
            (outcomes.isEmpty || outcomes.contains(result.outcome))
            && (events.isEmpty || result.eventID.map(events.contains) ?? false)
            && (stories.isEmpty || (result.story ?? result.eventID).map(stories.contains) ?? false)
            // The broker finds the first record that is late enough, but later records may have earlier times.
            && since.map { (record.timestamp ?? result.settledAt) >= $0 } ?? true
            && until.map { (record.timestamp ?? result.settledAt) < $0 } ?? true
        return isWanted ? Found(result: result, json: value) : nil
    }

    /// The factor by which the next attempt reads more records if filters leave too few.
    private static let growth: Int64 = 16

    /// The last results in the order of their times, and the reader that continues after them.
    private mutating func tail(_ count: Int) throws -> (TopicReader, [Found]) {
        var depth = Int64(max(count, 1))
        while true {
            unreadable = 0
            let reader = try open(since.map { .time($0) } ?? .last(depth))
            var last = LastResults(count)
            var counts: [TopicPartition: Int] = [:]
            while !reader.isAtEnd, !stop.isRaised {
                for read in try reader.next(timeout: .milliseconds(500)) {
                    guard let found = wanted(read.record) else { continue }
                    counts[read.partition, default: 0] += 1
                    last.add(found)
                }
            }
            // Each partition must have that many, because one partition may have all of the latest results.
            let isEnough = reader.shortened.allSatisfy { counts[$0, default: 0] >= count }
            if isEnough || since != nil || stop.isRaised { return (reader, last.inOrder) }
            depth = depth > .max / Self.growth ? .max : depth * Self.growth
        }
    }
}

/// The latest results of all that were added.
private struct LastResults {
    private let count: Int
    private var kept: [(number: Int, found: ResultReading.Found)] = []
    private var added = 0

    init(_ count: Int) { self.count = count }

    /// The results by time. Results of the same time are in the order in which they were added.
    var inOrder: [ResultReading.Found] { sorted.suffix(count).map(\.found) }

    private var sorted: [(number: Int, found: ResultReading.Found)] {
        kept.sorted { ($0.found.result.settledAt, $0.number) < ($1.found.result.settledAt, $1.number) }
    }

    mutating func add(_ found: ResultReading.Found) {
        kept.append((added, found))
        added += 1
        // Trims only now and then, so that sorting costs little.
        if kept.count >= count * 2 + 256 { kept = sorted.suffix(count) }
    }
}
