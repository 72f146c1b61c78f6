public import KafkaModel
import NewsModel

extension TopicReader {
    /// A partition without a leader gives neither records nor an error.
    private static let patience = Duration.seconds(30)

    /// Reads up to the end that the topic had when the reader was created. Blocks until then.
    ///
    /// - Parameters:
    ///   - isStopped: returns true to stop before the end.
    ///   - receive: receives the records in order within each partition. If the reader follows, later ones may be among them.
    /// - Throws: an error if the topic cannot be read. If the reader reads to the high watermark, also an error if an open transaction
    ///   hides records for longer than `TransactionWait.longest`, or if nothing could be read for `patience`.
    public func readToEnd(
        isStopped: () -> Bool = { false }, _ receive: (ReadRecord) -> Void
    ) throws(KafkaFailure) {
        var wait = TransactionWait(topic: topic)
        var progressAt = ContinuousClock.now
        while !isAtEnd, !isStopped() {
            let records = try next(timeout: .milliseconds(20))
            for read in records { receive(read) }
            if !records.isEmpty || isHeldUp { progressAt = .now }
            guard ContinuousClock.now - progressAt < Self.patience else {
                throw KafkaFailure(
                    code: "_TIMED_OUT", isRetriable: true,
                    detail: "Topic \(topic) could not be read to its end: a partition may have no leader")
            }
            try note(records, in: &wait)
        }
    }

    /// Notes the records of the last read in a wait for open transactions.
    ///
    /// - Throws: an error if an open transaction has hidden records for too long.
    public func note(_ records: [ReadRecord], in wait: inout TransactionWait) throws(KafkaFailure) {
        let hasRead = records.contains { $0.record.offset < endsThen[$0.partition] ?? 0 }
        try wait.note(hasRead: hasRead, isHeldUp: isHeldUp, at: .now)
    }
}
