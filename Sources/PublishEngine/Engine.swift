import HeapModule
public import NewsModel

/// Every decision of one shard, as a plain value: it is told what happened and when, and answers with what to do.
///
/// A record's way: `records` → examined (decoded, routed) → its deliveries join their story's line → ready in their
/// lane → dispatched by pace and concurrency → `replies` → judged → settled → `stored` → committed.
public struct Engine {
    let settings: EngineSettings
    let decoder: NewsDecoder
    var desk: Desk
    var random: SeededRandom

    var lanes: [Lane]
    /// By slot, reused. Always changed in place: a copy would copy a whole window with the next change.
    var partitions: [Partition] = []
    var lines: [UInt64: StoryLine] = [:]
    var flights: Flights

    var rate: EngineSettings.Rate?
    var bucket: TokenBucket?
    var share = TokenBucket.Share(part: 0, total: 1)
    /// The hub told everyone to stay away until then.
    var awayUntil = Instant.distantPast
    var concurrency: ConcurrencyLimit
    var floodGuard: FloodGuard
    public internal(set) var halt: Halt?
    /// When to come back with an `alarm` although nothing else happened; an early one is harmless.
    ///
    /// Stored, because asking a value inside an object for something computed copies the value.
    public private(set) var wakeAt: Instant?
    /// The delivery whose request finds out whether a halt is over.
    var probe: UInt64?
    var outage = OutageDetector()
    var tokenEpoch = 0
    /// A request with the current token was let in: its key is right.
    var tokenIsProven = false
    var draining: Instant?
    var isFinished = false
    /// When the pace lets the next request out; `nil` while nothing waits for the pace.
    var paceAt: Instant?
    /// Guards against settling from within settling: stories to move on once the current one is done.
    var linesToAdvance: [UInt64] = []

    public init(
        settings: EngineSettings, decoder: NewsDecoder, router: Router, builder: PayloadBuilder, seed: UInt64
    ) {
        self.settings = settings
        self.decoder = decoder
        desk = Desk(router: router, builder: builder)
        random = SeededRandom(seed: seed)
        lanes = settings.lanes.map(Lane.init)
        flights = Flights()
        rate = settings.rate
        concurrency = ConcurrencyLimit(maximum: settings.connections)
        floodGuard = FloodGuard(settings.floodGuard)
    }

    /// Takes one input and appends what is to be done.
    public mutating func handle(_ input: Input, at now: Instant, into actions: inout [Action]) {
        switch input {
        case .assigned(let lane, let generation, let partitions):
            assign(partitions, lane: lane, generation: generation, at: now, into: &actions)
        case .restored(let lane, let generation, let results, let entries, let end):
            restore(entries, end: end, of: results, lane: lane, generation: generation, into: &actions)
        case .records(let lane, let generation, let partition, let records):
            receive(records, of: partition, lane: lane, generation: generation, at: now, into: &actions)
        case .endReached(let lane, let generation, let partition, let offset):
            reachEnd(offset, of: partition, lane: lane, generation: generation)
        case .revoked(let lane, let generation, let partitions, let lost):
            revoke(partitions, lane: lane, generation: generation, lost: lost, at: now, into: &actions)
        case .replies(let landings):
            for landing in landings { receive(landing.reply, token: landing.token, at: now, into: &actions) }
        case .stored(let acknowledgements):
            for acknowledgement in acknowledgements { acknowledge(acknowledgement, at: now) }
        case .committed(let lane, let succeeded):
            finishCommit(lane: lane, succeeded: succeeded, at: now)
        case .partitionCount(let lane, let count):
            lanes[lane].partitionTotal = count
            updateShare(at: now)
        case .pause(let lane, let isPaused):
            lanes[lane].isPaused = isPaused
        case .reload(let reload):
            self.reload(reload, at: now)
        case .alarm:
            break
        case .drain:
            drain(at: now)
        }
        examine(at: now, into: &actions)
        dispatch(at: now, into: &actions)
        grant(into: &actions)
        commit(at: now, into: &actions)
        release(at: now, into: &actions)
        tidy()
        wakeAt = nextAlarm
    }

    private var nextAlarm: Instant? {
        var earliest = Instant.distantFuture
        // By index: a copied lane would retain its queues, and this runs for every input.
        for lane in lanes.indices {
            if draining == nil, let next = lanes[lane].parked.min { earliest = min(earliest, next.until) }
            if lanes[lane].commitIsDue { earliest = min(earliest, lanes[lane].commitAt) }
            if let draining = lanes[lane].draining { earliest = min(earliest, draining.until) }
        }
        if let paceAt { earliest = min(earliest, paceAt) }
        if let halt, probe == nil, draining == nil { earliest = min(earliest, halt.probeAt) }
        if let draining, !isFinished { earliest = min(earliest, draining) }
        return earliest == .distantFuture ? nil : earliest
    }
}
