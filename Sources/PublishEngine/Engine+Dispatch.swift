import DequeModule
import HeapModule
import NewsModel
import NotificationHub

/// Which delivery leaves next, and when: lane by urgency, story by order, everyone by pace and concurrency.
extension Engine {
    mutating func dispatch(at now: Instant, into actions: inout [Action]) {
        paceAt = nil
        guard draining == nil else { return }
        for lane in lanes.indices { unpark(lane, at: now) }
        if halt != nil {
            sendProbe(at: now, into: &actions)
            return
        }
        while flights.count < concurrency.limit, let lane = nextLane() {
            guard let ready = nextReady(lane, at: now, into: &actions) else { continue }
            guard now >= awayUntil else {
                paceAt = awayUntil
                return
            }
            if let bucket, case .notBefore(let earliest) = bucket.ask(at: now, reserve: reserve(for: lane)) {
                paceAt = earliest
                return
            }
            lanes[lane].ready.removeFirst()
            depart(ready, lane: lane, at: now, into: &actions)
        }
    }

    /// Half the burst is kept for the most urgent lane, so that live news never queues behind a backfill's burst.
    private func reserve(for lane: Int) -> Int { lane == 0 || lanes[lane].floorCredit >= 100 ? 0 : 50 }

    /// The most urgent lane with work, unless a lower one has its floor coming.
    private func nextLane() -> Int? {
        var chosen: Int?
        for lane in lanes.indices where !lanes[lane].isPaused && !lanes[lane].ready.isEmpty {
            if chosen == nil { chosen = lane } else if lanes[lane].floorCredit >= 100 { return lane }
        }
        return chosen
    }

    /// The lane's first delivery that may still leave; what is gone or stale is taken off the queue.
    private mutating func nextReady(_ lane: Int, at now: Instant, into actions: inout [Action]) -> Departure? {
        guard let id = lanes[lane].ready.first else { return nil }
        guard let (slot, index) = locate(id), partitions[slot].phase == .active,
            partitions[slot][delivery: index, Int(id.platform)].phase == .ready,
            let content = partitions[slot][entry: index].content
        else {
            lanes[lane].ready.removeFirst()
            return nil
        }
        guard now < content.deadline else {
            lanes[lane].ready.removeFirst()
            // An earlier request may have been accepted: then it is not certain that nobody saw it.
            let isCertain = partitions[slot][delivery: index, Int(id.platform)].unknowns == 0
            settle(id, as: isCertain ? .expired : .unknown, expiry(of: content), at: now, into: &actions)
            moveLinesOn(at: now, into: &actions)
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

    private mutating func depart(
        _ departure: Departure, lane: Int, isProbe: Bool = false, at now: Instant, into actions: inout [Action]
    ) {
        let (id, slot, index) = (departure.id, departure.slot, departure.index)
        let request = departure.content.news?.request(
            on: settings.platforms[Int(id.platform)], lane: lane, since: partitions[slot][entry: index].readAt,
            expiresAt: departure.content.expiresAt)
        guard let request else { return }
        bucket?.take(at: now)
        for lower in lanes.indices where lower > lane {
            lanes[lower].floorCredit = min(lanes[lower].floorCredit + lanes[lower].settings.floorPercent, 100)
        }
        lanes[lane].floorCredit = max(lanes[lane].floorCredit - 100, 0)

        let token = flights.depart(id, at: now, tokenEpoch: tokenEpoch, isProbe: isProbe)
        if isProbe { probe = token }
        partitions[slot].inFlight += 1
        partitions[slot].markDeparted(index, Int(id.platform), at: now)
        actions.append(.send(token: token, request))
    }

    /// Deliveries whose time has come go to the front: they are the oldest.
    private mutating func unpark(_ lane: Int, at now: Instant) {
        while let next = lanes[lane].parked.min, next.until <= now {
            lanes[lane].parked.removeMin()
            guard let (slot, index) = locate(next.id),
                partitions[slot][delivery: index, Int(next.id.platform)].phase == .parked
            else { continue }
            partitions[slot][delivery: index, Int(next.id.platform)].phase = .ready
            lanes[lane].ready.prepend(next.id)
        }
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
            if lanes[lane].parked.count > most {
                let live = lanes[lane].parked.unordered.filter { phase(of: $0.id) == .parked }
                lanes[lane].parked = Heap(live)
            }
        }
    }

    private func phase(of id: DeliveryID) -> DeliveryState.Phase? {
        locate(id).map { partitions[$0.slot][delivery: $0.index, Int(id.platform)].phase }
    }

    // MARK: Probes

    /// While halted, one request at a time finds out whether it is over.
    private mutating func sendProbe(at now: Instant, into actions: inout [Action]) {
        guard let halt, probe == nil, now >= halt.probeAt else { return }
        // Every connection may still wait for the hub that stopped answering.
        guard flights.count < settings.connections else {
            self.halt?.probeAt = now + settings.probeFirst
            return
        }
        guard now >= awayUntil else {
            self.halt?.probeAt = awayUntil
            return
        }
        if let bucket, case .notBefore(let earliest) = bucket.ask(at: now) {
            self.halt?.probeAt = earliest
            return
        }
        if halt.reason == .flood, examineProbe(at: now, into: &actions) { return }
        for lane in lanes.indices where !lanes[lane].isPaused {
            while !lanes[lane].ready.isEmpty {
                guard let departure = nextReady(lane, at: now, into: &actions) else { continue }
                lanes[lane].ready.removeFirst()
                if halt.reason == .keyRefused { renewToken(into: &actions) }
                depart(departure, lane: lane, isProbe: true, at: now, into: &actions)
                return
            }
        }
        // Nothing waits: look again at the probe's own pace, or at once when something arrives behind this time.
        self.halt?.probeAt = now + .seconds(1)
    }

    /// In a flood one unexamined record is let through; `true` when it failed again.
    private mutating func examineProbe(at now: Instant, into actions: inout [Action]) -> Bool {
        for lane in lanes.indices where !lanes[lane].isPaused && lanes[lane].ready.isEmpty {
            guard let next = lanes[lane].unexamined.popFirst() else { continue }
            examine(next, lane: lane, at: now, into: &actions)
            if lanes[lane].ready.isEmpty {
                halt?.probeFailed(at: now, longest: settings.probeLongest)
                return true
            }
            return false
        }
        return false
    }

    mutating func renewToken(into actions: inout [Action]) {
        tokenEpoch += 1
        tokenIsProven = false
        actions.append(.renewToken)
    }
}

extension Partition {
    fileprivate mutating func markDeparted(_ index: Int, _ platform: Int, at now: Instant) {
        self[delivery: index, platform].phase = .flying
        self[delivery: index, platform].attempts += 1
        if self[delivery: index, platform].firstSentAt == nil { self[delivery: index, platform].firstSentAt = now }
    }
}
