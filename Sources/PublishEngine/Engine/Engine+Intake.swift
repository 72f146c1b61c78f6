import DequeModule
import KafkaModel
import NewsModel

/// Records become deliveries: decoded, routed, joined to their stories.
extension Engine {
    mutating func receive(
        _ records: [SourceRecord], of id: TopicPartition, _ lane: LaneID, _ generation: Generation, _ turn: inout Turn
    ) {
        let bytes = records.reduce(0) { $0 + $1.byteCount }
        guard let slot = slot(of: id, lane, generation), partitions[slot].isReading else {
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
        holdIfLong(slot, lane, &turn)
    }

    mutating func reachEnd(_ offset: Int64, of id: TopicPartition, _ lane: LaneID, _ generation: Generation) {
        guard let slot = slot(of: id, lane, generation), partitions[slot].isReading else { return }
        partitions[slot].reachEnd(offset)
        if partitions[slot].lowWatermark != partitions[slot].commit.watermark { lanes[lane].commit.note() }
    }

    /// Examines the records that were read, unless their lane is stopped.
    mutating func examine(_ turn: inout Turn) {
        guard isRunning else { return }
        for lane in lanes.ids where !lanes[lane].isPaused {
            while lanes[lane].flood == nil, let next = lanes[lane].unexamined.popFirst() { examine(next, &turn) }
        }
    }

    /// Every delivery of the record is settled or joins its story.
    mutating func examine(_ next: Lane.Unexamined, _ turn: inout Turn) {
        guard let first = partitions.place(of: next.id), partitions[first.slot].isSending else { return }
        let record = next.record
        let identity = RecordIdentity(of: record)
        do throws(Undecodable) {
            let event = try decoder.decode(record)
            let wanted = openPlatforms(of: record, identity, eventID: event.id, first)
            guard wanted != 0 else {
                // It was reported in a former life; the story that it recalled must not leave in this one either.
                if event.status == .canceled { recallEverywhere(event.orderKey, &turn) }
                return
            }
            admit(event, of: record, identity, first, wanted, &turn)
        } catch {
            let wanted = openPlatforms(of: record, identity, eventID: error.eventID, first)
            guard wanted != 0 else { return }
            let content = ExaminedRecord(record: record, identity: identity, eventID: error.eventID)
            partitions[first.slot].examined(content, at: first.index)
            let failure = ResultRecord.Failure(code: error.reason.rawValue, detail: error.detail)
            settleAll(wanted, of: first, as: .undecodable, failure, &turn)
        }
    }

    private mutating func admit(
        _ event: NewsEvent, of record: SourceRecord, _ identity: RecordIdentity, _ first: Place, _ wanted: UInt16,
        _ turn: inout Turn
    ) {
        let routing = rules.router.route(event)
        let routed = RoutedEvent(event, routing, by: rules)
        let content = ExaminedRecord(
            record: record, identity: identity, routed: routed, maxAge: lanes[first.lane].settings.maxAge, turn)
        partitions[first.slot].examined(content, at: first.index)

        switch event.status {
        case .withheld: return settleAll(wanted, of: first, as: .withheld, .withheld, &turn)
        case .canceled:
            recallEverywhere(event.orderKey, &turn)
            return settleAll(wanted, of: first, as: .canceled, .canceled, &turn)
        case .usable: break
        }
        if case .unroutable(let failure) = routing {
            return settleAll(wanted, of: first, as: .unroutable, failure, &turn)
        }
        for platform in settings.platforms.indices where wanted & (1 << platform) != 0 {
            admit(first.on(platform), content, event, &turn)
        }
        advanceStories(&turn)
    }

    private mutating func admit(
        _ place: Place, _ content: ExaminedRecord, _ event: NewsEvent, _ turn: inout Turn
    ) {
        if recalled.contains(event.orderKey) { return settle(place, as: .canceled, .recalled, &turn) }
        if content.isStale(turn) { return settle(place, as: .expired, content.expiry, &turn) }
        if partitions[recordOf: place].release == .deadLetter { return settle(place, as: .exhausted, .released, &turn) }
        let delivery = RecentDeliveries.delivery(of: event, platform: place.platform)
        let isFirst = partitions[place.slot].recent.insert(delivery)
        let fingerprint = RecentDeliveries.story(event.orderKey, platform: place.platform)
        let story = StoryID(fingerprint, lane: place.lane)
        // A redriven record is sent although its id is known.
        guard isFirst || content.record.isRedriven else { return joinTwin(story, place, &turn) }
        if let version = event.version, partitions[place.slot].recent.isOutdated(version, ofStory: fingerprint) {
            if isFirst { partitions[place.slot].recent.remove(delivery) }
            return settle(place, as: .superseded, .outdated, &turn)
        }
        join(story, place, event, isOwner: isFirst, &turn)
    }

    /// The platforms of a record that still need an outcome, as bits: the ledger knows the others as done, and a redriven
    /// record names the one it is for.
    private mutating func openPlatforms(
        of record: SourceRecord, _ identity: RecordIdentity, eventID: String?, _ first: Place
    ) -> UInt16 {
        var wanted: UInt16 = (1 << settings.platforms.count) - 1
        if !record.headers.isEmpty, let header = record.headers.last(where: { $0.name == RedriveHeader.platform }),
            let platform = header.text.flatMap(Platform.init(rawValue:)),
            let position = settings.platforms.firstIndex(of: platform)
        {
            wanted = 1 << position
        }
        if let known = partitions[first.slot].restored.take(record.offset, identity, eventID: eventID) {
            wanted &= ~known.platforms
            partitions[first.slot].noteResult(at: known.firstResult, of: first.index)
        }
        for platform in settings.platforms.indices where wanted & (1 << platform) == 0 {
            leaveWindow(first.lane, bytes: partitions[first.slot].skip(first.on(platform)))
        }
        return wanted
    }
}

extension SourceRecord {
    /// A person put it back on its lane.
    fileprivate var isRedriven: Bool { !headers.isEmpty && headers.contains { $0.name == HeaderName.redrive } }
}
