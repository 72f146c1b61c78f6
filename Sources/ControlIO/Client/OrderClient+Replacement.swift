public import EditorialControl
import KafkaIO
public import KafkaModel
public import NewsModel

/// Replacement of a recalled story on phones.
extension OrderClient {
    /// Reads the story's results, and writes one quiet event in its place if the hub accepted any of it. The results are those of one
    /// consumer group, and its readers alone get the event.
    ///
    /// - Parameters:
    ///   - text: the text that readers see instead.
    ///   - order: the recall, which is in force.
    ///   - lanes: the topics of all lanes, the most urgent first.
    ///   - inFlight: number of requests whose results may still follow, from the answers to the recall. They are waited for, like
    ///     those of `newswire send`.
    ///   - decoders: the formats of the originals.
    ///   - patience: the longest wait for these results.
    /// - Returns: the readers and the topics of the replacement; both are empty if nothing was written, which includes the case that
    ///   the recall is not in force any more.
    /// - Throws: an error if Kafka fails, or if an open transaction hides results. Nothing was written for the hidden ones.
    public func replace(
        _ text: String, for order: Order, results topic: String, lanes: [String], inFlight: Int, environment: String?,
        decoders: DecoderFactory = DecoderFactory(), patience: Duration = .seconds(10)
    ) throws(KafkaFailure) -> WrittenReplacement {
        var written = WrittenReplacement()
        written.otherGroups = view.groups(besides: settings.group)
        guard case .recall(let story) = order.scope else { return written }
        let since = earliest(order.at)
        var replacement = Replacement(
            story: story, topics: lanes, at: latest(order.at), recalledAt: since, group: settings.group,
            sends: try announcedSends(of: story))
        let results = NamedResults(story)
        let reader = try TopicReader(
            settings: settings, topic: topic, from: .time(since - Order.recallLasts), follow: true, end: .highWatermark)
        replacement.lacksResults = reader.mayLackRecords
        func receive(_ read: TopicReader.ReadRecord) {
            guard let result = results.result(in: read.record) else { return }
            // The reader was created after the answers, so a result behind those ends was stored after the recall had arrived.
            replacement.apply(result, isNew: read.record.offset >= reader.endsThen[read.partition] ?? 0)
        }
        let deadline = now().steady + patience
        try reader.readToEnd(receive)
        while replacement.lateOutcomes < inFlight || replacement.sends.inFlight > 0, now().steady < deadline {
            for read in try reader.next(timeout: .milliseconds(200)) { receive(read) }
        }
        written.successor = try successor(of: order)
        if written.successor != nil { return written }
        for record in replacement.records(text, for: order, environment: environment) {
            try store(record, in: &written) { replacement.tags(in: $0.language) }
        }
        try replaceForSingleReaders(
            text, order, &replacement, environment, decoders.make(), &written, until: now().steady + patience)
        written.reach = replacement.reach
        written.doubtful = replacement.doubtful
        written.unsettled = max(inFlight - replacement.lateOutcomes, 0)
        if !written.topics.isEmpty { written.successor = try successor(of: order) }
        return written
    }

    /// Stores a replacement.
    ///
    /// - Parameters:
    ///   - written: the replacements that are stored already. This one is added.
    ///   - tags: returns the tags that the story went to.
    private func store(
        _ record: ProducedRecord, in written: inout WrittenReplacement, tags: (NewsEvent) -> Set<String> = { _ in [] }
    ) throws(KafkaFailure) {
        do {
            try store(record)
        } catch {
            guard mayHaveStored() || !written.topics.isEmpty else { throw error }
            var failure = error
            failure.detail += "; the replacement may be on \(record.topic) nevertheless"
            failure.remedy = "Look at newswire results before you recall the story again, which would replace it twice."
            throw failure
        }
        written.topics.insert(record.topic)
        guard let event = try? NewsDecoder().decode(SourceRecord(offset: 0, value: record.value)) else { return }
        written.events.append(.init(event: event, tags: tags(event)))
    }

    /// Returns the change that ended the order; `nil` if it is in force. Reads the control topic.
    private func successor(of order: Order) throws(KafkaFailure) -> OrderChange? {
        let standing = try ControlReading(settings, topics).view().orders[order.scope]
        if standing?.id == order.id { return nil }
        return standing.map { .stands($0) } ?? .lifted(order.scope)
    }

    /// Writes replacements for single readers, who are named only in the originals.
    private func replaceForSingleReaders(
        _ text: String, _ order: Order, _ replacement: inout Replacement, _ environment: String?,
        _ decoder: NewsDecoder, _ written: inout WrittenReplacement, until deadline: Instant
    ) throws(KafkaFailure) {
        let topics = Dictionary(grouping: replacement.originals, by: \.partition.topic)
        for (topic, sources) in topics.sorted(by: { $0.key < $1.key }) {
            let places = Dictionary(grouping: sources, by: \.partition.partition).mapValues {
                $0.map(\.offset).sorted()
            }
            let originals = try PlaceReader(settings: settings, topic: topic, partitions: places.count)
            try originals.begin(places)
            while !originals.isDone, now().steady < deadline {
                for event in try originals.next(timeout: .milliseconds(200)) {
                    guard case .found(let number, let original) = event else { continue }
                    let partition = TopicPartition(topic: topic, partition: number)
                    let record = replacement.record(
                        text, for: order, inPlaceOf: original, at: partition, environment: environment,
                        decoder: decoder)
                    guard let record else { continue }
                    try store(record, in: &written)
                }
            }
        }
    }
}
