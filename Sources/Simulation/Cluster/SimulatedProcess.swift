import KafkaModel
import NewsModel
import PublishEngine

/// One process of the group: an engine, and the driver that speaks to Kafka for it.
struct SimulatedProcess {
    var run = 0
    /// `nil` while the process is away.
    var engine: Engine?
    /// Its monotonic clock, less the true time.
    var steadyOffset: Duration = .zero
    /// Its clock on the wall, less the true time. It outlives the process.
    var wallOffset: Duration = .zero
    /// Its clock was last set by more than a moment.
    var lastStep: ClockStep?
    var heardHubAt = Instant.distantPast
    var frozenUntil = Instant.distantPast
    /// When the freeze began that it has not noticed yet.
    var frozenAt: Instant?
    var standstill = StandstillWatch()
    /// Occurrences that wait for it to thaw, in order.
    var missed: [Occurrence] = []
    var mintedAt = Instant.distantPast
    var lanes: [LaneClient] = []
    var refused = RefusedRecords()
    /// The productions behind `refused`.
    var productions: [RefusedRecords.Key: Production] = [:]
    /// Partitions as the engine knows them.
    var ownerships: [Int] = []
    var alarm: (at: Instant, serial: Int)?
    var alarms = 0
    /// Inputs arrive in the order they were posted, commands in the order they were given.
    var postedUntil = Instant.distantPast
    var obeyedUntil = Instant.distantPast
    var isPolling = false
    /// When the last record for a partition reaches the broker.
    var appendedUntil: [TopicPartition: Instant] = [:]
    /// Records on their way to the broker.
    var outstanding = 0
    var acknowledgements: [StoredRecord] = []
    var control: ControlClient?
    var held: HeldClient?
    var isClosing = false
    /// When an orderly shutdown gives up waiting for the broker.
    var closesAt = Instant.distantFuture
    var returnsAfter: Duration = .zero

    struct ClockStep {
        var at: Instant
        var wallBefore: Instant
    }

    /// As the shell looks: ten times a second while it runs, and before each input.
    ///
    /// - Returns: for how long it stood still.
    mutating func lookForStandstill(_ now: Instant) -> Duration? {
        _ = standstill.look(frozenAt ?? now - .milliseconds(100))
        frozenAt = nil
        return standstill.look(now)
    }

    func moment(at now: Instant) -> Moment { Moment(steady: now + steadyOffset, wall: now + wallOffset) }
}

/// One lane's member of its consumer group, as the driver keeps it.
struct LaneClient {
    var consumer: ConsumerState
    var ledger: LedgerState
    /// In which the group gave the partitions.
    var groupGeneration = -1
    var positions: [TopicPartition: FetchPosition] = [:]
    var hasLeft = false
    /// The partitions that the ledger's reader is set to read.
    var ledgerPositions: [TopicPartition: Int64] = [:]
    /// Counts the turns of the ledger's reader: only the last one scheduled happens.
    var ledgerTurn = 0
    /// The reader waits for an answer.
    var isLocating = false

    /// The position from which a partition is read on.
    struct FetchPosition {
        var offset: Int64
        var incarnation: Int
        /// The broker says that the offset is out of range.
        var isOutOfRange = false
        /// The group committed the offset from which reading begins, and nothing was fetched yet.
        var wasCommitted = false
        /// The end that was reported last.
        var reportedEnd: Int64?
    }
}
