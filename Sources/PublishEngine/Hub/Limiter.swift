import DequeModule
public import NewsModel

/// What keeps an engine from sending more at one moment, so that nobody scales into a quota.
public enum Limiter: String, Sendable, Hashable, CaseIterable {
    /// Nothing: all there is to send is under way.
    case nothing
    /// Sending has stopped; see `Halt`.
    case halt
    /// The hub asked everyone to stay away for a while.
    case hubPause = "hub-pause"
    /// The configured rate.
    case rate
    /// As many requests are under way as the hub can bear, or as there are connections.
    case concurrency
    /// The window is full of outcomes that the results topic has not acknowledged.
    case broker
    /// An operator paused every lane that has something to send.
    case pause
}

extension Engine {
    public func limiter(at moment: Moment) -> Limiter {
        if halt != nil { return .halt }
        let waiting = lanes.filter { !$0.ready.isEmpty || !$0.unexamined.isEmpty }
        guard !waiting.isEmpty else {
            let isFull = lanes.contains { $0.heldRecords >= $0.settings.window.records / 2 }
            let unstored = partitions.reduce(0) { $0 + $1.unstored }
            return isFull && unstored > inFlight.count ? .broker : .nothing
        }
        if waiting.allSatisfy(\.isPaused) { return .pause }
        if waiting.allSatisfy({ $0.flood != nil || $0.isPaused }) { return .halt }
        if moment.steady < awayUntil { return .hubPause }
        if inFlight.count >= concurrency.limit { return .concurrency }
        return paceAt == nil && knowsItsShare ? .nothing : .rate
    }

    /// Requests that the pace would let out at once; `nil` without a rate.
    public func tokens(at moment: Moment) -> Int? { bucket?.available(at: moment.steady) }

    /// When the oldest record that is held was written to its topic, by lane; `nil` for a lane that holds none.
    public var oldestHeld: [Instant?] {
        lanes.map { lane in lane.slots.compactMap { partitions[$0].entries.first?.writtenAt }.min() }
    }
}
