import HeapModule

/// What an engine looks like from outside at one moment, for health and metrics.
public struct Vitals: Sendable, Hashable {
    public var halt: Halt?
    /// Requests under way, and how many may be.
    public var inFlight: Int
    public var concurrencyLimit: Int
    /// By lane, in the order of the settings.
    public var lanes: [LaneVitals]

    public struct LaneVitals: Sendable, Hashable {
        public var partitions: Int
        /// Records read and not stored yet.
        public var held: Int
        public var heldBytes: Int
        /// Deliveries that may leave.
        public var ready: Int
        /// Deliveries that wait for a time.
        public var parked: Int
        public var isPaused: Bool
    }
}

extension Engine {
    public var vitals: Vitals {
        Vitals(
            halt: halt, inFlight: flights.count, concurrencyLimit: concurrency.limit,
            lanes: lanes.map {
                Vitals.LaneVitals(
                    partitions: $0.slots.count, held: $0.heldRecords, heldBytes: $0.heldBytes, ready: $0.ready.count,
                    parked: $0.parked.count, isPaused: $0.isPaused)
            })
    }
}
