import DequeModule
import KafkaModel
import NewsModel

/// Deliveries of one story leave in order; the newest version wins, and a recalled story does not leave.
extension Engine {
    mutating func join(
        _ line: UInt64, _ id: DeliveryID, news: News, slot: Int, index: Int, _ lane: LaneID, _ turn: inout Turn
    ) {
        if StoryLine.begin(&lines[line], with: id) {
            head(id, until: news.event.embargoUntil, slot: slot, index: index, lane, turn)
            return
        }
        partitions[slot][delivery: index, id.platform].phase = .waiting
        lines[line]?.waiting.append(id)
        guard news.event.version != nil else { return }
        supersede(in: line, by: news.event, id, &turn)
    }

    /// The delivery is the first of its story: it may leave, or waits for its embargo.
    private mutating func head(
        _ id: DeliveryID, until embargo: Instant?, slot: Int, index: Int, _ lane: LaneID, _ turn: Turn
    ) {
        if let embargo, embargo > turn.embargoClock {
            partitions[slot][delivery: index, id.platform].phase = .delayed
            lanes[lane].embargo(id, until: embargo)
        } else {
            partitions[slot][delivery: index, id.platform].phase = .ready
            lanes[lane].ready.append(id)
        }
    }

    /// Settles every queued older version of the story. What is on the wire is awaited, and does not leave again.
    private mutating func supersede(
        in line: UInt64, by newer: NewsEvent, _ newest: DeliveryID, _ turn: inout Turn
    ) {
        for id in deliveries(in: line) where id != newest {
            guard let event = event(of: id), event.orderKey == newer.orderKey, let version = event.version,
                let newerVersion = newer.version, version < newerVersion
            else { continue }
            withdraw(id, for: .superseded, &turn)
        }
    }

    /// On this shard and the process's others.
    mutating func recallEverywhere(_ orderKey: String, _ turn: inout Turn) {
        if recall(orderKey, &turn) { turn.actions.append(.recall(story: orderKey)) }
    }

    /// A recall: what has not left yet will not leave, in no lane, and neither will what comes later.
    ///
    /// - Returns: whether the story was not recalled before.
    @discardableResult
    mutating func recall(_ orderKey: String, _ turn: inout Turn) -> Bool {
        let isNew = recalled.insert(orderKey)
        for platform in settings.platforms.indices {
            let story = RecentDeliveries.story(orderKey, platform: UInt8(platform))
            for lane in lanes.indices {
                for id in deliveries(in: story.value &+ UInt64(lane)) {
                    guard let event = event(of: id), event.orderKey == orderKey else { continue }
                    withdraw(id, for: .recalled, &turn)
                }
            }
        }
        advanceStories(&turn)
        return isNew
    }

    /// Ends a delivery that waits; one that is under way is awaited first, and not tried again.
    private mutating func withdraw(_ id: DeliveryID, for reason: DeliveryState.Withdrawal, _ turn: inout Turn) {
        guard let (slot, index) = locate(id) else { return }
        let state = partitions[slot][delivery: index, id.platform]
        if state.isQueued {
            endWithdrawn(id, for: reason, reply: nil, &turn)
        } else if state.phase == .inFlight, state.withdrawal != .recalled {
            partitions[slot][delivery: index, id.platform].withdrawal = reason
        }
    }

    /// The line's deliveries without an outcome, first to last.
    func deliveries(in line: UInt64) -> [DeliveryID] {
        guard let story = lines[line] else { return [] }
        return ([story.holder] + story.waiting).filter { id in
            locate(id).map { partitions[$0.slot][delivery: $0.index, id.platform].isOpen } ?? false
        }
    }

    private func event(of id: DeliveryID) -> NewsEvent? {
        locate(id).flatMap { partitions[$0.slot][entry: $0.index].content?.news?.event }
    }

    /// Lets the next of each line step up whose holder is done or gone.
    mutating func advanceStories(_ turn: inout Turn) {
        while let line = linesToAdvance.popLast() {
            guard let place = lines.index(forKey: line), !isOpen(lines.values[place].holder) else { continue }
            if lines.values[place].waiting.isEmpty { lines.remove(at: place) } else { advance(line, &turn) }
        }
    }

    private func isOpen(_ holder: DeliveryID) -> Bool {
        locate(holder).map { partitions[$0.slot][delivery: $0.index, holder.platform].isOpen } ?? false
    }

    private mutating func advance(_ line: UInt64, _ turn: inout Turn) {
        while let next = lines[line]?.waiting.popFirst() {
            guard let (slot, index) = locate(next),
                partitions[slot][delivery: index, next.platform].phase == .waiting,
                let event = partitions[slot][entry: index].content?.news?.event
            else { continue }
            if partitions[slot][delivery: index, next.platform].awaitsTwin,
                !takePlaceOfTwin(next, event, slot: slot, index: index)
            {
                settleDuplicate(next, &turn)
                continue
            }
            lines[line]?.holder = next
            head(next, until: event.embargoUntil, slot: slot, index: index, partitions[slot].lane, turn)
            return
        }
        lines[line] = nil
    }

    // MARK: Duplicates

    /// A second copy waits while something of its story is under way: should its twin end without acceptance, it is an
    /// editor's second try.
    ///
    /// - Returns: `false` when nothing is: then it is a duplicate.
    mutating func waitForTwin(_ id: DeliveryID, in line: UInt64, slot: Int, index: Int) -> Bool {
        guard lines[line] != nil else { return false }
        partitions[slot][delivery: index, id.platform].awaitsTwin = true
        partitions[slot][delivery: index, id.platform].line = line
        partitions[slot][delivery: index, id.platform].phase = .waiting
        lines[line]?.waiting.append(id)
        return true
    }

    /// - Returns: `false` when the twin was accepted.
    private mutating func takePlaceOfTwin(_ id: DeliveryID, _ event: NewsEvent, slot: Int, index: Int) -> Bool {
        partitions[slot][delivery: index, id.platform].awaitsTwin = false
        let isFirst = partitions[slot].recent.insert(
            RecentDeliveries.delivery(id: event.id, version: event.version?.text, platform: UInt8(id.platform)))
        partitions[slot][delivery: index, id.platform].hasNotedID = isFirst
        return isFirst
    }

    mutating func settleDuplicate(_ id: DeliveryID, _ turn: inout Turn) {
        let detail = "the same id and version was read before"
        settle(id, as: .duplicate, .init(code: "duplicate", detail: detail), &turn)
    }
}
