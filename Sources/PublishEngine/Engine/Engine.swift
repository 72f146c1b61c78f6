import ByteText
import HeapModule
import KafkaModel
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
    var recalled = RecalledStories()
    var inFlight: InFlightRequests
    /// Results that wait for their dead letter to be acknowledged.
    var pendingResults: [DeliveryID: StoreRequest] = [:]
    /// One past the highest result offset known, by results partition; all lanes share them.
    var resultsEnds: [Int32: Int64] = [:]

    var rate: EngineSettings.Rate?
    var bucket: TokenBucket?
    /// `nil` until the partition counts are known: then nothing is sent at a limited rate.
    var share: TokenBucket.Share?
    /// The hub told everyone to stay away until then, and when it did.
    var awayUntil = Instant.distantPast
    var awaySince = Instant.distantPast
    /// Since when, and how, the hub has failed for everyone who asked it; `nil` after any answer about an event.
    var hubFailure: (since: Instant, detail: String)?
    var concurrency: ConcurrencyLimit
    public internal(set) var halt: Halt?
    /// When to come back with an `alarm` although nothing else happened, by the monotonic clock; an early one is harmless.
    ///
    /// Stored, because asking a value inside an object for something computed copies the value.
    public private(set) var wakeAt: Instant?
    /// The delivery whose request finds out whether a halt is over.
    var probe: RequestID?
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
    private var clock = WallClock()

    public init(
        settings: EngineSettings, decoder: NewsDecoder, router: Router, builder: PayloadBuilder, seed: UInt64
    ) {
        self.settings = settings
        self.decoder = decoder
        desk = Desk(router: router, builder: builder)
        random = SeededRandom(seed: seed)
        lanes = settings.lanes.map { Lane($0, floodGuard: settings.floodGuard) }
        inFlight = InFlightRequests()
        rate = settings.rate
        concurrency = ConcurrencyLimit(maximum: settings.connections)
    }

    /// Takes one input and appends what is to be done.
    public mutating func handle(_ input: Input, at moment: Moment, into actions: inout [Action]) {
        let step = clock.look(moment)
        var turn = Turn(
            now: moment.steady, wall: moment.wall, embargoClock: clock.embargoClock(moment), actions: [])
        swap(&turn.actions, &actions)
        if let step { turn.actions.append(.clockStepped(by: step)) }
        take(input, &turn)
        examine(&turn)
        dispatch(&turn)
        restartFinished(&turn)
        grant(&turn)
        commit(&turn)
        release(&turn)
        tidy()
        wakeAt = nextAlarm(turn)
        swap(&turn.actions, &actions)
    }

    private mutating func take(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .kafka(let event): take(event, &turn)
        case .replies(let arrivals):
            for arrival in arrivals { receive(arrival.reply, to: arrival.request, &turn) }
        case .recalled(let story): recall(story, &turn)
        case .pause(let lane): lanes[lane].isPaused = true
        case .resume(let lane): lanes[lane].isPaused = false
        case .reload(let reload): self.reload(reload, turn)
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
            receive(records, of: partition, lane, generation, &turn)
        case .endReached(let lane, let generation, let partition, let offset):
            reachEnd(offset, of: partition, lane, generation)
        case .beganAnew(let lane, let generation, let partition): beginAnew(partition, lane, generation)
        case .revoked(let lane, let generation, let partitions, let lost):
            revoke(partitions, lane, generation, lost: lost, turn)
        case .stored(let records):
            for record in records { acknowledge(record, &turn) }
        case .committed(let lane, let generation, let offsets, let failure):
            finishCommit(lane, generation, offsets: offsets, failure: failure, turn)
        case .partitionCounts(let counts, let readIn): learn(counts, readIn: readIn, turn)
        }
    }

    private func nextAlarm(_ turn: Turn) -> Instant? {
        var earliest = Instant.distantFuture
        // By index: a copied lane would retain its queues, and this runs for every input.
        for lane in lanes.indices {
            if draining == nil {
                if let next = lanes[lane].retries.min { earliest = min(earliest, next.until) }
                if let next = lanes[lane].embargoed.min {
                    earliest = min(earliest, clock.steady(ofEmbargo: next.until))
                }
                if halt == nil, let flood = lanes[lane].flood, lanes[lane].floodProbe == nil, !lanes[lane].isPaused {
                    earliest = min(earliest, flood.probeAt)
                }
                if lanes[lane].commit.renewAt < earliest { earliest = lanes[lane].commit.renewAt }
            }
            if lanes[lane].commit.isDue { earliest = min(earliest, lanes[lane].commit.notBefore) }
            if let draining = lanes[lane].draining { earliest = min(earliest, draining.until) }
        }
        if let paceAt { earliest = min(earliest, paceAt) }
        if let halt, probe == nil, draining == nil { earliest = min(earliest, halt.probeAt) }
        if let draining, !isFinished { earliest = min(earliest, draining) }
        if earliest == .distantFuture { return nil }
        // What is due and waits for something else must not wake us again and again.
        return max(earliest, turn.now + .milliseconds(1))
    }

    /// The monotonic time at which the wall shows `wall`, as far as can be told now.
    func steady(of wall: Instant) -> Instant { clock.steady(of: wall) }
}
