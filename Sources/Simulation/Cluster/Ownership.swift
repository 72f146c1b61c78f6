import KafkaModel
import NewsModel

/// One engine's ownership of one incarnation of a partition, from the assignment to its end.
struct Ownership {
    var address: Address
    var lane: LaneID
    var generation: Generation
    var partition: TopicPartition
    var beganAt: Instant
    /// True if it follows an ownership that finished the former incarnation.
    var hasRewound = false
    /// True if the ledger was read, so that requests may leave.
    var isRestored = false
    /// The end of the ledger when it was read. A former owner may still store results behind it.
    var ledgerEnd = Int64.max
    /// First offset whose records need the rest of the ledger, if it had no room for all at once.
    var readsOnFrom: Int64?
    /// The results that were read back for it and settle a delivery: their records' offsets, by their own.
    var known: [Int64: Int64] = [:]
    /// Offsets of all results that were read back for it.
    var seen: Set<Int64> = []
    /// Items of the results that settle a delivery, by the results' offsets.
    var settled: [Int64: Set<Int>] = [:]
    /// The progress of deliveries that its former owner committed, as it was read with the ledger.
    var progress: [SendProgress] = []
    /// Records handed to the engine, by offset.
    var taken: [Int64: Int] = [:]
    /// True if its engine was told that the partition's offsets restart.
    var isEnding = false
    /// Time of its revocation by the process's monotonic clock.
    var revokedAt: Instant?
    var end: End?

    enum End {
        /// Released after all pending work was finished.
        case released
        /// Revoked with pending work after the deadline.
        case overdue
        case lost
        case died
        /// The driver revoked it before the engine released it.
        case replaced
        /// The former incarnation is finished; another ownership follows.
        case rewound
    }

    /// Returns true if its engine knows the result: its own, or one it read back.
    func knows(_ result: GroundTruth.StoredResult, as number: Int) -> Bool {
        result.ownership == number || known[result.offset] != nil
    }

    /// Returns true if its engine knows the result, including results that only help to recognize duplicates.
    func hasSeen(_ result: GroundTruth.StoredResult, as number: Int) -> Bool {
        result.ownership == number || result.partition == partition.partition && seen.contains(result.offset)
    }

    /// Returns true for a result that was stored after its ledger was read.
    func isLate(_ result: GroundTruth.StoredResult) -> Bool {
        result.partition == partition.partition && result.offset >= ledgerEnd
    }
}
