public import EditorialControl
public import KafkaIO
public import KafkaModel
public import NewsModel

/// Reads the held topic to its present end. Its call blocks.
public enum HeldReading {
    /// - Parameter content: decodes an original, or leaves it unread; `nil` to leave all unread.
    /// - Returns: the events on the topic; if stopped early, those read by then.
    /// - Throws: an error if the topic is missing or cannot be read.
    public static func all(
        _ settings: KafkaSettings, topic: String, content: ((SourceRecord, HeldEvent) -> HeldTable.Content?)? = nil,
        isStopped: () -> Bool = { false }
    ) throws(KafkaFailure) -> HeldTable {
        let reader: TableReader
        do throws(KafkaFailure) {
            reader = try TableReader(
                settings: settings, topic: topic, admin: KafkaAdmin(settings: settings), hasValues: content != nil)
        } catch {
            throw error.code == "UNKNOWN_TOPIC_OR_PART" ? KafkaFailure.missing(topic: topic) : error
        }
        var table = HeldTable()
        var ended: Set<Int32> = []
        while ended.count < reader.partitionCount, !isStopped() {
            for event in try reader.next(timeout: .milliseconds(500)) {
                switch event {
                case .rows(let partition, let rows):
                    for row in rows { table.apply(row, of: partition, content) }
                case .endReached(let partition, _): ended.insert(partition)
                case .failed(let failure): throw failure
                }
            }
        }
        return table
    }
}

extension HeldTable {
    fileprivate mutating func apply(
        _ row: TableReader.Row, of partition: Int32, _ content: ((SourceRecord, HeldEvent) -> Content?)?
    ) {
        let record = SourceRecord(
            offset: row.offset, timestamp: row.timestamp, key: row.key, value: row.value, headers: row.headers)
        let reading = HeldRecord.read(key: row.key, hasValue: row.hasValue, headers: row.headers)
        var decoded: Content?
        if case .held(let event, _) = reading, row.value != nil {
            decoded = content?(record, event)
        }
        func text(_ name: String) -> String? { row.headers.last { $0.name == name }?.text }
        apply(
            reading, at: HeldPlace(partition, row.offset), content: decoded, run: text(HeaderName.run),
            feed: text(HeaderName.feed))
    }
}
