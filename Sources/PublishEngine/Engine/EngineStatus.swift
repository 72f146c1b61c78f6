import HeapModule
public import NewsModel

/// What an engine looks like from outside at one moment, for health and metrics.
public struct EngineStatus: Sendable, Hashable {
    /// Why all sending has stopped; its times are those of the clock on the wall.
    public var halt: Halt?
    /// Requests under way, and how many may be.
    public var inFlight: Int
    public var concurrencyLimit: Int
    /// By lane, in the order of the settings.
    public var lanes: [LaneStatus]
    /// Why something does not move.
    public var waits: [Wait]

    public struct LaneStatus: Sendable, Hashable {
        public var partitions: Int
        /// Records read and not stored yet.
        public var held: Int
        public var heldBytes: Int
        /// Deliveries that may leave.
        public var ready: Int
        /// Deliveries that wait for a time: retries and embargoes.
        public var delayed: Int
        public var isPaused: Bool
        /// Why the lane has stopped by itself; its times are those of the clock on the wall.
        public var flood: Halt?
    }
}

extension Engine {
    public func status(at moment: Moment) -> EngineStatus {
        EngineStatus(
            halt: halt?.onTheWall(moment), inFlight: inFlight.count, concurrencyLimit: concurrency.limit,
            lanes: laneStatus(at: moment), waits: waits(at: moment))
    }

    package func laneStatus(at moment: Moment) -> [EngineStatus.LaneStatus] {
        lanes.map {
            EngineStatus.LaneStatus(
                partitions: $0.slots.count, held: $0.heldRecords, heldBytes: $0.heldBytes, ready: $0.ready.count,
                delayed: $0.retries.count + $0.embargoed.count, isPaused: $0.isPaused,
                flood: $0.flood?.onTheWall(moment))
        }
    }
}

extension Halt {
    fileprivate func onTheWall(_ moment: Moment) -> Halt {
        var halt = self
        halt.since = moment.wall + (since - moment.steady)
        halt.probeAt = moment.wall + (probeAt - moment.steady)
        return halt
    }
}

/// How much an engine keeps, for the simulation's bounds.
package struct Census: Sendable, Hashable {
    package var inFlight: Int
    package var lines: Int
    package var unexamined: Int
    /// What no longer stands for a delivery included.
    package var ready: Int
    package var delayed: Int
    package var records: Int
    package var restored: Int
    package var pendingResults: Int
}

extension Engine {
    package var census: Census {
        Census(
            inFlight: inFlight.count, lines: lines.count, unexamined: lanes.reduce(0) { $0 + $1.unexamined.count },
            ready: lanes.reduce(0) { $0 + $1.ready.count },
            delayed: lanes.reduce(0) { $0 + $1.retries.count + $1.embargoed.count },
            records: partitions.reduce(0) { $0 + $1.entries.count },
            restored: partitions.reduce(0) { $0 + $1.restoredCount }, pendingResults: pendingResults.count)
    }
}
