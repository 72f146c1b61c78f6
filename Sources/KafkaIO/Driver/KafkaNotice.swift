public import KafkaModel

/// Events of our clients that are not for an engine but for the log, the health and the metrics.
public enum KafkaNotice: Sendable {
    /// A fatal one ends the process; others pass, or come again.
    case error(KafkaFailure)
    /// A line of librdkafka's log; severities are those of syslog (3 is an error, 4 a warning).
    case log(severity: Int, text: String)
    /// `nil` is the producer.
    case statistics(lane: LaneID?, KafkaStatistics)
    /// The records that the broker refuses at present, each time they change; empty once all are stored.
    case refused([RefusedRecords.Reason])
    /// Everything has ended; the last notice, and no event follows it.
    case closed(lost: LostRecords)
}

/// Records that were handed to `produce` and never acknowledged: their deliveries are not settled, and come again.
public struct LostRecords: Sendable, Hashable {
    public var results = 0
    public var deadLetters = 0

    public init(results: Int = 0, deadLetters: Int = 0) {
        self.results = results
        self.deadLetters = deadLetters
    }

    public var isEmpty: Bool { results == 0 && deadLetters == 0 }
}
