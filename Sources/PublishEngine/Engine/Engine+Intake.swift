import DequeModule
import KafkaModel
import NewsModel
import NotificationHub

/// Turns records into deliveries: decodes and routes them, and joins them to their stories.
extension Engine {
    mutating func receive(
        _ records: [SourceRecord], of id: TopicPartition, _ lane: LaneID, _ generation: Generation, _ turn: inout Turn
    ) {
        guard let slot = slot(of: id, lane, generation), partitions[slot].isReading else {
            return lanes[lane].dropStale(records)
        }
        lanes[lane].read(records, into: &partitions[slot], in: slot, at: turn.wall)
        takeBackEnded(slot, &turn)
        pauseIfLong(slot, lane, &turn)
    }

    mutating func reachEnd(
        _ offset: Int64, of id: TopicPartition, _ lane: LaneID, _ generation: Generation, _ turn: inout Turn
    ) {
        guard let slot = slot(of: id, lane, generation), partitions[slot].isReading else { return }
        if partitions[slot].reachEnd(offset) { lanes[lane].owned.noteMove() }
        takeBackEnded(slot, &turn)
    }

    /// Examines the records that were read, unless their lane is paused or flooded.
    mutating func examine(_ turn: inout Turn) {
        guard isRunning else { return }
        for lane in lanes.ids where !lanes[lane].isPaused {
            while !lanes[lane].isFlooded, !awaitsTime, !lanes[lane].awaitsSchema, examineGroup(of: lane, &turn) {}
        }
    }

    /// Examines a group of records, then admits them. Each step nearly fills a processor's instruction cache.
    /// Alternating between them would reload both for every record.
    ///
    /// - Returns: `false` if there was no record.
    private mutating func examineGroup(of lane: LaneID, _ turn: inout Turn) -> Bool {
        var group: [(id: DeliveryID, content: ExaminedRecord)] = []
        group.reserveCapacity(min(Self.groupMax, lanes[lane].unexamined.count))
        while group.count < Self.groupMax, let next = lanes[lane].takeUnexamined(in: partitions) {
            guard let content = content(of: next, lane, &turn) else { break }
            group.append((next.id, content))
        }
        for (index, next) in group.enumerated() {
            if lanes[lane].isFlooded || waitsForTime(next.content, &turn) {
                lanes[lane].putBack(group[index...].map { Lane.Unexamined(id: $0.id, record: $0.content.record) })
                return true
            }
            admit(next.content, next.id, &turn)
        }
        // Runs after the group is admitted, because reading on needs the ledger results read up to now.
        if group.isEmpty, !lanes[lane].awaitsSchema { readLedgerOn(lane, &turn) }
        return !group.isEmpty
    }

    private static let groupMax = 64

    mutating func examine(_ next: Lane.Unexamined, of lane: LaneID, _ turn: inout Turn) {
        if let content = content(of: next, lane, &turn) { admit(content, next.id, &turn) }
    }

    /// Decodes a record's content without deciding anything.
    ///
    /// - Returns: `nil` if the lane must wait for the record's schema; the record then is its next one again.
    private mutating func content(
        of next: borrowing Lane.Unexamined, _ lane: LaneID, _ turn: inout Turn
    ) -> ExaminedRecord? {
        let identity = RecordIdentity(of: next.record)
        let id = next.id
        do throws(Undecodable) {
            let event = try decoder.decode(
                next.record, topic: partitions.place(of: id).map { partitions[$0.slot].id.topic })
            return ExaminedRecord(
                next.record, identity, event, by: rules, maxAge: lanes[lane].settings.maxAge, format: decoder.format,
                turn)
        } catch {
            guard let schema = error.awaitedSchema else { return ExaminedRecord(next.record, identity, error) }
            lanes[lane].putBack([Lane.Unexamined(id: next.id, record: next.record)])
            lanes[lane].awaitSchema(schema, at: turn.now)
            turn.actions.append(.fetchSchema(schema))
            return nil
        }
    }

    /// The lanes that await the schema read on.
    mutating func learn(_ id: UInt32, _ schema: WriterSchema) {
        registryFailure = nil
        decoder.learn(id, schema)
        for lane in lanes.ids { lanes[lane].receiveSchema(id) }
    }

    /// Settles every delivery of the record or joins it to its story.
    private mutating func admit(_ content: ExaminedRecord, _ id: DeliveryID, _ turn: inout Turn) {
        guard let first = partitions.place(of: id), partitions[first.slot].isSending else { return }
        if let group = settings.group, content.record.isReturned(forOtherThan: group) { return skip(first) }
        // A delivery that ends here without another send needs no inherited progress.
        defer { partitions[first.slot].partlySent.forgetInherited(at: content.record.offset) }
        // `openPlatforms` may remove a settled record, so its place is read first.
        let withheld = content.routed.flatMap { $0.event.status == .withheld && !$0.isRefused ? $0 : nil }
        let source = partitions.source(of: first)
        let (wanted, known) = openPlatforms(of: content, first)
        let isKnown = known != nil
        // A recall reported in a former run must also hold in this one. If the control topic keeps recalls, its order
        // is there or was lifted since.
        let isRecallKept = isKnown && orders.areRecallsKept
        if let routed = content.routed, routed.event.status == .canceled, !routed.isRefused, !isRecallKept {
            recallEverywhere(routed.event, content, first, &turn)
        }
        // Runs for known events too: a former run may have reported the event and crashed before it ended older ones.
        if let withheld {
            for withheld in editions(of: withheld) {
                withhold(withheld, from: source, writtenAt: content.record.timestamp, in: first.slot, &turn)
            }
        }
        if let known, let end = known.end, let routed = content.routed {
            // If a platform's delivery of this event is held, the held event stays.
            let isGone = end != .expired && wanted == 0 && known.held == 0
            repeatEnd(of: routed, content, source, end, isGone: isGone, in: first, &turn)
        }
        guard wanted != 0, let first = partitions.place(of: id) else { return }
        partitions[first.slot].examined(content, at: first.index)
        resume(wanted, of: first, content)
        guard let routed = content.routed else {
            return settleAll(wanted, of: first, as: .undecodable, content.failure, &turn)
        }
        if routed.isRefused { return settleAll(wanted, of: first, as: .withheld, content.failure, &turn) }
        switch routed.event.status {
        case .withheld:
            let failure: ResultRecord.Failure =
                routed.event.embargoUntil == .distantFuture ? .endlessEmbargo : .withheld
            return settleAll(wanted, of: first, as: .withheld, failure, &turn)
        // Another platform already has a result, which was written after the recall was on the control topic.
        case .canceled where isRecallKept: return settleAll(wanted, of: first, as: .canceled, .canceled, &turn)
        case .canceled: return settleRecalling(wanted, of: first, routed.event.orderKey, &turn)
        case .usable: break
        }
        guard routed.routing != nil else {
            return settleAll(wanted, of: first, as: .unroutable, content.failure, &turn)
        }
        let due = hold(of: content, routed, at: first, turn)
        var holding: Holding?
        for platform in settings.platforms.indices where wanted & (1 << platform) != 0 {
            admit(first.on(platform), content, routed, until: due, holding: &holding, &turn)
        }
        write(holding, content, first, &turn)
        advanceStories(&turn)
    }

    /// The event in every language if languages have tags and it names none; otherwise the event.
    private func editions(of event: RoutedEvent) -> [RoutedEvent] {
        guard event.edition == nil, event.event.language == nil, !editions.isEmpty else { return [event] }
        return editions.map(event.edition)
    }

    /// Finishes a record that needs no result of ours.
    private mutating func skip(_ first: Place) {
        for platform in settings.platforms.indices { finish(first.on(platform)) }
    }

    private mutating func finish(_ place: Place) {
        lanes[place.lane].finishRecord(bytes: partitions[place.slot].skip(place))
    }

    /// - Parameters:
    ///   - due: the time until which the record waits on the held topic; `nil` if it is not held.
    ///   - holding: set by the record's first delivery that goes to the held topic.
    ///   - isKeptHere: the held topic has refused the record.
    mutating func admit(
        _ place: Place, _ content: ExaminedRecord, _ routed: RoutedEvent, until due: Due?, holding: inout Holding?,
        isKeptHere: Bool = false, _ turn: inout Turn
    ) {
        let isCertain = partitions[place].isCertain
        let recallKey = routed.event.orderKey
        let isRecalled = orders.isRecalled(recallKey) && !content.isReplacement
        if isRecalled || orders.hasEndedRecall(of: content.record) {
            return settleUnsent(place, as: .canceled, recalled(recallKey), &turn)
        }
        if let ending = returnedEnding(content) {
            return settleUnsent(place, as: ending.outcome, ending.failure, &turn)
        }
        if hasExpired(content, turn) {
            supersedeHeld(olderThan: routed, content, place, &turn)
            return settleUnsent(place, as: .expired, content.expiry, &turn)
        }
        if isCertain, let failure = content.prohibition(turn) { return settle(place, as: .withheld, failure, &turn) }
        if partitions[recordOf: place].release == .deadLetter {
            return settleUnsent(place, as: .exhausted, .released, &turn)
        }
        let fingerprint = RecentDeliveries.story(routed.orderKey, platform: place.platform)
        let story = StoryID(fingerprint, lane: place.lane)
        let entry = partitions[place.slot].recent.enter(
            routed, platform: place.platform, fingerprint, origin: content.record.origin)
        switch entry {
        // It would wait behind its copy, and leave after later events if that fails.
        case .seen where isKeptHere && isOvertaken(content, routed, at: place, in: story, isKeptHere: true):
            return settleUnsent(place, as: .superseded, .outdated, &turn)
        case .seen: return joinTwin(story, place, &turn)
        case .outdated: return settleUnsent(place, as: .superseded, .outdated, &turn)
        case .first, .redriven: partitions[place].claim(after: entry)
        }
        let isOlder =
            !held.isEmpty && content.returned == nil
            && held.relation(to: routed, from: age(of: place, content)) == .newer
        if isOlder || isOvertaken(content, routed, at: place, in: story, isKeptHere: isKeptHere) {
            return settleUnsent(place, as: .superseded, .outdated, &turn)
        }
        if isCertain, let due { return hold(place, content, routed, until: due, holding: &holding, &turn) }
        // A held event is not compared with what waits here, because that may be held too and be due later.
        if isBehindNewer(routed, in: story, at: place) {
            return settleUnsent(place, as: .superseded, .outdated, &turn)
        }
        supersedeHeld(olderThan: routed, content, place, &turn)
        join(story, place, content, routed, &turn)
    }

    /// Takes back older versions from the held topic. An expired version does so too: another process may have sent it, and its
    /// result is still on its way.
    private mutating func supersedeHeld(
        olderThan routed: RoutedEvent, _ content: ExaminedRecord, _ place: Place, _ turn: inout Turn
    ) {
        guard !held.isEmpty, content.returned == nil else { return }
        takeBackHeld(
            olderThan: routed, from: age(of: place, content), writtenAt: content.record.timestamp, isGone: false, &turn)
    }

    /// - Returns: the platforms of a record that still need an outcome, as bits, and what the ledger knows. The
    ///   ledger has settled the others; a record may name its platforms.
    private mutating func openPlatforms(
        of content: ExaminedRecord, _ first: Place
    ) -> (wanted: UInt16, known: RestoredResults.Settled?) {
        var wanted: UInt16 = (1 << settings.platforms.count) - 1
        if let text = content.record.text(of: HeaderName.platform) {
            let named = Platform.list(text).compactMap(settings.platforms.firstIndex)
            // Without one of today's platforms it is for all of them.
            if !named.isEmpty { wanted = named.reduce(0) { $0 | 1 << $1 } }
        }
        let known = partitions[first.slot].takeRestored(content, at: first.index)
        if let known { wanted &= ~known.platforms }
        for platform in settings.platforms.indices where wanted & (1 << platform) == 0 {
            finish(first.on(platform))
        }
        return (wanted, known)
    }
}
