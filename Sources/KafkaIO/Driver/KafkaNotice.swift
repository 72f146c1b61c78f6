public import KafkaModel
public import NewsModel

/// Events of the Kafka clients for the log, health and metrics.
public enum KafkaNotice: Sendable {
    /// An error. A fatal one ends the process; others may pass or recur.
    case error(KafkaFailure)
    /// A line of librdkafka's log, with syslog severities (3 is an error, 4 a warning).
    case log(severity: Int, text: String)
    /// Statistics of a lane's consumer; `nil` stands for the producer.
    case statistics(lane: LaneID?, KafkaStatistics)
    /// The reasons for records refused by the broker, after each change. Empty once all are stored.
    case refused([RefusedRecords.Reason])
    /// The partitions of a lane whose reading fails, after each change. Empty once all are read.
    case unreadable(LaneID, [TopicPartition: KafkaFailure])
    /// Everything has ended. No notice or event follows.
    case closed(lost: LostRecords)
}

/// Unacknowledged records given to `produce`. Their deliveries are not settled and are read again.
public struct LostRecords: Sendable, Hashable {
    public var results = 0
    public var deadLetters = 0

    public init(results: Int = 0, deadLetters: Int = 0) {
        self.results = results
        self.deadLetters = deadLetters
    }

    public var isEmpty: Bool { results == 0 && deadLetters == 0 }
}
