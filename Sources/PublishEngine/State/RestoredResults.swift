import KafkaModel
import NewsModel

/// Results that the ledger has for records of one partition that are not read again yet.
///
/// Bounded: of more records than there is room for, those with the lowest offsets are kept. Once they have been read again, the
/// ledger is read on, for the next ones.
struct RestoredResults: Sendable {
    /// The end of its results partition when the ledger was read; `nil` before.
    private(set) var end: Int64?
    private var records: [Record: Settled] = [:]
    /// Records below are known as far as the ledger has them. One that is not must wait until the ledger was read on.
    private(set) var horizon = Int64.max
    /// The first result of those about records at or above the horizon; `Int64.max` for none.
    private var firstDropped = Int64.max
    private(set) var reading: Reading?

    /// The ledger is read on, since then, and why the last try failed.
    struct Reading: Sendable {
        let since: Instant
        var failure: KafkaFailure?
        fileprivate var horizon = Int64.max
        fileprivate var firstDropped = Int64.max
    }

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
    var firstResult: Int64 {
        records.values.reduce(min(firstDropped, reading?.firstDropped ?? .max)) { min($0, $1.firstResult) }
    }

    /// - Parameter capacity: of how many records it knows, at least 2.
    mutating func learn(_ entry: LedgerEntry, platform: Int, capacity: Int) {
        let offset = entry.source.offset
        // What it was before the ledger was read on is read again.
        if reading != nil, offset < horizon { return }
        if offset >= reading?.horizon ?? horizon { return drop(from: nil, firstResult: entry.offset) }
        records[Record(offset: offset, identity: entry.identity), default: Settled()].add(
            platform, result: entry.offset)
        guard records.count > capacity else { return }
        // A quarter at once: a ledger in no order at all would otherwise be sorted for each of its results.
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

    /// All records below the horizon were read again: what stands in the ledger about those from there on is needed now.
    ///
    /// - Returns: the offset of the results partition from which on it is to be read.
    mutating func readOn(at now: Instant) -> Int64 {
        records = [:]
        reading = Reading(since: now)
        return firstDropped
    }

    mutating func readingFailed(_ failure: KafkaFailure?) { reading?.failure = failure }

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
        if horizon >= offset, reading == nil { (horizon, firstDropped) = (.max, .max) }
    }

    /// Records below the low watermark will not come again. (Those between it and the position may yet be examined.)
    mutating func prune(below lowWatermark: Int64?) {
        guard !records.isEmpty, let lowWatermark else { return }
        records = records.filter { $0.key.offset >= lowWatermark }
    }

    /// The results topic was made anew: its offsets start again.
    mutating func forgetResultOffsets() {
        if end != nil { end = 0 }
        if firstDropped < .max { firstDropped = 0 }
        records = records.mapValues { Settled(platforms: $0.platforms) }
    }
}
