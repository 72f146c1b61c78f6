import ByteText
public import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
public import PublishEngine

/// The setting of a life: number of processes, topics and settings.
public struct Setting: Sendable {
    public var engine: EngineSettings
    public var processes: Int
    /// Initial number of partitions by topic, including results and dead letters.
    public var partitions: [String: Int]
    /// True if members that return within the session timeout keep their partitions.
    public var isStatic: Bool
    public var sessionTimeout: Duration
    public var requestTimeout: Duration
    public var connectTimeout: Duration
    public var hub: Hub
    /// The most streams of a connection.
    public var streamsMax: Int
    /// Time that the driver waits for the engine to release revoked partitions.
    public var releaseTimeout: Duration
    /// Time that the producer keeps trying before it reports a record as refused.
    public var messageTimeout: Duration
    /// Bytes that the client library buffers for one partition.
    public var queueBytes: Int
    /// The largest record that the broker accepts.
    public var recordBytesMax: Int

    /// Quiet hours of one category, which last some minutes from the start of the life.
    public var quiet: QuietHours?
    /// A category that gets another name; `nil` if all keep theirs.
    public var rename: CategoryRename?
    /// True if a held topic exists.
    public var hasHeld: Bool
    /// True if a control topic exists.
    public var hasControl: Bool
    /// Duration of silence on the control topic that raises an alarm, and the policy for it.
    public var controlStaleAfter: Duration
    public var onStale: ControlState.OnStale

    public enum Hub: Sendable, Hashable {
        /// Without TLS, so without HTTP/2.
        case plain
        case http1
        case http2
    }

    static let held = "held"
    /// Age below which records of the held topic are not compacted.
    static let heldCompactionLag = Duration.seconds(120)
    static let deadLetters = "dead-letters"

    public var lanes: [LaneSettings] { engine.lanes }
    var results: String { engine.resultsTopic }

    func isSameCategory(_ name: String, _ other: String) -> Bool {
        rename?.isSame(name, other) ?? (name.lowercased() == other.lowercased())
    }

    func lane(of topic: String) -> LaneID? { lanes.laneIDs.first { lanes[$0].topics.contains(topic) } }
}

extension Setting {
    static func draw(_ random: inout SeededRandom, _ options: Options) -> Setting {
        let processes = random.number(options.processes)
        let isPersistent = random.chance(percent: 50)
        var engine = EngineSettings(
            lanes: lanes(&random),
            platforms: random.pick(
                [[.template], [.template], [.apple, .fcmv1], [.apple, .fcmv1, .windows]], or: [.template]),
            resultsTopic: "results")
        if random.chance(percent: 70) {
            // Every process may send one request at any time, so the burst is at least the number of processes.
            engine.rate = .init(perSecond: random.number(10...400), burst: random.number(processes...60))
        }
        engine.connections = random.number(1...16)
        engine.retry = RetrySchedule(
            attempts: isPersistent ? nil : random.number(2...8), first: random.milliseconds(20...500),
            longest: random.milliseconds(500...30_000))
        engine.longestPause = random.milliseconds(2_000...300_000)
        engine.floodGuard = .init(
            sharePercent: random.pick([0, 50, 80], or: 50), events: random.pick([20, 100, 500], or: 500))
        engine.unknownAttempts = random.number(1...5)
        engine.duplicateWindow = random.pick([8, 64, 4096, 4096], or: 4096)
        // Drawn from a copy, so that recorded seeds keep their lives.
        var aside = random
        engine.restoredMax = aside.pick([2, 16, 128, 32_768], or: 32_768)
        engine.commitInterval = random.milliseconds(10...500)
        engine.revokeDeadline = random.milliseconds(500...10_000)
        engine.drainDeadline = random.milliseconds(2_000...20_000)
        engine.probeFirst = random.milliseconds(100...2_000)
        engine.probeLongest = random.milliseconds(2_000...60_000)
        let hasControl = random.chance(percent: options.controlTopic)
        engine.awaitsOrders = true
        engine.asksHubForTime = true
        let hasHeld = random.chance(percent: options.heldTopic)
        if hasHeld { engine.holdsBeyond = random.milliseconds(500...20_000) }
        let quiet = hasHeld && random.chance(percent: options.quietHours) ? quietHours(&random) : nil
        let isImpatient = random.chance(percent: options.impatientDriver)
        return Setting(
            engine: engine, processes: processes, partitions: partitions(engine, &random, options),
            isStatic: random.chance(percent: 50), sessionTimeout: random.milliseconds(2_000...10_000),
            requestTimeout: random.milliseconds(1_000...10_000),
            connectTimeout: aside.milliseconds(500...5_000),
            hub: aside.pick([.plain, .http1, .http2, .http2], or: .http2),
            streamsMax: aside.pick([1, 2, 4, 100], or: 100),
            releaseTimeout: isImpatient ? random.milliseconds(0...1_000) : .seconds(30),
            messageTimeout: random.milliseconds(1_000...60_000), queueBytes: random.number(500...20_000),
            recordBytesMax: random.pick([8_000, 30_000, 100_000], or: 30_000), quiet: quiet, hasHeld: hasHeld,
            hasControl: hasControl, controlStaleAfter: random.milliseconds(15_000...60_000),
            // Without a topic, `stop` would never send anything.
            onStale: random.chance(percent: 30) && hasControl ? .stop : .continue)
    }

    /// Draws quiet hours in whole minutes, of which a life has few. Some begin 40 seconds into the life, when its
    /// last news is on its way.
    private static func quietHours(_ random: inout SeededRandom) -> QuietHours {
        // Drawn from a copy, so that recorded seeds keep their lives.
        var aside = random
        let minute = Int(Scenario.start.milliseconds / 60_000 % 1_440) + (aside.chance(percent: 40) ? 1 : 0)
        return QuietHours(
            categories: [random.pick(["World", "Sports"], or: "World")],
            window: DailyWindow(from: minute, to: minute + random.number(1...3), zone: .utc),
            action: random.pick(QuietHours.Action.allCases, or: .silent))
    }

    /// Lanes differ in length. The results topic has room for the longest.
    private static func partitions(
        _ engine: EngineSettings, _ random: inout SeededRandom, _ options: Options
    ) -> [String: Int] {
        var partitions: [String: Int] = [:]
        var most = 1
        for lane in engine.lanes {
            let count = random.number(options.partitions)
            most = max(most, count)
            for topic in lane.topics { partitions[topic] = count }
        }
        partitions[engine.resultsTopic] = most + (random.chance(percent: 20) ? 1 : 0)
        partitions[held] = partitions[engine.resultsTopic]
        partitions[deadLetters] = random.number(1...3)
        return partitions
    }

    private static func lanes(_ random: inout SeededRandom) -> [LaneSettings] {
        let hasTwoTopics = random.chance(percent: 20)
        var live = LaneSettings(name: "live", topics: hasTwoTopics ? ["news.a", "news.b"] : ["news"])
        if random.chance(percent: 50) { live.maxAge = random.milliseconds(5_000...900_000) }
        var backfill = LaneSettings(name: "backfill", topics: ["archive"])
        backfill.floorPercent = random.number(0...50)
        var lanes = random.chance(percent: 75) ? [live, backfill] : [live]
        for lane in lanes.laneIDs {
            lanes[lane].onUnknown = random.chance(percent: 75) ? .retry : .giveUp
            lanes[lane].window = .init(records: random.number(1...64), bytes: random.number(500...20_000))
        }
        return lanes
    }
}

extension LaneID {
    static let mostUrgent = LaneID(0)
}

/// An array with one element for each lane.
extension Array {
    var laneIDs: [LaneID] { indices.map { LaneID($0) } }

    subscript(lane: LaneID) -> Element {
        _read { yield self[lane.index] }
        _modify { yield &self[lane.index] }
    }
}
