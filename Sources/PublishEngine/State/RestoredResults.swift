import KafkaModel
import NewsModel

/// Results that the ledger has for records of one partition that are not read again yet.
struct RestoredResults: Sendable {
    /// The end of its results partition when the ledger was read; `nil` before.
    private(set) var end: Int64?
    private var records: [Record: Settled] = [:]

    /// A record that the ledger knows. Offsets alone come again when a topic is made anew.
    private struct Record: Sendable, Hashable {
        var offset: Int64
        var identity: RecordIdentity
    }

    /// Deliveries of one record that the ledger knows as settled.
    struct Settled: Sendable {
        /// As bits.
        var platforms: UInt16 = 0
        /// The offset of the first of their results.
        var firstResult = Int64.max

        fileprivate mutating func add(_ platform: Int, result offset: Int64) {
            platforms |= 1 << platform
            firstResult = min(firstResult, offset)
        }
    }

    var count: Int { records.count }

    /// The first result of them all; `Int64.max` for none.
    var firstResult: Int64 { records.values.reduce(.max) { min($0, $1.firstResult) } }

    mutating func learn(_ entry: LedgerEntry, platform: Int) {
        let record = Record(offset: entry.source.offset, identity: entry.identity)
        records[record, default: Settled()].add(platform, result: entry.offset)
    }

    /// The ledger was read to its end.
    mutating func finish(end: Int64) { self.end = end }

    /// Takes out what the ledger knows of a record that is read again. Other records that stood at its offset are history.
    ///
    /// - Parameter eventID: by which results of former versions name the record.
    mutating func take(_ offset: Int64, _ identity: RecordIdentity, eventID: String?) -> Settled? {
        guard !records.isEmpty else { return nil }
        return records.removeValue(forKey: Record(offset: offset, identity: identity))
            ?? eventID.flatMap {
                records.removeValue(forKey: Record(offset: offset, identity: RecordIdentity(eventID: $0)))
            }
    }

    /// No record stands at or above the partition's end: results that say so are about a former incarnation.
    mutating func reachEnd(_ offset: Int64) {
        if !records.isEmpty { records = records.filter { $0.key.offset < offset } }
    }

    /// Records below the low watermark will not come again. (Those between it and the position may yet be examined.)
    mutating func prune(below lowWatermark: Int64?) {
        guard !records.isEmpty, let lowWatermark else { return }
        records = records.filter { $0.key.offset >= lowWatermark }
    }

    /// The results topic was made anew: its offsets start again.
    mutating func forgetResultOffsets() {
        if end != nil { end = 0 }
        records = records.mapValues { Settled(platforms: $0.platforms) }
    }
}
