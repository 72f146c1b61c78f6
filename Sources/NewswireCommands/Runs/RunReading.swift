import KafkaIO
import KafkaModel
import NewsModel

/// Reads the lanes' topics and the results topic side by side, to their present ends or beyond. Calls block, and must come from
/// one thread at a time.
final class RunReading {
    private struct Source {
        let reader: TopicReader
        var wait: TransactionWait

        /// - Throws: an error if the topic cannot be read, or if an open transaction has hidden records for too long.
        mutating func next(timeout: Duration) throws(KafkaFailure) -> [TopicReader.ReadRecord] {
            let records = try reader.next(timeout: timeout)
            guard !reader.isAtEnd else { return records }
            try reader.note(records, in: &wait)
            return records
        }
    }

    private var sources: [Source]
    private let results: TopicReader
    /// The next offset of each partition of the lanes' topics.
    private var positions: [TopicPartition: Int64] = [:]
    /// Partitions whose records did not arrive in time, with their positions at that time.
    private var awaited: [TopicPartition: Int64] = [:]

    /// Maximum wait for a record, because its topic may have been recreated.
    private static let recordWait = Duration.seconds(5)

    /// - Parameters:
    ///   - lanes: the lanes' topics. Missing topics are left out.
    ///   - end: the kind of end to reach on the lanes' topics.
    ///   - transactionWait: the maximum wait for an open transaction that hides records before that end.
    /// - Throws: an error if the results topic does not exist or a topic cannot be read.
    init(
        _ kafka: KafkaSettings, lanes: [String], results: String, from start: TopicReader.Start = .beginning,
        follow: Bool, end: KafkaAdmin.End = .lastStable, transactionWait: Duration = TransactionWait.longest
    ) throws(KafkaFailure) {
        let counts = try KafkaAdmin(settings: kafka).partitionCounts(of: lanes + [results])
        guard counts[results] != nil else { throw KafkaFailure.missing(topic: results) }
        var sources: [Source] = []
        for topic in lanes where counts[topic] != nil {
            let reader = try TopicReader(settings: kafka, topic: topic, from: start, follow: follow, end: end)
            sources.append(Source(reader: reader, wait: TransactionWait(topic: topic, longest: transactionWait)))
        }
        self.sources = sources
        self.results = try TopicReader(settings: kafka, topic: results, from: start, follow: follow)
    }

    /// Partitions that end before the offset from which they should be read.
    var restarted: Set<TopicPartition> { sources.reduce(results.restarted) { $0.union($1.reader.restarted) } }

    /// True if everything that was on the lanes' topics at the start was read.
    var sourcesAtEnd: Bool { sources.allSatisfy(\.reader.isAtEnd) }

    /// True if everything that was on the results topic at the start was read.
    var resultsAtEnd: Bool { results.isAtEnd }

    /// The first offsets of the partitions of some lanes' topics that have lost their first records.
    func firstOffsets(of topics: Set<String>) -> [TopicPartition: Int64] {
        sources.reduce(into: [:]) { first, source in
            first.merge(source.reader.startsThen.filter { $1 > 0 && topics.contains($0.topic) }) { $1 }
        }
    }

    /// Returns true if an open transaction hides results, once all readable ones were read.
    func areResultsHidden() -> Bool { results.hasHiddenRecords() }

    /// Returns the topics that an open transaction hides records of, once all were read to their last stable offsets.
    func hiddenTopics() -> [String] {
        (sources.map(\.reader) + [results]).filter { $0.hasHiddenRecords() }.map(\.topic)
    }

    /// Reads records of the lanes' topics.
    ///
    /// - Parameter timeout: the wait for a topic whose end was not reached, if no topic has records.
    func nextSources(timeout: Duration) throws(KafkaFailure) -> [TopicReader.ReadRecord] {
        var records: [TopicReader.ReadRecord] = []
        for index in sources.indices { records += try sources[index].next(timeout: .zero) }
        // Must not wait for a quiet topic while another one has records.
        if records.isEmpty, timeout > .zero,
            let index = sources.firstIndex(where: { !$0.reader.isAtEnd }) ?? sources.indices.first
        {
            records = try sources[index].next(timeout: timeout)
        }
        for read in records { positions[read.partition] = read.record.offset + 1 }
        return records
    }

    func nextResults(timeout: Duration) throws(KafkaFailure) -> [TopicReader.ReadRecord] {
        try results.next(timeout: timeout)
    }

    /// Reads the lanes' topics beyond this place, if they reach that far. Their contents at the start were read before.
    func nextSources(beyond place: ResultRecord.Source) throws(KafkaFailure) -> [TopicReader.ReadRecord] {
        let partition = place.partition
        guard var position = position(of: partition), awaited[partition] != position else { return [] }
        var records: [TopicReader.ReadRecord] = []
        let deadline = ContinuousClock.now + Self.recordWait
        while position <= place.offset, deadline > .now {
            records += try nextSources(timeout: .milliseconds(20))
            position = self.position(of: partition) ?? 0
        }
        if position <= place.offset { awaited[partition] = position }
        return records
    }

    /// The position of a partition; `nil` if it is not read.
    private func position(of partition: TopicPartition) -> Int64? {
        if let position = positions[partition] { return position }
        return sources.lazy.compactMap { $0.reader.endsThen[partition] }.first
    }
}
