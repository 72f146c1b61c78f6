import DequeModule
import NewsModel

/// Deliveries of one story leave in order; the newest version wins.
extension Engine {
    mutating func join(
        _ line: UInt64, _ id: DeliveryID, news: News, slot: Int, index: Int, lane: Int, at now: Instant,
        into actions: inout [Action]
    ) {
        if StoryLine.begin(&lines[line], with: id) {
            hold(id, until: news.event.embargoUntil, slot: slot, index: index, lane: lane, at: now)
            return
        }
        partitions[slot][delivery: index, Int(id.platform)].phase = .waiting
        lines[line]?.waiting.append(id)
        guard news.event.version != nil else { return }
        supersede(in: line, by: news.event, id, at: now, into: &actions)
    }

    /// The delivery is the first of its story: it may leave, or waits for its embargo.
    private mutating func hold(
        _ id: DeliveryID, until embargo: Instant?, slot: Int, index: Int, lane: Int, at now: Instant
    ) {
        if let embargo, embargo > now {
            partitions[slot][delivery: index, Int(id.platform)].phase = .parked
            lanes[lane].park(id, until: embargo)
        } else {
            partitions[slot][delivery: index, Int(id.platform)].phase = .ready
            lanes[lane].ready.append(id)
        }
    }

    /// Settles every queued older version of the story; what is on the wire is let be.
    private mutating func supersede(
        in line: UInt64, by newer: NewsEvent, _ newest: DeliveryID, at now: Instant, into actions: inout [Action]
    ) {
        let failure = ResultRecord.Failure(code: "superseded", detail: "a newer version of the story was waiting")
        for id in queued(in: line) where id != newest {
            guard let event = event(of: id), event.orderKey == newer.orderKey, let version = event.version,
                let newerVersion = newer.version, version < newerVersion
            else { continue }
            settle(id, as: .superseded, failure, at: now, into: &actions)
        }
    }

    /// A recall: what has not left yet will not leave.
    mutating func recall(
        _ recalling: NewsEvent, lane: Int, platforms: UInt16, at now: Instant, into actions: inout [Action]
    ) {
        let failure = ResultRecord.Failure(code: "recalled", detail: "the story was canceled before this left")
        for platform in settings.platforms.indices where platforms & (1 << platform) != 0 {
            let story = RecentDeliveries.story(recalling.orderKey, platform: UInt8(platform))
            for id in queued(in: story.value &+ UInt64(lane)) {
                guard let event = event(of: id), event.orderKey == recalling.orderKey else { continue }
                settle(id, as: .canceled, failure, at: now, into: &actions)
            }
        }
        moveLinesOn(at: now, into: &actions)
    }

    /// The line's deliveries that are not on the wire, first to last.
    private func queued(in line: UInt64) -> [DeliveryID] {
        guard let story = lines[line] else { return [] }
        return ([story.holder] + story.waiting).filter { id in
            locate(id).map { partitions[$0.slot][delivery: $0.index, Int(id.platform)].isQueued } ?? false
        }
    }

    private func event(of id: DeliveryID) -> NewsEvent? {
        locate(id).flatMap { partitions[$0.slot][entry: $0.index].content?.news?.event }
    }

    /// Lets the next of each line step up whose holder is done or gone.
    mutating func moveLinesOn(at now: Instant, into actions: inout [Action]) {
        while let line = linesToAdvance.popLast() {
            guard let place = lines.index(forKey: line), !isHeld(lines.values[place].holder) else { continue }
            if lines.values[place].waiting.isEmpty { lines.remove(at: place) } else { advance(line, at: now) }
        }
    }

    private func isHeld(_ holder: DeliveryID) -> Bool {
        guard let (slot, index) = locate(holder) else { return false }
        switch partitions[slot][delivery: index, Int(holder.platform)].phase {
        case .ready, .parked, .flying, .waiting: return true
        case .unread, .settled, .stored: return false
        }
    }

    private mutating func advance(_ line: UInt64, at now: Instant) {
        while let next = lines[line]?.waiting.popFirst() {
            guard let (slot, index) = locate(next),
                partitions[slot][delivery: index, Int(next.platform)].phase == .waiting
            else { continue }
            lines[line]?.holder = next
            let embargo = partitions[slot][entry: index].content?.news?.event.embargoUntil
            hold(next, until: embargo, slot: slot, index: index, lane: partitions[slot].lane, at: now)
            return
        }
        lines[line] = nil
    }
}
