/// The offsets and writers of recent records, at most one for each entry. Beyond a bound, the oldest are forgotten.
struct RecentRecords: Sendable, Hashable {
    private var places: [EntryHash: Place] = [:]
    private var newest: Int64 = -1

    private struct Place: Sendable, Hashable {
        var offset: Int64
        /// Hash of the writer, which takes less memory than its name.
        var writer: UInt64
    }

    /// Number of records that trimming leaves. Trimming begins at twice as many.
    private static let kept = 64

    /// Notes a record of the entry, unless an earlier one is noted.
    mutating func note(_ hash: EntryHash, at offset: Int64, by writer: String) {
        guard places[hash] == nil else { return }
        newest = max(newest, offset)
        places[hash] = Place(offset: offset, writer: StableHash.of(writer))
        guard places.count > 2 * Self.kept else { return }
        let oldest = places.sorted { $0.value.offset < $1.value.offset }.prefix(Self.kept)
        for (hash, _) in oldest { places[hash] = nil }
    }

    mutating func forget(_ hash: EntryHash) { places[hash] = nil }

    /// Returns true if the writer of `record` may not know the newest noted record.
    func haveGrown(sinceReadingOf record: EntryRecord) -> Bool { record.after.map { newest > $0 } ?? false }

    /// Returns true if the noted record of the entry follows the last one that the writer of `record` had read.
    func follows(_ hash: EntryHash, readingOf record: EntryRecord) -> Bool {
        guard let after = record.after, let place = places[hash] else { return false }
        return place.offset > after
    }

    /// Returns true if the writer of `record` did not know the noted record of the entry. A writer knows its own records
    /// before it reads them.
    func isUnknown(_ hash: EntryHash, toWriterOf record: EntryRecord) -> Bool {
        follows(hash, readingOf: record) && places[hash]?.writer != StableHash.of(record.writer)
    }
}
