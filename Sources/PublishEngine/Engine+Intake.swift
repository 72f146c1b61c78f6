import DequeModule
import NewsModel

/// Records become deliveries: decoded, routed, joined to their stories.
extension Engine {
    mutating func receive(
        _ records: [SourceRecord], of id: TopicPartition, lane: Int, generation: Int, at now: Instant,
        into actions: inout [Action]
    ) {
        let bytes = records.reduce(0) { $0 + $1.byteCount }
        guard let slot = slot(of: id, lane: lane, generation: generation), partitions[slot].phase == .active else {
            lanes[lane].received(records: 0, bytes: 0, granted: records.count, grantedBytes: bytes)
            return
        }
        var taken = 0
        var takenBytes = 0
        for record in records {
            guard let sequence = partitions[slot].append(record, at: now) else { continue }
            taken += 1
            takenBytes += record.byteCount
            let first = DeliveryID(
                slot: UInt16(slot), incarnation: partitions[slot].incarnation, sequence: sequence, platform: 0)
            lanes[lane].unexamined.append(Lane.Unexamined(id: first, record: record))
        }
        lanes[lane].received(records: taken, bytes: takenBytes, granted: records.count, grantedBytes: bytes)
        if !partitions[slot].isHeld, partitions[slot].entries.count >= lanes[lane].spanMax {
            partitions[slot].isHeld = true
            lanes[lane].hasHeldPartitions = true
            actions.append(.hold(id, lane: lane, generation: generation))
        }
    }

    mutating func reachEnd(_ offset: Int64, of id: TopicPartition, lane: Int, generation: Int) {
        guard let slot = slot(of: id, lane: lane, generation: generation), partitions[slot].phase == .active else {
            return
        }
        partitions[slot].reachedEnd(offset)
        if partitions[slot].lowWatermark != partitions[slot].committed { lanes[lane].isDirty = true }
    }

    private func slot(of id: TopicPartition, lane: Int, generation: Int) -> Int? {
        lanes[lane].slots.first { partitions[$0].id == id && partitions[$0].generation == generation }
    }

    /// Examines what was read, unless the line is stopped.
    mutating func examine(at now: Instant, into actions: inout [Action]) {
        guard draining == nil, halt?.reason != .flood else { return }
        for lane in lanes.indices where !lanes[lane].isPaused {
            while halt?.reason != .flood, let next = lanes[lane].unexamined.popFirst() {
                examine(next, lane: lane, at: now, into: &actions)
            }
        }
    }

    /// Examines one record: every delivery of it is settled or joins its story.
    mutating func examine(_ next: Lane.Unexamined, lane: Int, at now: Instant, into actions: inout [Action]) {
        guard let (slot, index) = locate(next.id), partitions[slot].phase == .active else { return }
        let record = next.record
        let wanted = openPlatforms(of: record, slot: slot, index: index)
        guard wanted != 0 else { return }

        let routing: Routing
        let news: News
        switch decoder.decode(record) {
        case .success(let event):
            routing = desk.router.route(event)
            news = News(event, routing, read: desk)
        case .failure(let undecodable):
            partitions[slot][entry: index].content = Content(record: record, eventID: undecodable.eventID)
            settleAll(
                wanted, of: next.id, as: .undecodable,
                .init(code: undecodable.reason.rawValue, detail: undecodable.detail), at: now, into: &actions)
            return
        }
        let base = max(partitions[slot][entry: index].writtenAt, news.event.embargoUntil ?? .distantPast)
        let oldest = lanes[lane].settings.maxAge.map { base + $0 }
        let content = Content(
            record: record, eventID: news.event.id, news: news,
            deadline: min(news.event.expiresAt ?? .distantFuture, oldest ?? .distantFuture),
            expiresAt: news.event.expiresAt ?? oldest)
        partitions[slot][entry: index].content = content

        switch news.event.status {
        case .withheld:
            settleAll(
                wanted, of: next.id, as: .withheld, .init(code: "withheld", detail: "the event's status is withheld"),
                at: now, into: &actions)
            return
        case .canceled:
            recall(news.event, lane: lane, platforms: wanted, at: now, into: &actions)
            settleAll(
                wanted, of: next.id, as: .canceled, .init(code: "canceled", detail: "the event recalls its story"),
                at: now, into: &actions)
            return
        case .usable:
            break
        }
        if case .unroutable(let failure) = routing {
            settleAll(wanted, of: next.id, as: .unroutable, failure, at: now, into: &actions)
            return
        }
        for platform in settings.platforms.indices where wanted & (1 << platform) != 0 {
            var id = next.id
            id.platform = UInt8(platform)
            admit(id, news: news, content: content, slot: slot, index: index, lane: lane, at: now, into: &actions)
        }
        moveLinesOn(at: now, into: &actions)
    }

    /// The platforms of a record that still need an outcome, as bits: those the ledger knows are done, and a redriven
    /// record names the one it is for.
    private mutating func openPlatforms(of record: SourceRecord, slot: Int, index: Int) -> UInt16 {
        let all: UInt16 = (1 << settings.platforms.count) - 1
        var wanted = all
        if !record.headers.isEmpty, let header = record.headers.last(where: { $0.name == RedriveHeader.platform }),
            let platform = header.text.flatMap(Platform.init(rawValue:)),
            let position = settings.platforms.firstIndex(of: platform)
        {
            wanted = 1 << position
        }
        if !partitions[slot].restored.isEmpty, let known = partitions[slot].restored.removeValue(forKey: record.offset)
        {
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
        _ id: DeliveryID, news: News, content: Content, slot: Int, index: Int, lane: Int, at now: Instant,
        into actions: inout [Action]
    ) {
        if now >= content.deadline {
            settle(id, as: .expired, expiry(of: content), at: now, into: &actions)
            return
        }
        let delivery = RecentDeliveries.delivery(
            id: news.event.id, version: news.event.version?.text, platform: id.platform)
        guard partitions[slot].recent.insert(delivery) else {
            let detail = "the same id and version was read before"
            settle(id, as: .duplicate, .init(code: "duplicate", detail: detail), at: now, into: &actions)
            return
        }
        let story = RecentDeliveries.story(news.event.orderKey, platform: id.platform)
        if let version = news.event.version, partitions[slot].recent.isOutdated(version, ofStory: story) {
            let detail = "a newer version of the story came before"
            settle(id, as: .superseded, .init(code: "outdated", detail: detail), at: now, into: &actions)
            return
        }
        let line = story.value &+ UInt64(lane)
        partitions[slot][delivery: index, Int(id.platform)].line = line
        join(line, id, news: news, slot: slot, index: index, lane: lane, at: now, into: &actions)
    }

    func expiry(of content: Content) -> ResultRecord.Failure {
        if let expiresAt = content.news?.event.expiresAt, expiresAt == content.deadline {
            return .init(code: "expired", detail: "the event's expiresAt has passed")
        }
        return .init(code: "too-old", detail: "older than the lane's maxAge")
    }
}
