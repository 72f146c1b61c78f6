import KafkaModel
import NewsModel

/// Computes the pace of requests from our share of the rate, the hub's pauses, and each lane's floor.
extension Engine {
    mutating func learn(_ counts: [String: Int], readIn: [Generation], _ turn: Turn) {
        for lane in lanes.ids {
            let isFresh = readIn.indices.contains(lane.index) && readIn[lane.index] >= lanes[lane].owned.generation
            lanes[lane].counts.learn(counts, of: lanes[lane].settings.topics, isFresh: isFresh, at: turn.now)
        }
        updateShare(turn)
    }

    /// Our share of the rate is our share of all partitions. The new bucket starts empty, so that a handover cannot let
    /// two bursts through. Partitions count only after their lane's counts were read since its assignment and if their
    /// topic's length is known. Otherwise others may own and count the same partitions.
    mutating func updateShare(_ turn: Turn) {
        let owned = lanes.reduce(0) { sum, lane in
            guard lane.counts.isFresh else { return sum }
            return sum + lane.slots.count { lane.counts.byTopic[partitions[$0].id.topic] != nil }
        }
        let total = lanes.reduce(0) { $0 + max($1.counts.total, $1.slots.count) }
        let share = owned > 0 ? TokenBucket.Share(part: owned, total: max(total, 1)) : nil
        guard share != self.share else { return }
        self.share = share
        resetBucket(turn)
    }

    mutating func resetBucket(_ turn: Turn) {
        bucket = share.flatMap { share in
            rate.map { TokenBucket(rate: $0.perSecond, burst: $0.burst, share: share, emptyAt: turn.now) }
        }
    }

    /// Our share of the rate in requests a second, rounded down; `nil` without a rate.
    public var requestsPerSecond: Int? {
        guard let rate else { return nil }
        guard let share else { return 0 }
        let (product, isTooLarge) = rate.perSecond.multipliedReportingOverflow(by: share.part)
        return isTooLarge ? 0 : product / max(share.total, 1)
    }

    /// At a limited rate nothing is sent before our share is known.
    var knowsItsShare: Bool { rate == nil || share != nil }

    /// Applies a pause that the hub asked of everyone. No single reply stops sending for longer than `longestPause`.
    mutating func pause(for asked: Duration, _ turn: Turn) {
        let until = turn.now + min(asked, settings.longestPause)
        hubPause.extend(to: until, at: turn.now)
        bucket?.hold(until: until)
    }

    /// The earliest time for a request by pace and hub pause; `nil` if it may leave now.
    ///
    /// - Parameter reserve: the part of the burst, in percent, that the request must leave to more urgent ones.
    func notBefore(_ turn: Turn, reserve: Int = 0) -> Instant? {
        guard turn.now >= hubPause.until else { return hubPause.until }
        guard knowsItsShare else { return .distantFuture }
        if let bucket, case .notBefore(let earliest) = bucket.ask(at: turn.now, reserve: reserve) { return earliest }
        return nil
    }

    /// Half the burst is kept for the most urgent lane, so that live news never queues behind a backfill's burst.
    func reserve(for lane: LaneID) -> Int { lane.index == 0 || lanes[lane].hasFloorDue ? 0 : 50 }

    /// The most urgent lane with work, unless a lower one has earned its floor.
    func nextLane() -> LaneID? {
        var chosen: LaneID?
        for lane in lanes.ids where lanes[lane].maySend && !lanes[lane].ready.isEmpty {
            if chosen == nil { chosen = lane } else if lanes[lane].hasFloorDue { return lane }
        }
        return chosen
    }

    /// Charges a request to the lane. The lanes below earn part of a request.
    mutating func charge(_ lane: LaneID, _ turn: Turn) {
        bucket?.take(at: turn.now)
        for lower in lanes.ids where lower > lane { lanes[lower].earnFloor() }
        lanes[lane].spendFloor()
    }
}
