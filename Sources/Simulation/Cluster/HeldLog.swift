import EditorialControl
import KafkaModel
import NewsModel

/// A partition of the held topic as it stands on the broker.
struct HeldLog {
    /// In ascending order of offsets; gaps are what compaction took.
    private(set) var rows: [Row] = []
    private(set) var end: Int64 = 0

    struct Row {
        /// With its offset and the time at which it came to stand.
        var record: SourceRecord
        var reading: HeldRecord.Reading
        /// The news behind it; `nil` for a tombstone.
        var item: Int?
        var offset: Int64 { record.offset }
    }

    @discardableResult
    mutating func append(_ produced: ProducedRecord, item: Int?, at: Instant) -> Row {
        let record = SourceRecord(
            offset: end, timestamp: at, key: produced.key, value: produced.value, headers: produced.headers)
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

    /// Of what is older than the topic's compaction lag, only the newest row of each key stays.
    ///
    /// - Returns: `true` if something went.
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
