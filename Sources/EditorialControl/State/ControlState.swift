public import KafkaModel
public import NewsModel

/// One process's decisions about the control topic: which orders are in force, whether they are known, and what to write.
///
/// The topic is read from its beginning, then followed. A process writes its first beat and reads until it sees that beat. Then
/// it has read every order acknowledged before its beat was visible. Therefore, anyone who gives an order and then reads the
/// topic to its end knows all processes that must apply the order.
///
/// A plain value: inputs in, actions out. Its memory is bounded, whatever the topic holds.
public struct ControlState: Sendable {
    public struct Settings: Sendable, Hashable {
        /// Names this process on beats and in the audit; `nil` for a process that only reads.
        public var replica: String?
        /// Number of answers that an order gets in this process: one from each shard.
        public var shards: Int
        /// The process's hub and the environment it serves; `nil` if the settings have no environment.
        public var environment: HubEnvironment?
        /// The description on this process's beats.
        public var process: ControlRecord.ProcessDescription?
        /// The group's held topic.
        public var heldTopic = ""
        /// Duration of silence on the topic that raises an alarm.
        public var staleAfter = Duration.seconds(60)
        public var onStale = OnStale.continue
        /// True if the hub's time reaches this process as `Input.hubTime`. No order lapses then by our clock alone: the hub or
        /// another living process must support the time.
        public var asksHubForTime = false

        public init(replica: String?, shards: Int, environment: HubEnvironment? = nil) {
            self.replica = replica
            self.shards = shards
            self.environment = environment
        }
    }

    /// The policy for a control topic that has been silent for too long or never existed.
    public enum OnStale: String, Sendable, Hashable, CaseIterable {
        /// Continues to send by the last known orders, or without orders if the topic does not exist.
        case `continue`
        /// Sends nothing until the topic can be read again.
        case stop
    }

    public enum AuditTopic: Sendable, Hashable {
        case there, missing
        /// This user may not see the topic, which may exist.
        case refused(KafkaFailure)
    }

    public enum Input: Sendable {
        /// Reading has begun at the start of the topic, for the first time or again.
        ///
        /// - Parameters:
        ///   - reading: number of the last `reread` that preceded the request for the topic's end; 0 without one.
        ///   - start: the first offset of the topic. Above 0, records were removed before it.
        case began(reading: UInt64, start: Int64)
        /// Records in topic order, including our own writes.
        case records([SourceRecord])
        /// Every record present on the topic when reading began has been delivered.
        case reachedEnd
        /// An open transaction hides records of the topic, possibly orders, or has stopped doing so. The reader reports it after
        /// a moment without records.
        case heldUp(Bool)
        /// The topic cannot be read at present. The reader retries.
        case unreadable(KafkaFailure)
        /// The topic does not exist.
        case missing
        case audit(AuditTopic)
        case written(WriteID)
        case notWritten(WriteID, KafkaFailure)
        /// A shard's answer to one change of `Action.tell`.
        case applied(AppliedOrder, shard: ShardID)
        /// The process stood still. The shard sends nothing until `Action.confirmed` returns this number, which follows every
        /// order that is on the topic now.
        case confirm(UInt64, shard: ShardID)
        /// An event recalls its story. The shard that read the event obeys already.
        case recalled(EventRecall)
        /// A reply of the hub at that monotonic time had this `Date`.
        case hubTime(Moment)
        /// The content of the held topic; `nil` while that is unknown.
        case held(HeldTotals?)
        /// Arrives at least once a second.
        case tick
        /// The process is shutting down.
        case drain
    }

    public enum Action: Sendable, Hashable {
        /// Tells every shard these changes, in order. Each shard answers each change with `applied`.
        case tell([OrderChange])
        /// Tells every shard that events' recalls of these stories are on the topic, or never will be. Every `Input.recalled` is
        /// answered this way.
        case settled([String])
        /// Tells the shards whether the orders in force are known. If not, they may send nothing.
        case known(Bool)
        /// Writes to the control topic. Answered with `written` or `notWritten`, possibly only when the brokers are back.
        case write(WriteID, ControlRecord)
        /// Writes to the audit topic. Answered in the same way as `write`.
        case audit(WriteID, AuditEntry)
        /// Reads the topic from its beginning. Answered with `began`, `missing` or `unreadable`.
        case reread(reading: UInt64)
        /// The content of the held topic at some time before the start, according to the control topic. Follows the first reading of
        /// the control topic, or the report that this topic is missing.
        case formerlyHeld(HeldTotals?)
        /// Tells the shard that it has received all orders that were on the topic when it asked.
        case confirmed(UInt64, shard: ShardID)
        /// Writes a line to the log.
        case note(ControlNote)
        /// After `drain`, reports that all writes were answered.
        case finished
    }

    /// Identifies a write until it is answered.
    public struct WriteID: Sendable, Hashable {
        public var number: UInt64
        public init(_ number: UInt64) { self.number = number }
    }

    let settings: Settings
    var phase = Phase.waiting(nil)
    /// Orders in force in this process, as told to the shards.
    var standing = StandingOrders()
    /// True after the topic was read to its end once.
    var hasRead = false
    /// Offset of the last record that takes effect here; `nil` before the topic was read to its end.
    var readTo: Int64?
    /// True once the orders were known, or once the topic was missing and `onStale` lets sending continue. From then on, the
    /// last orders read stay in force while the topic cannot be read.
    var hasKnown = false
    /// Number of requests to read the topic again.
    var readings: UInt64 = 0
    /// Shards that wait for confirmation that they have every order.
    var confirmations: [Confirmation] = []
    /// The last `known` action sent to the shards.
    var isKnown = false
    /// True once `isKnown` was true.
    var hasSent = false
    var environments = HubEnvironments()
    /// `nil` until the audit topic was looked up.
    var auditTopic: AuditTopic?
    /// True once the audit topic existed.
    var hadAudit = false
    /// Time of the last line about our start, by the monotonic clock; `nil` if the topic was not there since.
    var auditProbedAt: Instant?
    var isDraining = false
    var hasFinished = false

    /// Start of the open transaction that hides records of the topic.
    var heldUpSince: Instant?
    var silence = Silence()
    /// Clock for lapses: see `lapseClock`.
    var clock = WallClock()
    var beats = Beats()
    /// Recalls given by events before the orders were known.
    var early: [EventRecall] = []
    /// Orders in force that are missing on the topic: recalls by events, orders whose ends they put off, and orders lost when the topic
    /// was deleted.
    var owed: [ControlScope: OwedOrder] = [:]
    /// Our own orders that the brokers have stored and that were not read back yet.
    var unread: [ControlScope: Order] = [:]
    /// Events' recalls of stories that others had recalled before. Each takes effect when that order ends, unless both were
    /// lifted.
    var covered: [ControlScope: Order] = [:]
    /// The stories for `Action.settled`, collected while an input is handled.
    var settledRecalls: [String] = []
    var lifts = RecentLifts()
    var waiting = WaitingOrders()
    var missing = MissingOrders()
    /// Time of the last reading that searched for dropped orders.
    var searchedAt: Instant?
    /// Lapsed orders whose records are still on the topic.
    var lapsed = LapsedOrders()
    var answers = PendingAnswers()
    var writes = OpenWrites()
    var heldTotals = HeldTotalsOnTopic()
    /// Invalid records among those read.
    var unreadable = UnreadableRecords()
    var counts = ControlStatus.Counts()
    /// Time of the last recall by an event without room, by the monotonic clock.
    var unorderedAt: Instant?
    var actions: [Action] = []

    struct Confirmation: Sendable {
        var number: UInt64
        var shard: ShardID
        /// The first reading that includes every order the shard must know.
        var reading: UInt64
    }

    enum Phase: Sendable {
        /// The topic is not being read.
        case waiting(Obstacle?)
        /// The topic is being read from its beginning to the end it had then.
        case reading(FreshReading)
        case following
    }

    /// The reason why the topic is not being read.
    public enum Obstacle: Sendable, Hashable {
        case missing
        case unreadable(KafkaFailure)
    }

    public init(_ settings: Settings) {
        self.settings = settings
    }

    /// - Returns: the actions in the order in which they must be carried out.
    public mutating func handle(_ input: Input, at now: Moment) -> [Action] {
        if let step = clock.look(now) { note(.clockStepped(step)) }
        switch input {
        case .began(let reading, let start):
            missing.begin(start: start)
            begin(reading, now)
        case .records(let records): for record in records { take(record, now) }
        case .reachedEnd: reachEnd(now)
        case .heldUp(let isHeldUp): heldUpSince = isHeldUp ? heldUpSince ?? now.steady : nil
        case .unreadable(let failure): interrupt(.unreadable(failure), now)
        case .missing: interrupt(.missing, now)
        case .audit(let found):
            auditTopic = found
            hadAudit = hadAudit || found == .there
            if found != .there { auditProbedAt = nil }
            probeAudit(now)
        case .written(let id): written(id, nil, now)
        case .notWritten(let id, let failure): written(id, failure, now)
        case .applied(let applied, let shard): answered(applied, shard, now)
        case .confirm(let number, let shard): confirm(number, shard, now)
        case .recalled(let recall): take(recall, now)
        case .hubTime(let hub): clock.hear(hub: hub)
        case .held(let totals): heldTotals.ours = totals
        case .tick: keepUp(now)
        case .drain: drain()
        }
        tellWhetherKnown(now)
        if !settledRecalls.isEmpty {
            actions.append(.settled(settledRecalls))
            settledRecalls = []
        }
        if isDraining, writes.isEmpty, !hasFinished {
            hasFinished = true
            actions.append(.finished)
        }
        defer { actions = [] }
        return actions
    }

    private mutating func tellWhetherKnown(_ now: Moment) {
        if !hasKnown, hasRead && isHeard && !mayLackOrders(now) || doesWithoutTopic {
            hasKnown = true
            if missing.areGivenUp(known: standing.count) { note(.ordersMissing) }
            let waiting = early
            early = []
            for recall in waiting { take(recall, now) }
        }
        let knows =
            hasKnown && contradiction == nil && !unreadable.hasUnknownOrders
            && (settings.onStale == .continue || !silence.isStale && isHeard)
        guard knows != isKnown else { return }
        isKnown = knows
        hasSent = hasSent || knows
        actions.append(.known(knows))
    }

    /// True if this process waits for orders that running processes obey and that the topic has lost.
    func mayLackOrders(_ now: Moment) -> Bool {
        missing.mayBe(now, beats.others(than: settings.replica))
    }

    /// True if senders of orders know that they must wait for us. A process that only reads needs no such beat.
    var isHeard: Bool { beats.isSeen || settings.replica == nil }

    /// True if the topic is missing, so that nothing will be written soon.
    var isMissing: Bool { if case .waiting(.missing) = phase { true } else { false } }

    /// True if the topic has been missing since the start and that may not stop sending. A deleted topic may have held orders
    /// that this process cannot know; `onStale: stop` is for users who want to send nothing in that case.
    private var doesWithoutTopic: Bool { isMissing && !hasRead && settings.onStale == .continue }

    /// True if actions are written to the audit topic.
    var hasAudit: Bool { auditTopic == nil || auditTopic == .there }

    /// The environment that the control topic names for our hub if our settings say something else; otherwise `nil`.
    var contradiction: HubEnvironment? {
        guard settings.replica != nil,
            case .disagreed(_, let theirs) = environments.agreement(with: settings.environment)
        else { return nil }
        return theirs
    }

    mutating func note(_ note: ControlNote) { actions.append(.note(note)) }
}
