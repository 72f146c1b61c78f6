public import EditorialControl
public import KafkaIO
public import KafkaModel
public import NewsModel

/// Reads the held topic to its present end. Its call blocks.
public enum HeldReading {
    /// - Parameter categories: the categories of an original from a topic; `nil` to leave originals unread.
    /// - Returns: the events on the topic; if stopped early, those read by then.
    /// - Throws: an error if the topic is missing or cannot be read.
    public static func all(
        _ settings: KafkaSettings, topic: String, categories: ((SourceRecord, String) -> [String])? = nil,
        isStopped: () -> Bool = { false }
    ) throws(KafkaFailure) -> HeldTable {
        let reader: TableReader
        do throws(KafkaFailure) {
            reader = try TableReader(
                settings: settings, topic: topic, admin: KafkaAdmin(settings: settings), hasValues: categories != nil)
        } catch {
            throw error.code == "UNKNOWN_TOPIC_OR_PART" ? KafkaFailure.missing(topic: topic) : error
        }
        var table = HeldTable()
        var ended: Set<Int32> = []
        while ended.count < reader.partitionCount, !isStopped() {
            for event in try reader.next(timeout: .milliseconds(500)) {
                switch event {
                case .rows(let partition, let rows):
                    for row in rows { table.apply(row, of: partition, categories) }
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
        _ row: TableReader.Row, of partition: Int32, _ categories: ((SourceRecord, String) -> [String])?
    ) {
        let record = SourceRecord(
            offset: row.offset, timestamp: row.timestamp, key: row.key, value: row.value, headers: row.headers)
        let reading = HeldRecord.read(key: row.key, hasValue: row.hasValue, headers: row.headers)
        var names: [String] = []
        if case .held(let event, _) = reading, row.value != nil {
            names = categories?(record, event.source.partition.topic) ?? []
        }
        let run = row.headers.last { $0.name == HeaderName.run }?.text
        apply(reading, at: HeldPlace(partition, row.offset), categories: names, run: run)
    }
}
