import KafkaModel
import NewsModel

/// One incarnation of a partition in the hands of one engine, from the assignment it took to the moment it gave it up.
struct Ownership {
    var address: Address
    var lane: Int
    var generation: Generation
    var partition: TopicPartition
    var beganAt: Instant
    /// It follows another one that has finished the former incarnation.
    var hasRewound = false
    /// The ledger was read: requests may leave.
    var isRestored = false
    /// More of the ledger is read than there was room for at once: for the records from this offset on.
    var readsOnFrom: Int64?
    /// Offsets of the results that were read back for it and settle a delivery.
    var known: Set<Int64> = []
    /// Offsets of all results that were read back for it.
    var seen: Set<Int64> = []
    /// By offset: the items that the results which settle a delivery are about.
    var settled: [Int64: Set<Int>] = [:]
    /// By offset: the record handed to the engine.
    var taken: [Int64: Int] = [:]
    /// Its engine was told that the partition's offsets start again.
    var isEnding = false
    /// By the process's monotonic clock.
    var revokedAt: Instant?
    var end: End?

    enum End {
        /// Given up after everything under way was finished.
        case released
        /// Given up with something still under way, because the deadline had passed.
        case overdue
        case lost
        case died
        /// The driver gave it up before the engine did.
        case replaced
        /// The former incarnation is finished; another ownership follows.
        case rewound
    }

    /// Its engine knows a result: its own, or one it read back.
    func knows(_ result: GroundTruth.StoredResult, as number: Int) -> Bool {
        result.ownership == number || known.contains(result.offset)
    }

    /// Like `knows`, results that only help to recognize duplicates included.
    func hasSeen(_ result: GroundTruth.StoredResult, as number: Int) -> Bool {
        result.ownership == number || seen.contains(result.offset)
    }
}
