import KafkaModel
import NewsModel
import PublishEngine

/// A shard's report to the rest of the process, made ten times a second.
struct ShardReport: Sendable {
    /// The monotonic time of the report; `progressAt` is monotonic too.
    var at: Instant
    var tally: Tally
    var recent: RecentResults
    var status: EngineStatus
    var limiter: Limiter
    /// The time for which each limiter has applied since the start, in nanoseconds, in the order of `Limiter.allCases`.
    var limitedFor: [Int64]
    var tokens: Int?
    var wire: HubWire
    var oldestBuffered: [Instant?]
    /// W of each partition, also before it is committed.
    var lowWatermarks: [TopicPartition: Int64] = [:]
    var stopped: [StoppedNews] = []
    /// The time of the last progress: a record read, a reply, a stored result, a commit.
    var progressAt: Instant
}

/// The counters of one shard. Confined to its event loop, so no locks are needed.
struct ShardMeter {
    var tally: Tally
    private var recent = RecentResults()
    private let lanes: [String]
    private var categories: [String]
    var progressAt: Instant
    private var limiter = Limiter.nothing
    private var limitedFor = [Int64](repeating: 0, count: Limiter.allCases.count)
    private var reportedAt: Instant
    /// Refreshed once a second, because it takes a walk through all buffered records.
    private var stopped: [StoppedNews] = []
    private var stoppedAt = Instant.distantPast

    init(lanes: [String], categories: [String], at now: Instant) {
        self.lanes = lanes
        self.categories = categories
        tally = Tally(lanes: lanes.count, categories: categories.count)
        progressAt = now
        reportedAt = now
    }

    /// Adds new categories. Categories are never removed, so existing counts keep their places.
    mutating func know(_ categories: [String]) {
        self.categories = categories
        tally.grow(toCategories: categories.count)
    }

    mutating func settled(_ request: StoreRequest) {
        // Lanes and categories are few with short names, so comparing them costs less than hashing.
        guard let lane = lanes.firstIndex(of: request.result.lane) else { return }
        recent.add(request)
        // Rehearsals are excluded from the newsroom's figures.
        guard !request.result.isTest else { return }
        tally.count(request, lane: lane)
        for name in request.result.categories {
            if let index = categories.firstIndex(of: name) { tally.count(request.result.outcome, category: index) }
        }
    }

    /// Adds the time since the last report to the current limiter.
    mutating func report(
        on engine: Engine, _ status: EngineStatus, _ wire: HubWire, at now: Moment
    ) -> ShardReport {
        if let index = Limiter.allCases.firstIndex(of: limiter) {
            limitedFor[index] += max(0, (now.steady - reportedAt).nanoseconds)
        }
        limiter = engine.limiter(at: now)
        reportedAt = now.steady
        if now.steady - stoppedAt >= .seconds(1) {
            (stopped, stoppedAt) = (engine.stoppedNews(at: now), now.steady)
        }
        return ShardReport(
            at: now.steady, tally: tally, recent: recent, status: status, limiter: limiter, limitedFor: limitedFor,
            tokens: engine.tokens(at: now), wire: wire, oldestBuffered: engine.oldestBuffered,
            lowWatermarks: engine.lowWatermarks, stopped: stopped, progressAt: progressAt)
    }
}

extension Input {
    /// True if the input shows that the pipeline makes progress.
    var isProgress: Bool {
        switch self {
        case .replies: true
        case .kafka(let event): event.isProgress
        case .recalled, .orders, .ordersKnown, .stoodStill, .ordersConfirmed, .recallsSettled, .keepsRecalls, .held,
            .holdsBeyond, .pause, .resume,
            .release, .connections, .reload, .keyChanged, .hubDate, .schema, .registryFailed,
            .alarm, .drain:
            false
        }
    }
}

extension KafkaEvent {
    fileprivate var isProgress: Bool {
        switch self {
        case .records, .stored, .restored: true
        case .committed(_, _, _, let failure): failure == nil
        case .assigned, .restoreFailed, .endReached, .tooLargeToHold, .restarted, .revoked, .partitionCounts: false
        }
    }
}
