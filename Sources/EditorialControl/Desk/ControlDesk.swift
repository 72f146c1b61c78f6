public import KafkaModel
public import NewsModel

/// One process's decisions about the control topic: which orders are in force, whether they are known, what is written back.
///
/// The topic is read from its beginning, then followed. A process writes its first beat and reads until it has seen it: then it
/// knows every order that was acknowledged before anyone could know of the process. Whoever gives an order and then reads the
/// topic to its end therefore knows all processes that must apply it.
///
/// A plain value: inputs in, actions out. Bounded, whatever the topic holds.
public struct ControlDesk: Sendable {
    public struct Settings: Sendable, Hashable {
        /// Names this process on beats and in the audit; `nil` for one that only reads.
        public var replica: String?
        /// How many answers an order gets in this process.
        public var shards: Int
        /// The hub of this process and what it serves; `nil` without an environment in the settings.
        public var environment: HubEnvironment?
        /// Silence of the topic that raises an alarm.
        public var staleAfter = Duration.seconds(60)
        public var onStale = OnStale.continue
        /// No order lapses before `Input.hubTime`, or before the hub had `timeInquiryLasts` to tell the time.
        public var asksHubForTime = false

        public init(replica: String?, shards: Int, environment: HubEnvironment? = nil) {
            self.replica = replica
            self.shards = shards
            self.environment = environment
        }
    }

    /// The policy for a control topic that has been silent for too long, or that was never there.
    public enum OnStale: String, Sendable, Hashable, CaseIterable {
        /// Send on by the last orders known; by none, if there is no topic.
        case `continue`
        /// Send nothing until it can be read again.
        case stop
    }

    public enum AuditTopic: Sendable, Hashable {
        case there, missing
        /// It may well be there, but this user is not shown it.
        case refused(KafkaFailure)
    }

    public enum Input: Sendable {
        /// The topic is read from its beginning: for the first time, or again.
        ///
        /// - Parameter reading: that of the last `readAnew` which came before the end of the topic was asked for; 0 for none.
        case began(reading: UInt64)
        /// In order. Our own writes come back this way too.
        case records([SourceRecord])
        /// All that stood on the topic when reading began has been handed over.
        case reachedEnd
        /// An open transaction hides records of the topic, orders perhaps, or no longer does. Whoever reads says so after a moment
        /// without records.
        case heldUp(Bool)
        /// It cannot be read at present. Whoever reads tries again by itself.
        case unreadable(KafkaFailure)
        /// It does not exist.
        case missing
        case audit(AuditTopic)
        case written(WriteID)
        case notWritten(WriteID, KafkaFailure)
        /// A shard's answer to one change of `Action.tell`.
        case applied(AppliedOrder, shard: ShardID)
        /// The process stood still: a shard sends nothing until `Action.confirmed` with this number, behind every order that
        /// stands on the topic now.
        case confirm(UInt64, shard: ShardID)
        /// An event of the stream recalls its story. The shard that read it obeys already.
        case recalled(EventRecall)
        /// A reply of the hub at that monotonic time had this `Date`.
        case hubTime(Moment)
        /// Comes at least once a second.
        case tick
        /// The process ends.
        case drain
    }

    public enum Action: Sendable, Hashable {
        /// To every shard, in order; each answers each change with `applied`.
        case tell([OrderChange])
        /// To every shard: the recalls that events have given of these stories stand on the topic, or never will. Every
        /// `Input.recalled` is answered so.
        case settled([String])
        /// Whether the orders in force are known; if not, nothing may be sent.
        case known(Bool)
        /// To the control topic; answer with `written` or `notWritten`. An answer may take as long as brokers are away.
        case write(WriteID, ControlRecord)
        /// The same to the audit topic.
        case audit(WriteID, AuditEntry)
        /// Read the topic from its beginning: answer with `began`, `missing` or `unreadable`.
        case readAnew(reading: UInt64)
        /// To that shard: all orders that stood on the topic when it asked were told before.
        case confirmed(UInt64, shard: ShardID)
        /// For the log.
        case note(ControlNote)
        /// Nothing more is to be written after `drain`.
        case finished
    }

    /// Names a write until it is answered.
    public struct WriteID: Sendable, Hashable {
        public var number: UInt64
        public init(_ number: UInt64) { self.number = number }
    }

    let settings: Settings
    var phase = Phase.waiting(nil)
    /// In force here, as the shards were told.
    var standing = StandingOrders()
    /// All that stood on the topic was read once.
    var hasRead = false
    /// The offset of the last record whose meaning holds here; `nil` before the topic was read to its end.
    var readTo: Int64?
    /// Orders were known once, if only because there is no topic that could hold any and that is to hold up nothing. From then
    /// on what was read last holds while the topic cannot be read.
    var hasKnown = false
    /// Counts the times that the topic was asked to be read again.
    var readings: UInt64 = 0
    /// Shards that wait to hear which orders are in force.
    var confirmations: [Confirmation] = []
    /// The last word to the shards.
    var isKnown = false
    /// It was true once.
    var hasSent = false
    var environment: HubEnvironment?
    /// `nil` before anybody has looked.
    var auditTopic: AuditTopic?
    /// The audit topic was there once.
    var hadAudit = false
    var isDraining = false
    var hasFinished = false

    /// The time since which an open transaction hides records of the topic.
    var heldUpSince: Instant?
    var silence = Silence()
    /// Orders lapse by the embargo's clock: see `lapseClock`.
    var clock = WallClock()
    var startedAt: Instant?
    var beats = Beats()
    /// Recalls that events have given before orders were known.
    var early: [EventRecall] = []
    /// Orders in force that the topic does not have: of events, and those that went with a topic that was deleted.
    var owed: [ControlScope: OwedOrder] = [:]
    /// Recalls by events of what others had recalled before: they hold should those be lifted that they did not know of.
    var covered: [ControlScope: Order] = [:]
    /// The stories of `Action.settled`, while an input is handled.
    var settledRecalls: [String] = []
    var lifts = RecentLifts()
    var waiting = WaitingOrders()
    /// When the topic was read for those last.
    var searchedAt: Instant?
    /// Orders that have lapsed and still stand on the topic.
    var lapsed = LapsedOrders()
    var answers = PendingAnswers()
    var writes = OpenWrites()
    /// As far as was read.
    var unreadable = UnreadableRecords()
    var counts = ControlStatus.Counts()
    var actions: [Action] = []

    struct Confirmation: Sendable {
        var number: UInt64
        var shard: ShardID
        /// The first reading that tells.
        var reading: UInt64
    }

    enum Phase: Sendable {
        /// Not read at present.
        case waiting(Obstacle?)
        /// From the beginning, until all that stood there is handed over.
        case reading(FreshReading)
        case following
    }

    /// Why it is not read.
    public enum Obstacle: Sendable, Hashable {
        case missing
        case unreadable(KafkaFailure)
    }

    public init(_ settings: Settings) {
        self.settings = settings
    }

    /// - Returns: in the order in which they are to be carried out.
    public mutating func handle(_ input: Input, at now: Moment) -> [Action] {
        if let step = clock.look(now) { note(.clockStepped(step)) }
        startedAt = startedAt ?? now.steady
        switch input {
        case .began(let reading): begin(reading, now)
        case .records(let records): for record in records { take(record, now) }
        case .reachedEnd: reachEnd(now)
        case .heldUp(let isHeldUp): heldUpSince = isHeldUp ? heldUpSince ?? now.steady : nil
        case .unreadable(let failure): interrupt(.unreadable(failure), now)
        case .missing: interrupt(.missing, now)
        case .audit(let found):
            auditTopic = found
            hadAudit = hadAudit || found == .there
        case .written(let id): written(id, nil, now)
        case .notWritten(let id, let failure): written(id, failure, now)
        case .applied(let applied, let shard): answered(applied, shard, now)
        case .confirm(let number, let shard): confirm(number, shard, now)
        case .recalled(let recall): take(recall, now)
        case .hubTime(let hub): clock.hear(hub: hub)
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
        if !hasKnown, hasRead && isHeard || doesWithoutTopic {
            hasKnown = true
            let waiting = early
            early = []
            for recall in waiting { take(recall, now) }
        }
        let knows = hasKnown && !isElsewhere && (settings.onStale == .continue || !silence.isStale && isHeard)
        guard knows != isKnown else { return }
        isKnown = knows
        hasSent = hasSent || knows
        actions.append(.known(knows))
    }

    /// Whoever gives an order waits for us; nobody does for one that only reads.
    private var isHeard: Bool { beats.isSeen || settings.replica == nil }

    /// There is no topic, so nothing is going to be written soon.
    var isMissing: Bool { if case .waiting(.missing) = phase { true } else { false } }

    /// There has been no topic since the start, which holds up nothing. Others may know of orders that stood on one, and that we
    /// cannot know: whoever wants no news then says so.
    private var doesWithoutTopic: Bool { isMissing && !hasRead && settings.onStale == .continue }

    /// What is done is written down for those who look later.
    var hasAudit: Bool { auditTopic == nil || auditTopic == .there }

    /// The control topic says that our hub serves something else than our settings say.
    var isElsewhere: Bool {
        guard settings.replica != nil, let environment else { return false }
        return environment != settings.environment
    }

    mutating func note(_ note: ControlNote) { actions.append(.note(note)) }
}
