import EditorialControl
import KafkaModel
import NewsModel

/// A partition of the held topic on the broker.
struct HeldLog {
    /// Rows in ascending order of offsets. Compaction leaves gaps.
    private(set) var rows: [Row] = []
    private(set) var end: Int64 = 0

    struct Row {
        /// The record with its offset and the time at which it was appended.
        var record: SourceRecord
        var reading: HeldRecord.Reading
        /// The news in the record; `nil` for a tombstone.
        var item: Int?
        var offset: Int64 { record.offset }
    }

    @discardableResult
    mutating func append(_ produced: ProducedRecord, item: Int?, at: Instant) -> Row {
        let record = SourceRecord(
            offset: end, timestamp: at.asTimestamp, key: produced.key, value: produced.value, headers: produced.headers)
        let reading = HeldRecord.read(key: record.key, hasValue: record.hasValue, headers: record.headers)
        let row = Row(record: record, reading: reading, item: item)
        rows.append(row)
        end += 1
        return row
    }

    func rows(from offset: Int64) -> ArraySlice<Row> {
        rows[(rows.lastIndex { $0.offset < offset }.map { $0 + 1 } ?? 0)...]
    }

    func row(at offset: Int64) -> Row? { rows.last { $0.offset == offset } }

    /// Removes all rows. The next offset stays.
    mutating func truncate() { rows = [] }

    /// Removes all but the newest row of each key among those older than the topic's compaction lag.
    ///
    /// - Returns: `true` if a row was removed.
    mutating func compact(olderThan time: Instant) -> Bool {
        var seen: Set<[UInt8]> = []
        let kept = rows.reversed().filter { row in
            let isNewest = seen.insert(row.record.key ?? []).inserted
            return isNewest || (row.record.timestamp ?? .distantPast) > time
        }
        guard kept.count < rows.count else { return false }
        rows = kept.reversed()
        return true
    }
}
