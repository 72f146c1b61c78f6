import KafkaModel
import NewsModel
import PublishEngine

/// The state of an engine after one input, as needed by the checkers. Only this type reads the engine's own status.
struct EngineSnapshot {
    var isAlarm: Bool
    var actions: Int
    /// Time of the input by the monotonic clock, like `wakeAt`.
    var now: Instant
    var wakeAt: Instant?
    var counts: EngineCounts
    var lanes: [Lane]
    var halt: String?

    struct Lane {
        var partitions: Int
        var buffered: Int
        var bufferedBytes: Int
        var flood: Bool
    }

    init(_ engine: Engine, at moment: Moment, isAlarm: Bool, actions: Int, wakeAt: Instant?) {
        self.isAlarm = isAlarm
        self.actions = actions
        now = moment.steady
        self.wakeAt = wakeAt
        counts = engine.counts
        lanes = engine.laneStatus(at: moment).map {
            Lane(
                partitions: $0.partitions, buffered: $0.buffered, bufferedBytes: $0.bufferedBytes,
                flood: $0.flood != nil)
        }
        halt = engine.halt?.reason.rawValue
    }
}

/// The lanes with a reason to wait in an engine's status.
public struct WaitReasons: Sendable {
    var lanes: Set<LaneID> = []
    var concernsAll = false

    public init() {}

    init(_ engine: Engine, at moment: Moment) {
        // Waiting events are on topics that exist.
        let waits = engine.waits(at: moment).filter { $0.reason != .missingTopic }
        lanes = Set(waits.compactMap(\.lane))
        concernsAll = waits.contains { $0.lane == nil }
        // A replacement may have waited behind its story until now. The engine reports the question after two seconds.
        if let since = engine.ordersAskedSince, moment.steady - since < .seconds(2) { concernsAll = true }
    }

    func explain(_ lane: LaneID) -> Bool { concernsAll || lanes.contains(lane) }
}
