import KafkaModel
import NewsModel

/// The pace of requests: our share of the rate, the pauses that the hub asks for, and each lane's part.
extension Engine {
    mutating func learn(_ counts: [String: Int], readIn: [Generation], _ turn: Turn) {
        for lane in lanes.ids {
            let isFresh = readIn.indices.contains(lane.index) && readIn[lane.index] >= lanes[lane].generation
            lanes[lane].counts.learn(counts, of: lanes[lane].settings.topics, isFresh: isFresh, at: turn.now)
        }
        updateShare(turn)
    }

    /// Our part of the rate is our part of all partitions. The new bucket starts empty, so that a handover cannot let two
    /// bursts through. A lane whose counts were not read since its assignment counts for nothing yet, nor does a topic of
    /// unknown length: others may have its partitions and count them all.
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

    /// At a limited rate nothing leaves before our share is known.
    var knowsItsShare: Bool { rate == nil || share != nil }

    /// The hub asked everyone to wait. No single reply stops sending for longer than `longestPause`.
    mutating func pause(for asked: Duration, _ turn: Turn) {
        let until = turn.now + min(asked, settings.longestPause)
        hubPause.extend(to: until, at: turn.now)
        bucket?.hold(until: until)
    }

    /// `nil` if pace and hub let a request leave now, else when they will.
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

    /// A request of the lane leaves: the lanes below earn a part of one.
    mutating func charge(_ lane: LaneID, _ turn: Turn) {
        bucket?.take(at: turn.now)
        for lower in lanes.ids where lower > lane { lanes[lower].earnFloor() }
        lanes[lane].spendFloor()
    }
}
