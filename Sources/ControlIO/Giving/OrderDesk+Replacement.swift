import ByteText
public import EditorialControl
import Foundation
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
    ///   - inFlight: requests that were under way when it came: their outcomes are waited for.
    ///   - patience: for these.
    /// - Returns: the categories it goes to, and `Replacement.singleReaders` if it goes to such; empty if nothing of the story was
    ///   taken, so that nothing is written.
    public func replace(
        _ text: String, for order: Order, results topic: String, inFlight: Int, environment: String?,
        patience: Duration = .seconds(10)
    ) throws(KafkaFailure) -> [String] {
        guard case .recall(let story) = order.scope else { return [] }
        var replacement = Replacement(story: story)
        var needle: [UInt8] = []
        JSONEscaping.append(story, to: &needle)
        let reader = try TopicReader(
            settings: settings, topic: topic, from: .time(order.at - Order.recallLasts), follow: true)
        let deadline = now().steady + patience
        while !reader.isAtEnd || (replacement.lateOutcomes < inFlight && now().steady < deadline) {
            for read in try reader.next(timeout: .milliseconds(200)) {
                // Most results are told apart without being read as JSON.
                guard let value = read.record.value, value.contains(needle),
                    let result = try? ResultRecord(decoding: value)
                else { continue }
                replacement.take(result)
            }
        }
        if let record = replacement.record(text, for: order, environment: environment) { try store(record) }
        try replaceForSingleReaders(text, order, &replacement, environment, until: now().steady + patience)
        return replacement.reach
    }

    /// Only the originals say who they are.
    private func replaceForSingleReaders(
        _ text: String, _ order: Order, _ replacement: inout Replacement, _ environment: String?,
        until deadline: Instant
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
                    if let record { try store(record) }
                }
            }
        }
    }
}

extension [UInt8] {
    /// The bytes stand somewhere in it, one after the other.
    fileprivate func contains(_ needle: [UInt8]) -> Bool {
        guard count >= needle.count else { return false }
        return withUnsafeBytes { hay in
            needle.withUnsafeBytes { needle in
                guard let start = hay.baseAddress, let wanted = needle.baseAddress, let first = needle.first else {
                    return true
                }
                let last = hay.count - needle.count
                var index = 0
                while index <= last, let found = memchr(start + index, Int32(first), last - index + 1) {
                    if memcmp(found, wanted, needle.count) == 0 { return true }
                    index = start.distance(to: UnsafeRawPointer(found)) + 1
                }
                return false
            }
        }
    }
}
