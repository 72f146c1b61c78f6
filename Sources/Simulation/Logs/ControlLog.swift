import EditorialControl
import NewsModel

/// The control topic on the broker: one compacted partition.
struct ControlLog {
    /// Rows in ascending order of offsets. Compaction leaves gaps.
    private(set) var rows: [Row] = []
    private(set) var end: Int64 = 0
    /// The offset up to which an administrator has removed the rows.
    private(set) var start: Int64 = 0

    struct Row {
        /// The record with its offset and the time at which it was appended.
        var record: SourceRecord
        /// The decoded record; `nil` if it is invalid.
        var meaning: ControlRecord?
        var offset: Int64 { record.offset }
        var at: Instant { record.timestamp ?? .distantPast }
    }

    mutating func append(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [], at: Instant) -> Row {
        let record = SourceRecord(
            offset: end, timestamp: at.asTimestamp, key: key, value: value, headers: headers)
        let row = Row(record: record, meaning: ControlRecord.read(record).record)
        rows.append(row)
        end += 1
        return row
    }

    func rows(from offset: Int64) -> ArraySlice<Row> {
        rows[(rows.lastIndex { $0.offset < offset }.map { $0 + 1 } ?? 0)...]
    }

    /// The order of this scope that stands on the topic.
    func order(_ scope: ControlScope) -> Order? {
        let row = rows.last { $0.record.key.map { $0.elementsEqual(scope.key.utf8) } ?? false }
        return if case .stands(let order)? = row?.meaning { order } else { nil }
    }

    /// The scopes of orders followed by an invalid record with the same key, or by the tombstone of an earlier order.
    var hiddenOrders: [ControlScope] {
        var newest: [[UInt8]: Row] = [:]
        for row in rows { newest[row.record.key ?? []] = row }
        return newest.values.compactMap { row in
            if case .lapsed(let scope, _, _)? = row.meaning { return standing(scope)?.scope }
            return ControlRecord.read(row.record).hidden
        }.sorted { $0.key < $1.key }
    }

    /// Removes all rows. The next offset stays.
    mutating func truncate() { (rows, start) = ([], end) }

    /// Removes all but the newest row of each key. A newest tombstone stays only while it is recent.
    ///
    /// - Returns: `true` if a row was removed.
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
