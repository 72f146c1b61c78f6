public import KafkaModel
import NewsModel

extension TopicReader {
    /// Reads up to the end that the topic had when the reader was created. Blocks until then.
    ///
    /// - Parameters:
    ///   - isStopped: returns true to stop before the end.
    ///   - receive: receives the records in order within each partition. If the reader follows, later ones may be among them.
    /// - Throws: an error if the topic cannot be read. If the reader reads to the high watermark, also an error if an open transaction
    ///   hides records for longer than `TransactionWait.longest`.
    public func readToEnd(
        isStopped: () -> Bool = { false }, _ receive: (ReadRecord) -> Void
    ) throws(KafkaFailure) {
        var wait = TransactionWait(topic: topic)
        while !isAtEnd, !isStopped() {
            let records = try next(timeout: .milliseconds(20))
            for read in records { receive(read) }
            let hasRead = records.contains { $0.record.offset < endsThen[$0.partition] ?? 0 }
            try wait.note(hasRead: hasRead, isHeldUp: isHeldUp, at: .now)
        }
    }
}
