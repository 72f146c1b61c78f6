import ByteText
package import KafkaIO
package import KafkaModel
package import NewsModel

/// The events of a run that are on its topic although a killed command could not record them.
///
/// Takes eight bytes per event. Identical events are counted separately.
package struct EventsOnTopic: Sendable {
    private var counts: [UInt64: Int] = [:]

    /// The precision of publishers' clocks and of brokers' search by time.
    private static let slack = Duration.seconds(2)

    package init() {}

    /// Reads the events that were written since a time. Blocks.
    ///
    /// - Throws: an error if the topic cannot be read.
    package init(
        _ settings: KafkaSettings, topic: String, run: String, since: Instant, stop: StopFlag
    ) throws(KafkaFailure) {
        let reader = try TopicReader(settings: settings, topic: topic, from: .time(since - Self.slack))
        while !reader.isAtEnd, !stop.isRaised {
            for read in try reader.next() where RunSource.run(of: read.record) == run {
                if let value = read.record.value { add(value) }
            }
        }
    }

    package mutating func add(_ value: [UInt8]) { counts[Self.hash(value), default: 0] += 1 }

    package var isEmpty: Bool { counts.isEmpty }

    /// Removes one copy of the event; `false` if it is not among them.
    package mutating func take(_ value: [UInt8]) -> Bool {
        let hash = Self.hash(value)
        guard let count = counts[hash] else { return false }
        counts[hash] = count > 1 ? count - 1 : nil
        return true
    }

    private static func hash(_ value: [UInt8]) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(value)
        return fingerprint.value
    }
}
