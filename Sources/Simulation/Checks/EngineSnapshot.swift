import KafkaModel
import NewsModel
import PublishEngine

/// An engine after one input, as far as checkers look at it. The one place that knows the engine's own status.
struct EngineSnapshot {
    var isAlarm: Bool
    var actions: Int
    /// By the monotonic clock, like `wakeAt`.
    var now: Instant
    var wakeAt: Instant?
    var counts: EngineCounts
    var lanes: [Lane]
    var halt: String?

    struct Lane {
        var partitions: Int
        var held: Int
        var heldBytes: Int
        var flood: Bool
    }

    init(_ engine: Engine, at moment: Moment, isAlarm: Bool, actions: Int, wakeAt: Instant?) {
        self.isAlarm = isAlarm
        self.actions = actions
        now = moment.steady
        self.wakeAt = wakeAt
        counts = engine.counts
        lanes = engine.laneStatus(at: moment).map {
            Lane(partitions: $0.partitions, held: $0.held, heldBytes: $0.heldBytes, flood: $0.flood != nil)
        }
        halt = engine.halt?.reason.rawValue
    }
}

/// The lanes for which an engine's status names a reason to wait.
public struct WaitReasons: Sendable {
    var lanes: Set<Int>
    var concernsAll: Bool

    init(_ engine: Engine, at moment: Moment) {
        // What waits is in a topic that is there.
        let waits = engine.waits(at: moment).filter { $0.reason != .missingTopic }
        lanes = Set(waits.compactMap { $0.lane?.index })
        concernsAll = waits.contains { $0.lane == nil }
    }

    private init() {
        lanes = []
        concernsAll = false
    }

    /// A status without reasons.
    public static let none = WaitReasons()

    func explain(_ lane: Int) -> Bool { concernsAll || lanes.contains(lane) }
}
