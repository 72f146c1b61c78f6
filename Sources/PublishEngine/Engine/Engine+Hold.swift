import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub

/// Sends news that is due much later to the held topic, and receives it back from there.
extension Engine {
    /// Larger records wait in their lane's window. With our headers the held topic might refuse them: its standard
    /// limit is 1,048,588 bytes. A refused record would be lost when it is due.
    static let heldBytesMax = 1_000_000

    /// The due time of a record for the held topic; `nil` if it stays here. A returned record is not held again for the
    /// same reason: the returning process's clock may be ahead. An embargo may end in quiet hours, and others may begin while the
    /// record is queued.
    func hold(of content: ExaminedRecord, _ routed: RoutedEvent, at place: Place, _ turn: borrowing Turn) -> Due? {
        guard let least = settings.holdsBeyond, let due = content.due(turn), due.at > turn.embargoClock + least,
            content.returned == nil || content.isDelayedLater
                || (due.because == .quietHours && routed.event.embargoUntil != nil),
            content.record.byteCount <= Self.heldBytesMax
        else { return nil }
        // Another event of the story would lose its place there if the two cannot be ordered, or if they are records of one
        // event for different platforms.
        let source = age(of: place, content)
        let relation = held.relation(to: routed, from: source, writtenAt: content.record.timestamp)
        if let source, held.isOfAnotherPartition(than: source, routed) { return nil }
        return relation == .unrelated || source == nil && relation != .nothing ? nil : due
    }

    /// The source position by which the record's age is compared; `nil` for a record that a person returned to its lane.
    func age(of place: Place, _ content: ExaminedRecord) -> ResultRecord.Source? {
        content.record.origin == .published ? content.heldFrom ?? partitions.source(of: place) : nil
    }

    /// Ends a delivery as held. `write` then sends the record's original to the held topic, once for all of its deliveries.
    ///
    /// - Parameter holding: `nil` for the record's first delivery that is held.
    mutating func hold(
        _ place: Place, _ content: ExaminedRecord, _ routed: RoutedEvent, until due: Due, holding: inout Holding?,
        _ turn: inout Turn
    ) {
        let event = routed.event
        let story = StoryID(routed.orderKey, platform: place.platform, lane: place.lane)
        supersede(in: story, by: routed, place.id, &turn)
        supersedeDelayed(in: story, of: place.lane, by: routed, content, from: partitions.source(of: place), &turn)
        let request = end(place, content, as: .held, due.failure, nil, isPending: true, turn)
        pendingResults.add(request)
        partitions[place.slot].noteHold(of: place)
        guard holding == nil else { return }
        let source = partitions.source(of: place)
        let relation = held.relation(to: routed, from: age(of: place, content), writtenAt: content.record.timestamp)
        held.add(routed, content, from: source)
        pendingResults.keep(content, of: place.id)
        // An event that expires before it is due comes back at its expiry, so that it is reported.
        var original = HeldEvent(
            eventID: event.id, story: routed.heldKey, version: event.version, due: min(due.at, content.deadline),
            because: due.because, lane: lanes[place.lane].settings.name, source: source)
        original.incarnation = held.incarnation(of: source.partition)
        original.replacesFormer = relation == .former
        holding = Holding(request: request, event: original)
    }

    /// Sends the original of held deliveries to the held topic. It names their platforms unless all are held, because what has
    /// ended on the others must not come back. Those that were held before are named too, because this original takes the place of
    /// theirs.
    ///
    /// - Parameter holding: `nil` if none are held.
    func write(_ holding: Holding?, _ content: ExaminedRecord, _ first: Place, _ turn: inout Turn) {
        guard let holding else { return }
        let held = partitions[recordOf: first].held
        let platforms = settings.platforms.indices.filter { held & (1 << $0) != 0 }.map { settings.platforms[$0] }
        var original = content.record
        if platforms.count < settings.platforms.count {
            original.headers.removeAll { $0.name == HeaderName.platform }
            original.headers.append(RecordHeader(HeaderName.platform, platforms.names))
        }
        turn.actions.append(.hold(holding.request, original, holding.event))
    }

    /// The held topic refused the original, so it waits in the window until it is due.
    mutating func keepHere(_ id: DeliveryID, _ turn: inout Turn) {
        guard let first = partitions.place(of: id), let content = pendingResults.takeOriginal(of: id),
            let routed = content.routed
        else { return }
        held.remove(routed, from: partitions.source(of: first))
        var holding: Holding?
        for platform in settings.platforms.indices {
            let place = first.on(platform)
            guard partitions[place].phase == .pending, pendingResults.take(place.id, endingAs: .held) != nil else {
                continue
            }
            partitions[place.slot].reopen(place, content)
            // If its partition was revoked meanwhile, the next owner reads the record again.
            guard partitions[place.slot].isSending else { continue }
            admit(place, content, routed, until: nil, holding: &holding, isKeptHere: true, &turn)
        }
        advanceStories(&turn)
    }

    /// The held topic has stored the original.
    mutating func finishHold(_ first: Place, _ turn: inout Turn) {
        _ = pendingResults.takeOriginal(of: first.id)
        var story: String?
        for platform in settings.platforms.indices {
            let place = first.on(platform)
            guard partitions[place].phase == .pending,
                let request = pendingResults.take(place.id, endingAs: .held)
            else { continue }
            story = request.result.story ?? request.result.eventID
            write(
                request.isOvertaken(by: partitions[place.slot].ended) ? request.withoutStory() : request, place, &turn)
        }
        // A recall that arrived meanwhile found no delivery here, and perhaps no event on the held topic yet.
        guard let story, orders.isRecalled(story) else { return }
        for key in heldKeys(of: story) { takeBackHeld(key, because: .recalled, &turn) }
    }

    /// Applies changes of the held topic. They arrive with a delay: a newer version may have left here meanwhile. The
    /// older version must not replace it when it is due.
    ///
    /// - Parameter stories: empty if the held topic has become available.
    mutating func learn(_ stories: [HeldStory], _ turn: inout Turn) {
        if stories.isEmpty { holdWaiting(&turn) }
        // An event that was put back on its lane while its former record was still held waits in the window.
        var erased: Set<String> = []
        for story in stories {
            held.learn(story)
            if !story.isHeld { erased.insert(story.story) }
            guard story.isHeld else { continue }
            // The holder of the topic knows recalled stories by their names, which editions and single readers do not have there.
            if isRecalledPart(story.story) { takeBackHeld(story.story, because: .recalled, &turn) }
            guard !held.isBeingHeld(story.story) else { continue }
            takeBackIfEnded(story, &turn)
        }
        if !erased.isEmpty { holdWaiting(of: erased, &turn) }
    }

    /// Sends events to the held topic that have waited in the window because they could not be held.
    ///
    /// - Parameter stories: the keys of the events on the held topic; `nil` for all.
    mutating func holdWaiting(of stories: Set<String>? = nil, _ turn: inout Turn) {
        guard isRunning, settings.holdsBeyond != nil else { return }
        for lane in lanes.ids {
            var records: Set<DeliveryID> = []
            for id in lanes[lane].delayed.underEmbargo {
                guard let place = partitions.place(of: id), partitions[place].phase == .delayed,
                    stories?.contains(partitions.event(of: id)?.heldKey ?? "") ?? true
                else { continue }
                for id in openDeliveries(of: partitions[place].story) { records.insert(id.on(0)) }
            }
            for id in records.sorted(by: { ($0.slot, $0.sequence) < ($1.slot, $1.sequence) }) {
                if let first = partitions.place(of: id) { holdWaiting(first, &turn) }
            }
        }
        advanceStories(&turn)
    }

    /// Admits a waiting record again, so that it is held. A record stays while a request for it is in flight, will leave soon, or may
    /// have been accepted. What the hub has certainly refused is held with the number of its attempts.
    mutating func holdWaiting(_ first: Place, _ turn: inout Turn) {
        prolong(first, turn)
        guard partitions[first.slot].isSending, let content = partitions.content(of: first),
            let routed = content.routed, let due = hold(of: content, routed, at: first, turn)
        else { return }
        let open = settings.platforms.indices.map(first.on).filter { partitions[$0].isOpen }
        let areWaiting = open.allSatisfy { place in
            let delivery = partitions[place]
            return delivery.isCertain
                && (delivery.phase == .delayed || delivery.phase == .waiting && delivery.claim != .awaitsTwin)
        }
        guard !open.isEmpty, areWaiting else { return }
        let owners = open.map { partitions[$0].claim == .owner }
        for place in open {
            let story = partitions[place].story
            partitions[place].reopen()
            stories.noteEnd(of: story)
        }
        // Other events of its stories follow as if this one had never waited here.
        advanceStories(&turn)
        for (place, isOwner) in zip(open, owners) {
            partitions[place.slot].recent.remove(
                routed, platform: place.platform, origin: content.record.origin, isOwner: isOwner)
        }
        var holding: Holding?
        for place in open { admit(place, content, routed, until: due, holding: &holding, &turn) }
        write(holding, content, first, &turn)
    }

    /// Prevents an older version from following a newer one that has left, from its topic or from the held topic. The
    /// process that sent the newer one may have died before it requested the older one back, or may have sent it after we had read
    /// the older one.
    mutating func restoreVersion(
        of entry: LedgerEntry, _ platform: Int, _ slot: Int, _ lane: LaneID, _ turn: inout Turn
    ) {
        guard entry.outcome?.mayHaveLeft == true, let version = entry.eventVersion,
            let story = entry.story ?? entry.eventID
        else { return }
        let fingerprint = RecentDeliveries.story(story, platform: platform)
        partitions[slot].recent.restore(version, ofStory: fingerprint)
        for id in openDeliveries(of: StoryID(fingerprint, lane: lane)) {
            guard let routed = partitions.event(of: id), routed.orderKey == story, routed.event.users.isEmpty,
                let older = routed.event.version, older < version
            else { continue }
            withdraw(id, for: .superseded, &turn)
        }
        if held.hasOlder(than: version, of: story) {
            takeBackHeld(story, because: .superseded, upTo: version, &turn)
        }
    }

    func hasSeen(newerThan version: NewsEvent.Version, of story: String) -> Bool {
        settings.platforms.indices.contains { platform in
            let fingerprint = RecentDeliveries.story(story, platform: platform)
            return lanes.ids.contains { lane in
                lanes[lane].slots.contains { partitions[$0].recent.hasNewer(than: version, ofStory: fingerprint) }
            }
        }
    }

    /// Requests back a held version that is older than this event, which is not held itself. The older version would
    /// replace the newer one when it is due.
    ///
    /// - Parameter isGone: the event has left, or never will, so its own held version is not needed either. Until then
    ///   that copy is the fallback if this process fails.
    mutating func takeBackHeld(
        olderThan routed: RoutedEvent, from source: ResultRecord.Source?, writtenAt: Instant? = nil, isGone: Bool,
        _ turn: inout Turn
    ) {
        guard held.mayBeReplaced(by: routed, from: source, writtenAt: writtenAt, isGone: isGone) else { return }
        // Another process may hold this same version meanwhile.
        takeBackHeld(routed.heldKey, because: .superseded, upTo: isGone ? routed.event.version : nil, &turn)
    }

    /// The outcome of an event that was returned before it was due; `nil` if it is due.
    func returnedEnding(_ content: ExaminedRecord) -> (outcome: Outcome, failure: ResultRecord.Failure)? {
        switch content.returned {
        case nil, .due: nil
        case .recalled: (.canceled, .recalledWhileHeld)
        case .superseded: (.superseded, .supersededWhileHeld)
        }
    }

    /// Requests held events of a story back: if it is recalled all of them, otherwise the latest one and those before it.
    ///
    /// - Parameter version: see `HeldStories.takeBack`.
    mutating func takeBackHeld(
        _ story: String, because reason: ReturnReason, upTo version: NewsEvent.Version? = nil, _ turn: inout Turn
    ) {
        guard let older = held.takeBack(story, upTo: version) else { return }
        turn.actions.append(.returnHeld(story: story, because: reason, reason == .recalled ? .all : older))
    }
}

/// The first of a record's deliveries that go to the held topic.
struct Holding: Sendable {
    let request: StoreRequest
    let event: HeldEvent
}

/// The earliest time at which an event may leave, and the reason.
struct Due: Sendable, Hashable {
    /// The earliest time, by the wall clock.
    let at: Instant
    let because: HeldEvent.Because

    /// The failure for a result; never contains a headline.
    var failure: ResultRecord.Failure {
        switch because {
        case .embargo: .init(.embargo, "under embargo until \(at)")
        case .quietHours: .init(.quietHours, "in quiet hours until \(at)")
        }
    }
}
