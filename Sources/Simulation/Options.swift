/// How wild the lives are: sizes, and how likely each kind of trouble is in one life, in percent. Every life draws its
/// own mix from its seed.
public struct Options: Sendable, Hashable {
    /// Records in one life.
    public var records = 20...120
    /// Processes of the group, each with one engine.
    public var processes = 1...3
    /// Partitions of every topic.
    public var partitions = 1...4
    /// Over how many seconds news arrives and faults begin.
    public var seconds = 5...40
    /// Simulated time after the last fault within which everything must be settled and committed.
    public var patience: Duration = .seconds(2 * 3600)

    /// How many spells of hub trouble a life has at most; each is of any kind.
    public var hubSpells = 0...5
    /// Chances in percent.
    public var crash = 50
    public var drain = 35
    public var rebalance = 40
    public var expel = 30
    public var freeze = 25
    public var clockJump = 20
    public var stalledResults = 25
    public var failingCommits = 25
    public var slowLedger = 25
    public var slowHub = 25
    public var pausedLane = 15
    public var refusedDeadLetters = 10
    public var impatientBridge = 15

    public init() {}

    /// The same news with nothing going wrong.
    public static let calm: Options = {
        var options = Options()
        options.hubSpells = 0...0
        options.crash = 0
        options.drain = 0
        options.rebalance = 0
        options.expel = 0
        options.freeze = 0
        options.clockJump = 0
        options.stalledResults = 0
        options.failingCommits = 0
        options.slowLedger = 0
        options.slowHub = 0
        options.pausedLane = 0
        options.refusedDeadLetters = 0
        options.impatientBridge = 0
        return options
    }()
}
