import DequeModule
import KafkaModel
import NewsModel

/// Records become deliveries: decoded, routed, joined to their stories.
extension Engine {
    mutating func receive(
        _ records: [SourceRecord], of id: TopicPartition, _ lane: LaneID, _ generation: Generation, _ turn: inout Turn
    ) {
        let bytes = records.reduce(0) { $0 + $1.byteCount }
        guard let slot = slot(of: id, lane, generation), partitions[slot].phase == .active else {
            lanes[lane].received(records: 0, bytes: 0, granted: records.count, grantedBytes: bytes)
            return
        }
        var taken = 0
        var takenBytes = 0
        for record in records {
            guard let sequence = partitions[slot].append(record, at: turn.wall) else { continue }
            taken += 1
            takenBytes += record.byteCount
            let first = DeliveryID(
                slot: slot, occupancy: partitions[slot].occupancy, sequence: sequence, platform: 0)
            lanes[lane].unexamined.append(Lane.Unexamined(id: first, record: record))
        }
        lanes[lane].received(records: taken, bytes: takenBytes, granted: records.count, grantedBytes: bytes)
        if !partitions[slot].isHeld, partitions[slot].entries.count >= lanes[lane].spanMax {
            partitions[slot].isHeld = true
            lanes[lane].hasHeldPartitions = true
            turn.actions.append(.kafka(.hold(id, lane, generation)))
        }
    }

    mutating func reachEnd(_ offset: Int64, of id: TopicPartition, _ lane: LaneID, _ generation: Generation) {
        guard let slot = slot(of: id, lane, generation), partitions[slot].phase == .active else { return }
        partitions[slot].reachedEnd(offset)
        if partitions[slot].lowWatermark != partitions[slot].committed { lanes[lane].commit.isDirty = true }
    }

    /// The slot of a partition that is ours in the given generation.
    func slot(of id: TopicPartition, _ lane: LaneID, _ generation: Generation) -> Int? {
        lanes[lane].slots.first { partitions[$0].id == id && partitions[$0].generation == generation }
    }

    /// Examines what was read, unless the lane is stopped.
    mutating func examine(_ turn: inout Turn) {
        guard draining == nil else { return }
        for lane in lanes.indices where !lanes[lane].isPaused {
            while lanes[lane].flood == nil, let next = lanes[lane].unexamined.popFirst() {
                examine(next, LaneID(lane), &turn)
            }
        }
    }

    /// Examines one record: every delivery of it is settled or joins its story.
    mutating func examine(_ next: Lane.Unexamined, _ lane: LaneID, _ turn: inout Turn) {
        guard let (slot, index) = locate(next.id), partitions[slot].isSending else { return }
        let record = next.record
        let identity = RecordIdentity(of: record)
        let wanted: UInt16
        let routing: Routing
        let news: News
        switch decoder.decode(record) {
        case .success(let event):
            wanted = openPlatforms(of: record, identity, eventID: event.id, slot: slot, index: index)
            guard wanted != 0 else {
                // It was reported in a former life; what it recalled must not leave in this one either.
                if event.status == .canceled { recallEverywhere(event.orderKey, &turn) }
                return
            }
            routing = desk.router.route(event)
            news = News(event, routing, read: desk)
        case .failure(let undecodable):
            wanted = openPlatforms(of: record, identity, eventID: undecodable.eventID, slot: slot, index: index)
            guard wanted != 0 else { return }
            partitions[slot][entry: index].content = Content(
                record: record, identity: identity, eventID: undecodable.eventID)
            settleAll(
                wanted, of: next.id, as: .undecodable,
                .init(code: undecodable.reason.rawValue, detail: undecodable.detail), &turn)
            return
        }
        let content = content(of: record, identity, news, lane, turn)
        partitions[slot][entry: index].content = content

        switch news.event.status {
        case .withheld:
            settleAll(
                wanted, of: next.id, as: .withheld, .init(code: "withheld", detail: "the event's status is withheld"),
                &turn)
            return
        case .canceled:
            recallEverywhere(news.event.orderKey, &turn)
            settleAll(
                wanted, of: next.id, as: .canceled, .init(code: "canceled", detail: "the event recalls its story"),
                &turn)
            return
        case .usable:
            break
        }
        if case .unroutable(let failure) = routing {
            settleAll(wanted, of: next.id, as: .unroutable, failure, &turn)
            return
        }
        for platform in settings.platforms.indices where wanted & (1 << platform) != 0 {
            admit(next.id.on(platform), news: news, content: content, slot: slot, index: index, lane, &turn)
        }
        advanceStories(&turn)
    }

    private func content(
        of record: SourceRecord, _ identity: RecordIdentity, _ news: News, _ lane: LaneID, _ turn: Turn
    ) -> Content {
        let embargo = news.event.embargoUntil
        var oldest: Instant?
        var staleAt = Instant.distantFuture
        if let maxAge = lanes[lane].settings.maxAge {
            oldest = max(record.timestamp ?? turn.wall, embargo ?? .distantPast) + maxAge
            if embargo == nil { staleAt = turn.now + maxAge }
        }
        // Without a time of its own a record is as old as the time since it was read, by the clock that is never set.
        let isDatedByUs = record.timestamp == nil && embargo == nil
        let tooOldAt = isDatedByUs ? Instant.distantFuture : oldest ?? .distantFuture
        let shownUntil = oldest.map { min($0, turn.wall + (staleAt - turn.now)) }
        return Content(
            record: record, identity: identity, eventID: news.event.id, news: news,
            deadline: min(news.event.expiresAt ?? .distantFuture, tooOldAt), staleAt: staleAt,
            expiresAt: news.event.expiresAt ?? shownUntil)
    }

    /// The platforms of a record that still need an outcome, as bits: those the ledger knows are done, and a redriven
    /// record names the one it is for.
    private mutating func openPlatforms(
        of record: SourceRecord, _ identity: RecordIdentity, eventID: String?, slot: Int, index: Int
    ) -> UInt16 {
        let all: UInt16 = (1 << settings.platforms.count) - 1
        var wanted = all
        if !record.headers.isEmpty, let header = record.headers.last(where: { $0.name == RedriveHeader.platform }),
            let platform = header.text.flatMap(Platform.init(rawValue:)),
            let position = settings.platforms.firstIndex(of: platform)
        {
            wanted = 1 << position
        }
        if let known = partitions[slot].takeRestored(record.offset, identity, eventID: eventID) {
            wanted &= ~known.platforms
            partitions[slot][entry: index].firstResult = known.firstResult
        }
        for platform in settings.platforms.indices where wanted & (1 << platform) == 0 {
            partitions[slot][delivery: index, platform].phase = .stored
            partitions[slot][entry: index].unsettled -= 1
            close(slot: slot, index: index)
        }
        return wanted
    }

    private mutating func admit(
        _ id: DeliveryID, news: News, content: Content, slot: Int, index: Int, _ lane: LaneID, _ turn: inout Turn
    ) {
        if recalled.contains(news.event.orderKey) {
            settle(id, as: .canceled, .recalled, &turn)
            return
        }
        if content.isStale(turn) {
            settle(id, as: .expired, expiry(of: content), &turn)
            return
        }
        let delivery = RecentDeliveries.delivery(
            id: news.event.id, version: news.event.version?.text, platform: UInt8(id.platform))
        // What was put back on its lane is sent although its id is known.
        let isFirst = partitions[slot].recent.insert(delivery)
        let story = RecentDeliveries.story(news.event.orderKey, platform: UInt8(id.platform))
        let line = story.value &+ UInt64(lane.index)
        guard isFirst || content.record.isRedriven else {
            if !waitForTwin(id, in: line, slot: slot, index: index) { settleDuplicate(id, &turn) }
            return
        }
        if let version = news.event.version, partitions[slot].recent.isOutdated(version, ofStory: story) {
            if isFirst { partitions[slot].recent.remove(delivery) }
            let detail = "a newer version of the story came before"
            settle(id, as: .superseded, .init(code: "outdated", detail: detail), &turn)
            return
        }
        partitions[slot][delivery: index, id.platform].hasNotedID = isFirst
        partitions[slot][delivery: index, id.platform].line = line
        join(line, id, news: news, slot: slot, index: index, lane, &turn)
    }

    func expiry(of content: Content) -> ResultRecord.Failure {
        if let expiresAt = content.news?.event.expiresAt, expiresAt == content.deadline {
            return .init(code: "expired", detail: "the event's expiresAt has passed")
        }
        return .init(code: "too-old", detail: "older than the lane's maxAge")
    }
}

extension SourceRecord {
    /// Whether a person put it back on its lane.
    fileprivate var isRedriven: Bool { !headers.isEmpty && headers.contains { $0.name == HeaderName.redrive } }
}

extension ResultRecord.Failure {
    static let recalled = ResultRecord.Failure(code: "recalled", detail: "the story was recalled")
    static let superseded = ResultRecord.Failure(
        code: "superseded", detail: "a newer version of the story was waiting")
}
