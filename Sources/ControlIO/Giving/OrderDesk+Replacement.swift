public import EditorialControl
import KafkaIO
public import KafkaModel
import NewsModel

/// Taking a recalled story's place on the phones.
extension OrderDesk {
    /// Reads what became of the story, and writes one quiet event in its place if the hub has taken any of it.
    ///
    /// - Parameters:
    ///   - text: what readers then see.
    ///   - order: the recall, which stands.
    ///   - lanes: the topics of all lanes, the most urgent first.
    ///   - inFlight: requests that were under way when it came: their outcomes are waited for.
    ///   - patience: for these.
    /// - Returns: its readers and its topics; none if the hub took nothing of the story, so that nothing is written.
    public func replace(
        _ text: String, for order: Order, results topic: String, lanes: [String], inFlight: Int, environment: String?,
        patience: Duration = .seconds(10)
    ) throws(KafkaFailure) -> WrittenReplacement {
        var written = WrittenReplacement()
        guard case .recall(let story) = order.scope else { return written }
        var replacement = Replacement(story: story, topics: lanes)
        let results = NamedResults(story)
        let reader = try TopicReader(
            settings: settings, topic: topic, from: .time(order.at - Order.recallLasts), follow: true)
        let deadline = now().steady + patience
        while !reader.isAtEnd || (replacement.lateOutcomes < inFlight && now().steady < deadline) {
            for read in try reader.next(timeout: .milliseconds(200)) {
                if let result = results.result(in: read.record) { replacement.take(result) }
            }
        }
        if let record = replacement.record(text, for: order, environment: environment) {
            try store(record)
            written.topics.insert(record.topic)
        }
        try replaceForSingleReaders(text, order, &replacement, environment, &written, until: now().steady + patience)
        written.reach = replacement.reach
        return written
    }

    /// Only the originals say who they are.
    private func replaceForSingleReaders(
        _ text: String, _ order: Order, _ replacement: inout Replacement, _ environment: String?,
        _ written: inout WrittenReplacement, until deadline: Instant
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
                        text, for: order, inPlaceOf: original, at: partition, environment: environment)
                    guard let record else { continue }
                    try store(record)
                    written.topics.insert(record.topic)
                }
            }
        }
    }
}

/// Where a replacement was written to.
public struct WrittenReplacement: Sendable, Hashable {
    /// The categories whose readers get it, and `Replacement.singleReaders` if such get it.
    public var reach: [String] = []
    /// The topics of its lanes.
    public var topics: Set<String> = []
}
