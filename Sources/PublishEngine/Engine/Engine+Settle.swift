import KafkaModel
import NewsModel
import NotificationHub

/// A delivery gets its one outcome, and the outcome goes to the results topic, behind its dead letter if there is one.
extension Engine {
    mutating func settleAll(
        _ platforms: UInt16, of first: DeliveryID, as outcome: Outcome, _ failure: ResultRecord.Failure,
        _ turn: inout Turn
    ) {
        for platform in settings.platforms.indices where platforms & (1 << platform) != 0 {
            settle(first.on(platform), as: outcome, failure, &turn)
        }
    }

    /// Ends a delivery that must not leave any more. An unanswered attempt may have been accepted: then nobody can say that
    /// it did not leave.
    mutating func endWithdrawn(
        _ id: DeliveryID, for reason: DeliveryState.Withdrawal, reply: HubReply?, _ turn: inout Turn
    ) {
        guard let (slot, index) = locate(id) else { return }
        let isCertain = partitions[slot][delivery: index, id.platform].unknowns == 0
        switch reason {
        case .recalled: settle(id, as: isCertain ? .canceled : .unknown, .recalled, reply: reply, &turn)
        case .superseded: settle(id, as: isCertain ? .superseded : .unknown, .superseded, reply: reply, &turn)
        }
    }

    mutating func settle(
        _ id: DeliveryID, as outcome: Outcome, _ failure: ResultRecord.Failure?, reply: HubReply? = nil,
        _ turn: inout Turn
    ) {
        guard let (slot, index) = locate(id), let content = partitions[slot][entry: index].content else { return }
        let platform = id.platform
        let state = partitions[slot][delivery: index, platform]
        // Its story waits until the result is on its way: a later one's result must not be stored before it.
        if state.line != 0, !outcome.isDeadLettered { linesToAdvance.append(state.line) }
        partitions[slot][delivery: index, platform].phase = outcome.isDeadLettered ? .deadLettered : .settled
        if partitions[slot].unstored == 0 { partitions[slot].storedAt = turn.now }
        partitions[slot].unstored += 1
        partitions[slot].letGo(of: index)
        if state.hasNotedID, outcome != .accepted, let event = content.news?.event { forgetID(of: event, id) }
        noteEnding(outcome, partitions[slot].lane, turn)

        let writtenAt = partitions[slot][entry: index].writtenAt
        let routing = content.news?.routing
        var result = ResultRecord(
            eventID: content.eventID, platform: settings.platforms[platform], outcome: outcome,
            categories: routing?.categories ?? [], tags: routing?.tags ?? [],
            lane: lanes[partitions[slot].lane].settings.name, attempts: Int(state.attempts),
            httpStatus: reply?.status, notificationID: reply?.notificationID, trackingID: reply?.trackingID,
            source: .init(partition: partitions[slot].id, offset: partitions[slot][entry: index].offset),
            publishedAt: content.news?.event.publishedAt, settledAt: turn.wall,
            latency: .init(
                queue: state.firstSentAt.map { max(.zero, $0 - writtenAt) }, hub: state.hubTime,
                total: max(.zero, turn.wall - writtenAt)),
            error: failure)
        if outcome == .accepted, state.withdrawal == .recalled { result.afterRecall = true }
        let request = StoreRequest(
            delivery: id, result: result, version: content.news?.event.version?.text,
            identity: content.identity,
            carried: content.record.headers.isEmpty ? [] : content.record.headers.carriedToResults)
        if outcome.isDeadLettered {
            pendingResults[id] = request
            turn.actions.append(.storeDeadLetter(request, content.record))
        } else {
            turn.actions.append(.store(request))
        }
    }

    /// Another try, by an editor for example, is no duplicate; unless one that a person put back is already under way.
    private mutating func forgetID(of event: NewsEvent, _ id: DeliveryID) {
        let slot = id.slot
        let line = locate(id).map { partitions[slot][delivery: $0.index, id.platform].line } ?? 0
        for other in deliveries(in: line) where other != id && other.slot == slot && other.platform == id.platform {
            guard let (_, index) = locate(other), let twin = partitions[slot][entry: index].content?.news?.event,
                twin.id == event.id, twin.version?.text == event.version?.text,
                // One that waits for this ending looks for itself.
                !partitions[slot][delivery: index, other.platform].awaitsTwin
            else { continue }
            partitions[slot][delivery: index, other.platform].hasNotedID = true
            return
        }
        partitions[slot].recent.remove(
            RecentDeliveries.delivery(id: event.id, version: event.version?.text, platform: UInt8(id.platform)))
    }

    private mutating func noteEnding(_ outcome: Outcome, _ lane: LaneID, _ turn: Turn) {
        guard outcome.isDeadLettered || outcome == .accepted else { return }
        lanes[lane].floodGuard.note(failed: outcome.isDeadLettered)
        if lanes[lane].flood == nil, lanes[lane].floodGuard.trips {
            lanes[lane].flood = Halt(
                reason: .flood, detail: "lane \(lanes[lane].settings.name): most recent events ended as dead letters",
                at: turn.now, probeAfter: settings.probeFirst)
        }
    }

    /// Lets more be read as records leave the window.
    mutating func grant(_ turn: inout Turn) {
        guard draining == nil else { return }
        for lane in lanes.indices where !lanes[lane].slots.isEmpty && lanes[lane].draining == nil {
            if let (records, bytes) = lanes[lane].grant() {
                turn.actions.append(.kafka(.grant(LaneID(lane), records: records, bytes: bytes)))
            }
            if lanes[lane].hasHeldPartitions { resumeHeld(lane, &turn) }
        }
    }

    /// Held partitions that have shrunk to half the bound are read again.
    private mutating func resumeHeld(_ lane: Int, _ turn: inout Turn) {
        lanes[lane].hasHeldPartitions = false
        for slot in lanes[lane].slots where partitions[slot].isHeld && partitions[slot].phase == .active {
            if partitions[slot].entries.count <= lanes[lane].spanMax / 2 {
                partitions[slot].isHeld = false
                turn.actions.append(.kafka(.resume(partitions[slot].id, LaneID(lane), lanes[lane].generation)))
            } else {
                lanes[lane].hasHeldPartitions = true
            }
        }
    }
}

extension Partition {
    /// One delivery less needs the record's content. It goes with the last: then it was just used, and freeing what is
    /// at hand costs far less than looking for it when the result is stored.
    fileprivate mutating func letGo(of index: Int) {
        self[entry: index].unsettled -= 1
        if self[entry: index].unsettled == 0 { self[entry: index].content = nil }
    }
}
