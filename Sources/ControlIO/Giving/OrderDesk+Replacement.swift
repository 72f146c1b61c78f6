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
    /// - Returns: the categories it goes to; empty if nothing of the story was taken, so that nothing is written.
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
        guard let record = replacement.record(text, for: order, environment: environment) else { return [] }
        try store(record)
        return replacement.reach
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
