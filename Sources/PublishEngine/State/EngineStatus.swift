import DequeModule
public import KafkaModel
public import NewsModel
public import NotificationHub

/// The state of an engine at one moment, for health and metrics.
public struct EngineStatus: Sendable, Hashable {
    /// The reason why all sending has stopped; its times are by the wall clock.
    public var halt: Halt?
    /// Requests in flight, and how many may be.
    public var inFlight: Int
    public var concurrencyLimit: Int
    /// The lanes' states, in the order of the settings.
    public var lanes: [LaneStatus]
    /// All reasons that keep work waiting.
    public var waits: [Wait]
    /// The witnesses' finding against this machine's clock.
    package var clock: ClockWitnesses.Finding?

    public struct LaneStatus: Sendable, Hashable {
        public var partitions: Int
        /// Records read and not yet stored.
        public var buffered: Int
        public var bufferedBytes: Int
        /// Deliveries that may leave.
        public var ready: Int
        /// Deliveries that wait for a time or before a gate: retries, embargoes, and editors' stops.
        public var delayed: Int
        public var isPaused: Bool
        /// The flood that has stopped the lane; its times are by the wall clock.
        public var flood: Halt?
        /// Editors have stopped the lane, or the hub.
        public var isStopped = false
        /// Deliveries that only an editor's stop of a category, feed or run holds back.
        public var stopped = 0
        /// The age of the last records on arrival if they were older than the lane's `maxAge`, so that they expired.
        public var ageOnArrival: Duration?
    }
}

extension Engine {
    public func status(at moment: Moment) -> EngineStatus {
        EngineStatus(
            halt: halt?.onTheWall(moment), inFlight: inFlight.count, concurrencyLimit: concurrency.limit,
            lanes: laneStatus(at: moment), waits: waits(at: moment), clock: witnesses.finding(at: moment))
    }

    package func laneStatus(at moment: Moment) -> [EngineStatus.LaneStatus] {
        lanes.map {
            EngineStatus.LaneStatus(
                partitions: $0.slots.count, buffered: $0.bufferedRecords, bufferedBytes: $0.bufferedBytes,
                ready: $0.ready.count,
                delayed: $0.delayed.count, isPaused: $0.isPaused, flood: $0.flood?.onTheWall(moment),
                isStopped: $0.isStopped || orders.isHubStopped, stopped: stoppedCount(of: $0),
                ageOnArrival: $0.arrivals.tooOld(at: moment.steady))
        }
    }

    /// The lane's deliveries that stand before a gate. Entries of ended deliveries may remain in the queue.
    func stoppedCount(of lane: Lane) -> Int {
        lane.delayed.beforeGates.count { partitions.phase(of: $0) == .delayed }
    }
}

/// The reason why an engine sends no more at one moment, so that nobody scales out against a quota.
public enum Limiter: String, Sendable, Hashable, CaseIterable {
    /// No limit: all available work is in flight.
    case nothing
    /// Sending has stopped; see `Halt`.
    case halt
    /// The hub asked for a pause.
    case hubPause = "hub-pause"
    /// The configured rate is used up.
    case rate
    /// As many requests are in flight as the hub can bear, or as there are connections.
    case concurrency
    /// The window is full of outcomes that the results topic has not acknowledged.
    case broker
    /// An operator paused every lane that has something to send.
    case pause
    /// Editors have stopped everything there is to send.
    case stopped
    /// The orders of editors are not known.
    case control
}

extension Engine {
    public func limiter(at moment: Moment) -> Limiter {
        if halt != nil { return .halt }
        let waiting = lanes.filter { !$0.ready.isEmpty || !$0.unexamined.isEmpty }
        guard !waiting.isEmpty else {
            if lanes.contains(where: { stoppedCount(of: $0) > 0 }) { return .stopped }
            let isFull = lanes.contains { $0.bufferedRecords >= $0.settings.window.records / 2 }
            return isFull && partitions.unstored > inFlight.count ? .broker : .nothing
        }
        if orders.unknownSince != nil || standstill != nil { return .control }
        if orders.isHubStopped { return .stopped }
        if waiting.allSatisfy(\.isPaused) { return .pause }
        if waiting.allSatisfy({ $0.isStopped || $0.isPaused }) { return .stopped }
        if waiting.allSatisfy({ !$0.maySend }) { return .halt }
        if moment.steady < hubPause.until { return .hubPause }
        if inFlight.count >= concurrency.limit { return .concurrency }
        return paceAt == nil && knowsItsShare ? .nothing : .rate
    }

    /// Requests that the pace would let out at once; `nil` without a rate.
    public func tokens(at moment: Moment) -> Int? { bucket?.available(at: moment.steady) }

    /// The time at which the oldest buffered record was written to its topic, by lane; `nil` for an empty lane.
    public var oldestBuffered: [Instant?] {
        lanes.map { lane in lane.slots.compactMap { partitions[$0].entries.first?.writtenAt }.min() }
    }

    /// W of each partition, also before it is committed.
    package var lowWatermarks: [TopicPartition: Int64] {
        lanes.reduce(into: [:]) { watermarks, lane in
            for slot in lane.slots { watermarks[partitions[slot].id] = partitions[slot].lowWatermark }
        }
    }
}

extension Engine {
    package var requestsInFlight: Int { inFlight.count }

    /// Counts the requests in flight and those that wait only for a connection.
    package func connectionNeed(at now: Instant) -> ConnectionNeed {
        var need = ConnectionNeed(partitions: lanes.reduce(0) { $0 + $1.slots.count }, inFlight: inFlight.count)
        if wantsProbe {
            need.others = 1
        } else if waitsForConnections(at: now) {
            for lane in lanes.ids where lanes[lane].maySend {
                if lane == lanes.ids.first {
                    need.urgent = lanes[lane].ready.count
                } else {
                    need.others += lanes[lane].ready.count
                }
            }
        }
        return need
    }

    /// True if another connection would let a request leave: neither orders nor the hub nor the pace forbid it.
    package func waitsForConnections(at now: Instant) -> Bool {
        guard isRunning, !mayNotSend, halt == nil, inFlight.count >= concurrency.limit, concurrency.needsConnections,
            hubPause.until <= now, lanes.contains(where: { $0.maySend && !$0.ready.isEmpty })
        else { return false }
        return bucket.map { $0.available(at: now) > 0 } ?? true
    }

    /// True if a request must find out how the hub or a flooded lane is.
    private var wantsProbe: Bool {
        isRunning && !mayNotSend && inFlight.count == 0
            && (halt != nil || lanes.contains { $0.isFlooded && $0.mayProbe })
    }
}

/// A request that has had no reply yet.
public struct InFlightRequest: Sendable {
    public var delivery: DeliveryID
    public var source: ResultRecord.Source
    public var headers: [RecordHeader]
    public var eventID: String?
    public var lane: String
    public var platform: Platform
    /// Requests sent for the delivery, this one included.
    public var attempt: Int
}

extension Engine {
    public func inFlightRequest(_ id: RequestID) -> InFlightRequest? {
        guard let request = inFlight[id], let place = partitions.place(of: request.delivery),
            let content = partitions.content(of: place)
        else { return nil }
        return InFlightRequest(
            delivery: place.id, source: partitions.source(of: place),
            headers: content.record.headers.carriedToResults, eventID: content.eventID,
            lane: lanes[place.lane].settings.name, platform: settings.platforms[place.platform],
            attempt: Int(partitions[place].attempts))
    }
}

/// The sizes of an engine's collections, for the simulation's bounds.
package struct EngineCounts: Sendable, Hashable {
    package var inFlight: Int
    package var stories: Int
    package var unexamined: Int
    /// Entries in the lanes' queues, including those of ended deliveries.
    package var ready: Int
    package var delayed: Int
    package var records: Int
    package var restored: Int
}

extension Engine {
    /// Records from this offset on wait until more of the ledger is read; `nil` without such a bound.
    package func ledgerHorizon(of id: TopicPartition) -> Int64? {
        let slot = lanes.ids.lazy.compactMap { lane in lanes[lane].slots.first { partitions[$0].id == id } }.first
        return slot.flatMap { partitions[$0].restored.horizon == .max ? nil : partitions[$0].restored.horizon }
    }

    package var counts: EngineCounts {
        EngineCounts(
            inFlight: inFlight.count, stories: stories.count, unexamined: lanes.reduce(0) { $0 + $1.unexamined.count },
            ready: lanes.reduce(0) { $0 + $1.ready.count },
            delayed: lanes.reduce(0) { $0 + $1.delayed.count }, records: partitions.recordCount,
            restored: partitions.restoredCount)
    }
}
