import HubModel
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// One process of the group: an engine and its Kafka driver. A class, because copying its many members for each occurrence took
/// a tenth of the simulation's time.
final class SimulatedProcess {
    var run = 0
    /// `nil` while the process is stopped.
    var engine: Engine?
    var pool = PoolState(SenderLimits(connections: 1))
    var connections: [ConnectionID: SimulatedConnection] = [:]
    /// The attempts whose results are awaited.
    var attempts: [RequestID: Int] = [:]
    /// Its monotonic clock minus the true time.
    var steadyOffset: Duration = .zero
    /// Its wall clock minus the true time. Restarts do not change it.
    var wallOffset: Duration = .zero
    /// The earliest time of the next question about removed records.
    var looksAtRemovalsFrom = Instant.distantPast
    var heardHubAt = Instant.distantPast
    /// True until the hub reports its time after the start, a clock step or a standstill. It is asked every ten seconds.
    var awaitsTime = true
    var askedHubAt = Instant.distantPast
    var frozenUntil = Instant.distantPast
    /// Start of a freeze that the process has not noticed.
    var frozenAt: Instant?
    var standstill = StandstillWatch()
    /// Occurrences that wait until the freeze ends, in order.
    var missed: [Occurrence] = []
    var mintedAt = Instant.distantPast
    var lanes: [LaneClient] = []
    var refused = RefusedRecords()
    /// The productions of the records in `refused`.
    var productions: [RefusedRecords.Key: Production] = [:]
    /// The ownerships known to the engine, by number.
    var ownerships: [Int] = []
    var alarm: (at: Instant, serial: Int)?
    var alarms = 0
    /// Times of the last input and command, so that inputs and commands keep their order.
    var postedUntil = Instant.distantPast
    var obeyedUntil = Instant.distantPast
    var isPolling = false
    /// Time at which the last record for each partition reaches the broker.
    var appendedUntil: [TopicPartition: Instant] = [:]
    /// Number of records in flight to the broker.
    var outstanding = 0
    var acknowledgements: [StoredRecord] = []
    var control: ControlClient?
    var held: HeldClient?
    var log = SimulatedLog()
    var isClosing = false
    /// Time at which an orderly shutdown stops waiting for the broker.
    var closesAt = Instant.distantFuture
    var returnsAfter: Duration = .zero

    /// Detects a standstill as the shell does: ten times a second while it runs, and before each input.
    ///
    /// - Returns: the duration of the standstill; `nil` without one.
    func lookForStandstill(_ now: Instant) -> Duration? {
        _ = standstill.look(frozenAt ?? now - .milliseconds(100))
        frozenAt = nil
        return standstill.look(now)
    }

    func moment(at now: Instant) -> Moment { Moment(steady: now + steadyOffset, wall: now + wallOffset) }
}

/// The driver's state as one lane's member of its consumer group.
struct LaneClient {
    var consumer: ConsumerState
    var ledger: LedgerState
    /// The generation of the group in which the partitions were assigned.
    var groupGeneration = -1
    var positions: [TopicPartition: FetchPosition] = [:]
    var hasLeft = false
    /// The next offsets of the partitions that the ledger's reader reads.
    var ledgerPositions: [TopicPartition: Int64] = [:]
    /// Number of the ledger reader's last scheduled turn. Earlier scheduled turns are skipped.
    var ledgerTurn = 0
    /// True while the reader waits for an answer.
    var isLocating = false

    /// The position at which reading a partition continues.
    struct FetchPosition {
        var offset: Int64
        var incarnation: Int
        /// True if the broker reported that the offset is out of range.
        var isOutOfRange = false
        /// True if the position is the group's committed offset and nothing was fetched yet.
        var wasCommitted = false
        var reportedEnd: Int64?
    }
}
