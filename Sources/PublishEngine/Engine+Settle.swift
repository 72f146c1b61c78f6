import NewsModel
import NotificationHub

/// A delivery gets its one outcome, and the outcome goes to the results topic.
extension Engine {
    mutating func settleAll(
        _ platforms: UInt16, of first: DeliveryID, as outcome: Outcome, _ failure: ResultRecord.Failure,
        at now: Instant, into actions: inout [Action]
    ) {
        for platform in settings.platforms.indices where platforms & (1 << platform) != 0 {
            var id = first
            id.platform = UInt8(platform)
            settle(id, as: outcome, failure, at: now, into: &actions)
        }
    }

    mutating func settle(
        _ id: DeliveryID, as outcome: Outcome, _ failure: ResultRecord.Failure?, reply: HubReply? = nil,
        at now: Instant, into actions: inout [Action]
    ) {
        guard let (slot, index) = locate(id), let content = partitions[slot][entry: index].content else { return }
        let platform = Int(id.platform)
        let state = partitions[slot][delivery: index, platform]
        if state.line != 0 { linesToAdvance.append(state.line) }
        partitions[slot][delivery: index, platform].phase = .settled
        partitions[slot][delivery: index, platform].acknowledgements = outcome.isDeadLettered ? 2 : 1
        partitions[slot].unstored += 1
        partitions[slot].letGo(of: index)
        if state.line != 0, outcome != .accepted, outcome != .unknown, let event = content.news?.event {
            partitions[slot].recent.remove(
                RecentDeliveries.delivery(id: event.id, version: event.version?.text, platform: id.platform))
        }
        noteEnding(outcome, at: now)

        let writtenAt = partitions[slot][entry: index].writtenAt
        let routing = content.news?.routing
        actions.append(
            .store(
                StoreRequest(
                    token: id.token(.result),
                    result: ResultRecord(
                        eventID: content.eventID, platform: settings.platforms[platform], outcome: outcome,
                        categories: routing?.categories ?? [], tags: routing?.tags ?? [],
                        lane: lanes[partitions[slot].lane].settings.name, attempts: Int(state.attempts),
                        httpStatus: reply?.status, notificationID: reply?.notificationID,
                        trackingID: reply?.trackingID,
                        source: .init(partition: partitions[slot].id, offset: partitions[slot][entry: index].offset),
                        publishedAt: content.news?.event.publishedAt, settledAt: now,
                        latency: .init(
                            queue: state.firstSentAt.map { $0 - writtenAt }, hub: state.hubTime,
                            total: now - writtenAt),
                        error: failure),
                    version: content.news?.event.version?.text,
                    carried: content.record.headers.isEmpty ? [] : content.record.headers.carriedToResults,
                    deadLetter: outcome.isDeadLettered
                        ? .init(token: id.token(.deadLetter), record: content.record) : nil)))
    }

    private mutating func noteEnding(_ outcome: Outcome, at now: Instant) {
        guard outcome.isDeadLettered || outcome == .accepted else { return }
        floodGuard.note(failed: outcome.isDeadLettered)
        if halt == nil, floodGuard.trips {
            halt = Halt(
                reason: .flood, detail: "most recent events ended as dead letters", at: now,
                probeAfter: settings.probeFirst)
        }
    }

    /// Lets more be read as records leave the window.
    mutating func grant(into actions: inout [Action]) {
        guard draining == nil else { return }
        for lane in lanes.indices where !lanes[lane].slots.isEmpty && lanes[lane].draining == nil {
            if let (records, bytes) = lanes[lane].grant() {
                actions.append(.grant(lane: lane, records: records, bytes: bytes))
            }
            if lanes[lane].hasHeldPartitions { resumeHeld(lane, into: &actions) }
        }
    }

    /// Held partitions that have shrunk to half the bound are read again.
    private mutating func resumeHeld(_ lane: Int, into actions: inout [Action]) {
        lanes[lane].hasHeldPartitions = false
        for slot in lanes[lane].slots where partitions[slot].isHeld && partitions[slot].phase == .active {
            if partitions[slot].entries.count <= lanes[lane].spanMax / 2 {
                partitions[slot].isHeld = false
                actions.append(.resume(partitions[slot].id, lane: lane, generation: lanes[lane].generation))
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
