import EditorialControl
import NewsModel

/// The control topic as it stands on the broker: one partition, compacted.
struct ControlLog {
    /// In ascending order of offsets; gaps are what compaction took.
    private(set) var rows: [Row] = []
    private(set) var end: Int64 = 0

    struct Row {
        /// With its offset and the time at which it came to stand.
        var record: SourceRecord
        /// What it means; `nil` for garbage.
        var meaning: ControlRecord?
        var offset: Int64 { record.offset }
        var at: Instant { record.timestamp ?? .distantPast }
    }

    mutating func append(key: [UInt8]?, value: [UInt8]?, at: Instant) -> Row {
        let record = SourceRecord(offset: end, timestamp: at, key: key, value: value)
        let row = Row(record: record, meaning: ControlRecord.read(record).record)
        rows.append(row)
        end += 1
        return row
    }

    func rows(from offset: Int64) -> ArraySlice<Row> {
        rows[(rows.lastIndex { $0.offset < offset }.map { $0 + 1 } ?? 0)...]
    }

    /// The scopes of orders behind which there is garbage under the same key.
    var hiddenOrders: [ControlScope] {
        var newest: [[UInt8]: Row] = [:]
        for row in rows { newest[row.record.key ?? []] = row }
        return newest.values.compactMap { ControlRecord.read($0.record).hidden }.sorted { $0.key < $1.key }
    }

    /// Only the newest row of each key stays, a tombstone among them only as long as it is new.
    ///
    /// - Returns: `true` if something went.
    mutating func compact(tombstonesBefore time: Instant) -> Bool {
        var seen: Set<[UInt8]> = []
        var kept: [Row] = []
        for row in rows.reversed() where seen.insert(row.record.key ?? []).inserted {
            if row.record.hasValue || row.at >= time || row.offset == end - 1 { kept.append(row) }
        }
        guard kept.count < rows.count else { return false }
        rows = kept.reversed()
        return true
    }
}
