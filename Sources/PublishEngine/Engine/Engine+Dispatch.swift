import DequeModule
import HeapModule
import KafkaModel
import NewsModel
import NotificationHub

/// Which delivery leaves next, and when: lane by urgency, story by order, everyone by pace and concurrency.
extension Engine {
    mutating func dispatch(_ turn: inout Turn) {
        paceAt = nil
        guard draining == nil else { return }
        for lane in lanes.indices { wakeDelayed(lane, turn) }
        if halt != nil {
            sendProbe(&turn)
            return
        }
        for lane in lanes.indices where lanes[lane].flood != nil { sendFloodProbe(lane, &turn) }
        while inFlight.count < concurrency.limit, let lane = nextLane() {
            guard let ready = nextReady(lane, &turn) else { continue }
            if let earliest = mayLeave(turn, reserve: reserve(for: lane)) {
                paceAt = earliest
                return
            }
            lanes[lane].ready.removeFirst()
            depart(ready, lane: lane, &turn)
        }
    }

    /// `nil` when a request may leave now; else when it may, as far as pace and hub are concerned.
    private func mayLeave(_ turn: Turn, reserve: Int = 0) -> Instant? {
        guard turn.now >= awayUntil else { return awayUntil }
        guard knowsItsShare else { return .distantFuture }
        if let bucket, case .notBefore(let earliest) = bucket.ask(at: turn.now, reserve: reserve) { return earliest }
        return nil
    }

    /// Half the burst is kept for the most urgent lane, so that live news never queues behind a backfill's burst.
    private func reserve(for lane: Int) -> Int { lane == 0 || lanes[lane].floorCredit >= 100 ? 0 : 50 }

    /// The most urgent lane with work, unless a lower one has its floor coming.
    private func nextLane() -> Int? {
        var chosen: Int?
        for lane in lanes.indices where lanes[lane].maySend && !lanes[lane].ready.isEmpty {
            if chosen == nil { chosen = lane } else if lanes[lane].floorCredit >= 100 { return lane }
        }
        return chosen
    }

    /// The lane's first delivery that may still leave; what is gone or stale is taken off the queue.
    private mutating func nextReady(_ lane: Int, _ turn: inout Turn) -> Departure? {
        guard let id = lanes[lane].ready.first else { return nil }
        guard let (slot, index) = locate(id), partitions[slot].isSending,
            partitions[slot][delivery: index, id.platform].phase == .ready,
            let content = partitions[slot][entry: index].content
        else {
            lanes[lane].ready.removeFirst()
            return nil
        }
        guard !content.isStale(turn) else {
            lanes[lane].ready.removeFirst()
            // An earlier request may have been accepted: then it is not certain that nobody saw it.
            let isCertain = partitions[slot][delivery: index, id.platform].unknowns == 0
            settle(id, as: isCertain ? .expired : .unknown, expiry(of: content), &turn)
            advanceStories(&turn)
            return nil
        }
        // The clock may have been set back since the embargo seemed to be over.
        if let embargo = content.news?.event.embargoUntil, embargo > turn.embargoClock {
            lanes[lane].ready.removeFirst()
            partitions[slot][delivery: index, id.platform].phase = .delayed
            lanes[lane].embargo(id, until: embargo)
            return nil
        }
        return Departure(id: id, slot: slot, index: index, content: content)
    }

    private struct Departure {
        var id: DeliveryID
        var slot: Int
        var index: Int
        var content: Content
    }

    @discardableResult
    private mutating func depart(_ departure: Departure, lane: Int, _ turn: inout Turn) -> RequestID? {
        let (id, slot, index) = (departure.id, departure.slot, departure.index)
        let request = departure.content.news?.request(
            on: settings.platforms[id.platform], lane: lane, since: partitions[slot][entry: index].readAt,
            expiresAt: departure.content.expiresAt)
        guard let request else { return nil }
        bucket?.take(at: turn.now)
        for lower in lanes.indices where lower > lane {
            lanes[lower].floorCredit = min(lanes[lower].floorCredit + lanes[lower].settings.floorPercent, 100)
        }
        lanes[lane].floorCredit = max(lanes[lane].floorCredit - 100, 0)

        let requestID = inFlight.begin(id, at: turn.now, tokenEpoch: tokenEpoch)
        partitions[slot].inFlight += 1
        partitions[slot].markSent(index, id.platform, at: turn.wall)
        turn.actions.append(.send(requestID, request))
        return requestID
    }

    /// Deliveries whose time has come go to the front: they are the oldest.
    private mutating func wakeDelayed(_ lane: Int, _ turn: Turn) {
        while let next = lanes[lane].retries.min, next.until <= turn.now {
            lanes[lane].retries.removeMin()
            guard let (slot, index) = locate(next.id),
                partitions[slot][delivery: index, next.id.platform].phase == .delayed
            else { continue }
            if next.notBefore > turn.now, let content = partitions[slot][entry: index].content, !content.isStale(turn) {
                // Its deadline seemed to have come, but the clock was set back meanwhile.
                delay(next.id, content, notBefore: next.notBefore, lane, turn)
                continue
            }
            partitions[slot][delivery: index, next.id.platform].phase = .ready
            lanes[lane].ready.prepend(next.id)
        }
        while let next = lanes[lane].embargoed.min, next.until <= turn.embargoClock {
            lanes[lane].embargoed.removeMin()
            guard let (slot, index) = locate(next.id),
                partitions[slot][delivery: index, next.id.platform].phase == .delayed
            else { continue }
            partitions[slot][delivery: index, next.id.platform].phase = .ready
            lanes[lane].ready.prepend(next.id)
        }
    }

    /// Looks at a retry again when it may leave, or when it has become too old to leave.
    func delayEnd(_ content: Content?, notBefore: Instant) -> Instant {
        guard let content else { return notBefore }
        return min(notBefore, content.staleAt, steady(of: content.deadline))
    }

    private mutating func delay(
        _ id: DeliveryID, _ content: Content, notBefore: Instant, _ lane: Int, _ turn: Turn
    ) {
        let until = max(delayEnd(content, notBefore: notBefore), turn.now + .milliseconds(1))
        lanes[lane].retry(id, notBefore: notBefore, until: until)
    }

    /// Superseded and recalled deliveries leave their places in the queues behind. Normally those come to the front and
    /// are dropped there; while nothing is sent they would pile up without bound.
    mutating func tidy() {
        for lane in lanes.indices {
            let most = 2 * lanes[lane].heldRecords * settings.platforms.count + 32
            if lanes[lane].ready.count > most {
                let live = lanes[lane].ready.filter { phase(of: $0) == .ready }
                lanes[lane].ready = live
            }
            if lanes[lane].retries.count > most {
                let live = lanes[lane].retries.unordered.filter { phase(of: $0.id) == .delayed }
                lanes[lane].retries = Heap(live)
            }
            if lanes[lane].embargoed.count > most {
                let live = lanes[lane].embargoed.unordered.filter { phase(of: $0.id) == .delayed }
                lanes[lane].embargoed = Heap(live)
            }
        }
    }

    private func phase(of id: DeliveryID) -> DeliveryState.Phase? {
        locate(id).map { partitions[$0.slot][delivery: $0.index, id.platform].phase }
    }

    // MARK: Probes

    /// While halted, one request at a time finds out whether it is over.
    private mutating func sendProbe(_ turn: inout Turn) {
        guard let halt, probe == nil, turn.now >= halt.probeAt else { return }
        if let later = probeMustWait(turn) {
            self.halt?.probeAt = later
            return
        }
        for lane in lanes.indices where lanes[lane].maySend {
            while !lanes[lane].ready.isEmpty {
                guard let departure = nextReady(lane, &turn) else { continue }
                lanes[lane].ready.removeFirst()
                if halt.reason == .keyRefused { renewToken(&turn) }
                probe = depart(departure, lane: lane, &turn)
                return
            }
        }
        // A lane that a flood has stopped must not keep the hub stopped too.
        for lane in lanes.indices where probe == nil && lanes[lane].flood != nil && !lanes[lane].isPaused {
            lanes[lane].flood?.probeAt = turn.now
            sendFloodProbe(lane, &turn)
            probe = lanes[lane].floodProbe
            if probe != nil { return }
        }
        // Nothing waits: look again at the probe's own pace, or at once when something arrives behind this time.
        self.halt?.probeAt = turn.now + .seconds(1)
    }

    /// When a probe that cannot leave now is due again.
    private func probeMustWait(_ turn: Turn) -> Instant? {
        // Every connection may still wait for the hub that stopped answering.
        guard inFlight.count < settings.connections else { return turn.now + settings.probeFirst }
        return mayLeave(turn).map { min($0, turn.now + settings.probeFirst) }
    }

    /// In a flood one event at a time is let through, to see whether the lane's events are well again.
    private mutating func sendFloodProbe(_ lane: Int, _ turn: inout Turn) {
        guard let flood = lanes[lane].flood, lanes[lane].floodProbe == nil, !lanes[lane].isPaused,
            turn.now >= flood.probeAt
        else { return }
        if let later = probeMustWait(turn) {
            lanes[lane].flood?.probeAt = later
            return
        }
        if lanes[lane].ready.isEmpty {
            guard let next = lanes[lane].unexamined.popFirst() else {
                lanes[lane].flood?.probeAt = turn.now + .seconds(1)
                return
            }
            examine(next, LaneID(lane), &turn)
        }
        while !lanes[lane].ready.isEmpty {
            guard let departure = nextReady(lane, &turn) else { continue }
            lanes[lane].ready.removeFirst()
            lanes[lane].floodProbe = depart(departure, lane: lane, &turn)
            return
        }
        lanes[lane].flood?.probeFailed(at: turn.now, longest: settings.probeLongest)
    }

    mutating func renewToken(_ turn: inout Turn) {
        tokenEpoch += 1
        tokenIsProven = false
        turn.actions.append(.renewToken)
    }
}

extension Lane {
    /// Neither paused nor stopped by a flood.
    var maySend: Bool { !isPaused && flood == nil }
}

extension Partition {
    fileprivate mutating func markSent(_ index: Int, _ platform: Int, at wall: Instant) {
        self[delivery: index, platform].phase = .inFlight
        self[delivery: index, platform].attempts += 1
        if self[delivery: index, platform].firstSentAt == nil { self[delivery: index, platform].firstSentAt = wall }
    }
}
