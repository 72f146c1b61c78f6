/// The bounds of lives: sizes, and the chance of each kind of fault per life in percent. Every life draws its own mix from its
/// seed.
public struct Options: Sendable, Hashable {
    /// Number of records in a life.
    public var records = 20...120
    /// Number of processes in the group, each with one engine.
    public var processes = 1...3
    /// Number of partitions of each lane's topics at the start.
    public var partitions = 1...4
    /// The seconds in which news arrives and faults begin.
    public var seconds = 5...40
    /// Simulated time after the last fault in which everything must be settled and committed.
    public var patience: Duration = .seconds(2 * 3600)

    /// Number of times that the hub has a fault of any kind.
    public var hubFaults = 0...5
    /// Chance in percent that all faults of a life affect other lanes than the most urgent one.
    public var oneLane = 12
    public var badMinute = 12
    public var crash = 50
    public var drain = 35
    public var rebalance = 40
    public var expel = 30
    public var freeze = 25
    public var wrongClock = 25
    public var clockStep = 25
    public var stalledResults = 15
    public var failingCommits = 25
    public var slowLedger = 20
    public var slowHub = 20
    public var connectionFaults = 50
    public var silentNetwork = 15
    public var poison = 15
    public var pausedLane = 15
    public var releasedLane = 50
    public var impatientDriver = 15
    public var recreatedTopic = 20
    public var cutBackPartition = 12
    public var grownTopic = 20
    public var unavailablePartition = 30
    public var retention = 15
    public var forgottenOffsets = 12
    public var refusedTopic = 12
    public var smallRecords = 10
    /// A control topic exists.
    public var controlTopic = 75
    /// Some editors give orders.
    public var orders = 50
    /// A recall that has lapsed is given again when its record is removed.
    public var renewals = 50
    public var controlAway = 20
    public var slowControl = 15
    public var compactedControl = 25
    /// An administrator removes the records of the control topic.
    public var truncatedControl = 10
    /// A process starts before the others have written removed orders again.
    public var startWithoutOrders = 50
    public var garbledControl = 10
    /// A held topic exists.
    public var heldTopic = 60
    public var compactedHeld = 15
    public var slowHeld = 40
    public var smallHeld = 10
    /// One category has quiet hours for some minutes.
    public var quietHours = 10
    /// The held topic is deleted and recreated.
    public var recreatedHeld = 10
    /// An administrator removes the records of the held topic.
    public var truncatedHeld = 10
    /// No process runs when the held topic is deleted.
    public var unattendedHeld = 30
    /// Nobody reads the log of a process.
    public var blockedLog = 15
    /// A transaction on the control topic stays open.
    public var openTransaction = 10
    /// A process is frozen for up to 90 seconds.
    public var longFreeze = 10
    /// A process starts alone with a clock that is days ahead while the hub does not answer.
    public var lonelyClock = 8
    /// Retention removes records from a source topic.
    public var sourceRetention = 10

    /// Some desks replace stories that they recall on phones, in native mode.
    public var replacements = 15
    /// A category is renamed while it is stopped, or is stopped soon after.
    public var renames = 15

    public init() {}
}
