import KafkaModel
import NewsModel

/// Results on the ledger for records of one partition that were not read again yet.
///
/// Bounded: beyond the capacity, the records with the lowest offsets are kept. After those were read again, more of the
/// ledger is read.
struct RestoredResults: Sendable {
    /// The end of the results partition when the ledger was read; `nil` before.
    private(set) var end: Int64?
    private var records: [Record: Settled] = [:]
    /// All results on the ledger for records below are known. A record at or above it waits until more is read.
    private(set) var horizon = Int64.max
    /// The first result for records at or above the horizon; `Int64.max` if there is no such result.
    private var firstDropped = Int64.max
    private(set) var reading: Reading?

    /// A further reading of the ledger, with its start and the last try's failure.
    struct Reading: Sendable {
        let since: Instant
        var failure: KafkaFailure?
        fileprivate var horizon = Int64.max
        fileprivate var firstDropped = Int64.max
    }

    /// A record on the ledger. The identity is needed because offsets repeat when a topic is recreated.
    private struct Record: Sendable, Hashable {
        var offset: Int64
        var identity: RecordIdentity
    }

    /// Deliveries of one record that the ledger knows as settled.
    struct Settled: Sendable {
        var platforms: UInt16 = 0
        /// The offset of the first of their results.
        var firstResult = Int64.max
        /// The platforms of those that ended as held.
        var held: UInt16 = 0
        /// An outcome after which older events of its story must not follow.
        var end: Outcome?

        fileprivate mutating func add(_ platform: Int, _ entry: LedgerEntry) {
            if entry.endsOlder { end = entry.outcome }
            platforms |= 1 << platform
            firstResult = min(firstResult, entry.offset)
            if entry.outcome == .held { held |= 1 << platform }
        }
    }

    var count: Int { records.count }

    /// The first of all results; `Int64.max` without results.
    var firstResult: Int64 {
        records.values.reduce(min(firstDropped, reading?.firstDropped ?? .max)) { min($0, $1.firstResult) }
    }

    /// - Parameter capacity: the maximum number of records, at least 2.
    mutating func learn(_ entry: LedgerEntry, platform: Int, capacity: Int) {
        let offset = entry.source.offset
        // Records below the horizon were handled before this reading.
        if reading != nil, offset < horizon { return }
        if offset >= reading?.horizon ?? horizon { return drop(from: nil, firstResult: entry.offset) }
        records[Record(offset: offset, identity: entry.identity), default: Settled()].add(platform, entry)
        guard records.count > capacity else { return }
        // Drops a quarter at once; otherwise an unordered ledger would be sorted for each result.
        let offsets = records.keys.map(\.offset).sorted()
        let lowest = offsets.first ?? 0
        let limit = max(offsets[offsets.count * 3 / 4], lowest < .max ? lowest + 1 : lowest)
        let dropped = records.filter { $0.key.offset >= limit }
        guard !dropped.isEmpty else { return }
        records = records.filter { $0.key.offset < limit }
        drop(from: limit, firstResult: dropped.values.reduce(.max) { min($0, $1.firstResult) })
    }

    private mutating func drop(from offset: Int64?, firstResult: Int64) {
        guard var reading else {
            horizon = offset ?? horizon
            firstDropped = min(firstDropped, firstResult)
            return
        }
        reading.horizon = offset ?? reading.horizon
        reading.firstDropped = min(reading.firstDropped, firstResult)
        self.reading = reading
    }

    /// The ledger was read to its end.
    mutating func finish(end: Int64) {
        self.end = end
        guard let reading else { return }
        (horizon, firstDropped) = (reading.horizon, reading.firstDropped)
        self.reading = nil
    }

    /// Starts reading the ledger for records from the horizon on, because all records below were read again.
    ///
    /// - Returns: the first offset of the results partition to read.
    mutating func readOn(at now: Instant) -> Int64 {
        records = [:]
        reading = Reading(since: now)
        return firstDropped
    }

    mutating func readingFailed(_ failure: KafkaFailure?) { reading?.failure = failure }

    /// Removes and returns the result of a record that is read again. Other records at its offset are history.
    ///
    /// - Parameter eventID: the id by which results of earlier versions name the record.
    mutating func remove(_ offset: Int64, _ identity: RecordIdentity, eventID: String?) -> Settled? {
        guard !records.isEmpty else { return nil }
        return records.removeValue(forKey: Record(offset: offset, identity: identity))
            ?? eventID.flatMap {
                records.removeValue(forKey: Record(offset: offset, identity: RecordIdentity(eventID: $0)))
            }
    }

    /// Drops results for records at or above the partition's end: they belong to a former incarnation.
    mutating func reachEnd(_ offset: Int64) {
        if !records.isEmpty { records = records.filter { $0.key.offset < offset } }
        if horizon >= offset, reading == nil { (horizon, firstDropped) = (.max, .max) }
    }

    /// Drops records below the low watermark, which are not read again. Later ones may yet be examined.
    mutating func prune(below lowWatermark: Int64?) {
        guard !records.isEmpty, let lowWatermark else { return }
        records = records.filter { $0.key.offset >= lowWatermark }
    }

    /// Forgets result offsets, because the results topic was recreated and its offsets start again.
    mutating func forgetResultOffsets() {
        if end != nil { end = 0 }
        if firstDropped < .max { firstDropped = 0 }
        records = records.mapValues { Settled(platforms: $0.platforms, held: $0.held, end: $0.end) }
    }
}
