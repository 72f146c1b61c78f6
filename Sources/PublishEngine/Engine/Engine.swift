import ByteText
import EditorialControl
import KafkaModel
public import NewsModel

/// All decisions of one shard, as a plain value. Inputs come with their time; actions come out.
///
/// A record's way: `records` → examined (decoded, routed) → its deliveries join their story's queue → ready in their
/// lane → dispatched by pace and concurrency → `replies` → judged → settled → `stored` → committed.
public struct Engine {
    private(set) var settings: EngineSettings
    let decoder: NewsDecoder
    private(set) var rules: ContentRules
    var random: SeededRandom

    var lanes: [Lane]
    var partitions = PartitionTable()
    var stories = StoryQueues()
    var orders: OrdersInForce
    var held = HeldStories()
    /// The languages that are or were sent separately. Each has its own stories.
    private(set) var editions: [String]
    /// The number of records that were returned from the held topic as due and are settled.
    public internal(set) var returnsSettled = 0
    var inFlight = InFlightRequests()
    var pendingResults = PendingResults()

    var rate: EngineSettings.Rate?
    var bucket: TokenBucket?
    /// `nil` until the partition counts are known; without it nothing is sent at a limited rate.
    var share: TokenBucket.Share?
    /// The time at which the pace permits the next request; `nil` while nothing waits for the pace.
    var paceAt: Instant?
    /// The reason why the schema registry has not answered; `nil` without a failure since its last answer.
    var registryFailure: String?
    var hubPause = HubPause()
    /// The start and detail of the present run of hub failures; `nil` after any answer about an event.
    var hubFailure: (since: Instant, detail: String)?
    var outage = OutageDetector()
    var concurrency: ConcurrencyLimit
    var token = TokenEpoch()
    public internal(set) var halt: Halt?
    /// A standstill whose effects are not known yet; otherwise `nil`.
    var standstill: Standstill?
    /// The number of questions about the orders in force.
    var ordersAsked: UInt64 = 0
    var replacements = PendingReplacements()
    var shutdown = Shutdown.none
    /// The monotonic time of the next `alarm` if no other input comes. An early alarm is harmless.
    ///
    /// A stored property, because a computed property of a value inside an object would copy the value.
    public private(set) var wakeAt: Instant?
    var clock: WallClock
    var witnesses = ClockWitnesses()
    var inquiry = TimeInquiry.none

    enum Shutdown: Sendable, Hashable {
        case none
        /// No new sends; work in flight is finished until this time. Followed by `finished`.
        case draining(until: Instant)
        case finished
    }

    public init(
        settings: EngineSettings, decoder: NewsDecoder? = nil, rules: ContentRules, seed: UInt64
    ) {
        self.settings = settings
        self.decoder = decoder ?? NewsDecoder(formats: settings.formats)
        self.rules = rules
        editions = rules.router.editionCodes
        random = SeededRandom(seed: seed)
        lanes = settings.lanes.enumerated().map { Lane(LaneID($0), $1, floodGuard: settings.floodGuard) }
        orders = OrdersInForce(isAwaited: settings.awaitsOrders)
        rate = settings.rate
        concurrency = ConcurrencyLimit(maximum: settings.connections)
        clock = WallClock(asksHub: settings.asksHubForTime)
    }

    /// Handles one input and appends the resulting actions.
    public mutating func handle(_ input: Input, at moment: Moment, into actions: inout [Action]) {
        let step = clock.look(moment)
        if step != nil, inquiry == .over { inquiry = .none }
        var turn = Turn(moment, clock, witnesses)
        swap(&turn.actions, &actions)
        if let step { turn.actions.append(.clockStepped(by: step)) }
        take(input, &turn)
        if standstill != nil { endStandstill(&turn) }
        endTimeInquiry(turn)
        examine(&turn)
        dispatch(&turn)
        confirmReplacements(&turn)
        restartFinished(&turn)
        grant(&turn)
        commit(&turn)
        release(&turn)
        finishDrain(&turn)
        tidy()
        wakeAt = nextAlarm(turn)
        swap(&turn.actions, &actions)
    }

    private mutating func take(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .kafka(let event): take(event, &turn)
        case .replies(let settled): for request in settled { receive(request, &turn) }
        case .recalled(let given): if orders.recall(given.story) { recall(given, &turn) }
        case .orders(let changes): obey(changes, &turn)
        case .ordersKnown(let isKnown): orders.know(isKnown, at: turn.now)
        case .recallsSettled(let stories):
            for story in stories { settleRecall(of: story, &turn) }
        case .stoodStill: standStill(&turn)
        case .ordersConfirmed(let number): confirmOrders(number)
        case .keepsRecalls(let areKept): orders.areRecallsKept = areKept
        case .held(let stories): learn(stories, &turn)
        case .holdsBeyond(let time): settings.holdsBeyond = time
        case .pause(let lane): lanes[lane].isPaused = true
        case .resume(let lane): lanes[lane].isPaused = false
        case .release(let lane, let decision, let ends): release(lane, decision, upTo: ends)
        case .connections(let count): concurrency.change(maximum: count)
        case .reload(let reload): self.reload(reload, turn)
        case .keyChanged: useNewKey(&turn)
        case .hubDate(let date): hear(hub: date, &turn)
        case .schema(let id, let schema): learn(id, schema)
        case .registryFailed(let reason): registryFailure = reason
        case .alarm: break
        case .drain: drain(turn)
        }
    }

    private mutating func take(_ event: KafkaEvent, _ turn: inout Turn) {
        switch event {
        case .assigned(let lane, let generation, let partitions): assign(partitions, lane, generation, &turn)
        case .restored(let lane, let generation, let results, let entries, let end):
            restore(entries, end: end, of: results, lane, generation, &turn)
        case .restoreFailed(let lane, let generation, let results, let failure):
            restoreFailed(failure, of: results, lane, generation)
        case .records(let lane, let generation, let partition, let records):
            noteTimes(of: records, in: partition, lane, generation, &turn)
            receive(records, of: partition, lane, generation, &turn)
        case .endReached(let lane, let generation, let partition, let offset):
            reachEnd(offset, of: partition, lane, generation, &turn)
        case .restarted(let lane, let generation, let partition, let incarnation):
            finishIncarnation(of: partition, lane, generation, next: incarnation, turn.now)
        case .revoked(let lane, let generation, let partitions, let lost):
            revoke(partitions, lane, generation, lost: lost, turn)
        case .stored(let records):
            for record in records { acknowledge(record, &turn) }
        case .tooLargeToHold(let deliveries):
            for delivery in deliveries { keepHere(delivery, &turn) }
        case .committed(let lane, let generation, let offsets, let failure):
            finishCommit(lane, generation, offsets: offsets, failure: failure, turn)
        case .partitionCounts(let counts, let readIn): learn(counts, readIn: readIn, turn)
        }
    }

    private func nextAlarm(_ turn: Turn) -> Instant? {
        var earliest = paceAt ?? .distantFuture
        if awaitsTime { earliest = min(earliest, nextTimeInquiry) }
        if case .draining(let until) = shutdown { earliest = min(earliest, until) }
        if isRunning, !mayNotSend, let halt, halt.probe == nil { earliest = min(earliest, halt.probeAt) }
        let mayProbe = halt == nil && !mayNotSend
        let release = clock.awaitsHub ? nextTimeInquiry : .distantPast
        // By index: a copied lane would retain its queues, and this runs for every input.
        for lane in lanes.ids {
            earliest = min(
                earliest, lanes[lane].nextAlarm(isRunning: isRunning, clock, release: release, mayProbe: mayProbe))
        }
        if earliest == .distantFuture { return nil }
        // Due work that waits for something else must not cause a busy loop of alarms.
        return max(earliest, turn.now + .milliseconds(1))
    }

    var isRunning: Bool { shutdown == .none }
    /// No request may leave at all.
    var mayNotSend: Bool { orders.stopsAll || standstill != nil }

    /// Follows new rules. Former editions are kept so that deliveries routed by the former rules are still found.
    mutating func follow(_ rules: ContentRules) {
        self.rules = rules
        orders.follow(rules.router.table)
        editions += rules.router.editionCodes.filter { !editions.contains($0) }
    }

    /// The monotonic time at which the wall clock will show `wall`, by present knowledge.
    func steady(of wall: Instant, _ turn: borrowing Turn) -> Instant {
        witnesses.steady(of: wall, at: turn.moment) ?? clock.steady(of: wall)
    }

    /// The slot of a partition that is ours in the given generation.
    func slot(of id: TopicPartition, _ lane: LaneID, _ generation: Generation) -> Int? {
        lanes[lane].slots.first { partitions[$0].id == id && partitions[$0].generation == generation }
    }

    /// The number of partitions that are ours.
    var partitionCount: Int { lanes.reduce(0) { $0 + $1.slots.count } }
}

/// The state of handling one input: its time, and the actions appended up to now.
struct Turn {
    /// The monotonic time, for pace, backoff and time limits.
    let now: Instant
    /// The wall clock time, for ages, expiry and texts for people.
    let wall: Instant
    /// The wall clock time for embargoes by present knowledge: see `WallClock`.
    private(set) var embargoClock: Instant
    /// The time by which embargoes end: the same, or the distant past while the hub's time is awaited.
    private(set) var releaseClock: Instant
    /// The wall clock time for expiry: an earlier time if witnesses contradict our clock.
    private(set) var expiryClock: Instant
    var moment: Moment { Moment(steady: now, wall: wall) }
    var actions: [Action] = []

    init(_ moment: Moment, _ clock: WallClock, _ witnesses: ClockWitnesses) {
        (now, wall) = (moment.steady, moment.wall)
        (embargoClock, releaseClock, expiryClock) = (moment.wall, moment.wall, moment.wall)
        look(clock, witnesses)
    }

    /// Reads the clocks again after new evidence about the time.
    mutating func look(_ clock: WallClock, _ witnesses: ClockWitnesses) {
        embargoClock = clock.embargoClock(moment)
        releaseClock = clock.releaseClock(moment)
        expiryClock = witnesses.expiryClock(at: moment)
    }
}
