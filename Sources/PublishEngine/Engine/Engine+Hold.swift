import EditorialControl
import KafkaModel
import NewsModel

/// News whose time is far away goes to the held topic, and comes back from there.
extension Engine {
    /// A larger record waits in its lane's window: with our headers the held topic might refuse it, whose standard bound is
    /// 1,048,588 bytes, and then it would stand nowhere when its time comes.
    static let heldBytesMax = 1_000_000

    /// Until when a record goes to the held topic; `nil` if it stays here. What came back from there is not held again for the same
    /// reason: the clock of the process that brought it back may be ahead of ours. An embargo may end in quiet hours.
    func hold(of content: ExaminedRecord, _ routed: RoutedEvent, at place: Place, _ turn: borrowing Turn) -> Due? {
        guard let least = settings.holdsBeyond, let due = content.due(turn), due.at > turn.embargoClock + least,
            content.returned == nil || (due.because == .quietHours && routed.event.embargoUntil != nil),
            content.record.byteCount <= Self.heldBytesMax,
            // The held topic has one place for a story: it waits here instead.
            !routed.event.isForSomeOfItsStory
        else { return nil }
        // Another event of the story would lose its place there, if nothing tells which is the newer.
        return held.relation(to: routed, from: source(of: place)) == .unrelated ? nil : due
    }

    /// Ends a delivery as held, once the original stands on the held topic: once for all platforms of its record.
    ///
    /// - Parameter isWritten: another delivery of the record has seen to that.
    mutating func hold(
        _ place: Place, _ content: ExaminedRecord, _ routed: RoutedEvent, until due: Due, isWritten: inout Bool,
        _ turn: inout Turn
    ) {
        let event = routed.event
        supersede(in: StoryID(routed.orderKey, platform: place.platform, lane: place.lane), by: routed, place.id, &turn)
        let request = end(place, content, as: .held, due.failure, nil, isPending: true, turn)
        pendingResults.add(request)
        guard !isWritten else { return }
        isWritten = true
        held.add(routed, from: source(of: place))
        pendingResults.keep(content, of: place.id)
        // One that expires before it may leave comes back to be told of when it does.
        let original = HeldEvent(
            eventID: event.id, story: routed.orderKey, version: event.version, due: min(due.at, content.deadline),
            because: due.because,
            lane: lanes[place.lane].settings.name,
            source: source(of: place))
        turn.actions.append(.hold(request, content.record, original))
    }

    /// The held topic does not take the original: it waits for its time in the window, as without that topic.
    mutating func keepHere(_ id: DeliveryID, _ turn: inout Turn) {
        guard let first = partitions.place(of: id), let content = pendingResults.takeOriginal(of: id),
            let routed = content.routed
        else { return }
        held.remove(routed)
        var isHeld = false
        for platform in settings.platforms.indices {
            let place = first.on(platform)
            guard partitions[place].phase == .pending, pendingResults.take(place.id, endingAs: .held) != nil else {
                continue
            }
            partitions[place.slot].reopen(place, content)
            // One that is given up meanwhile is read again by its next owner.
            guard partitions[place.slot].isSending else { continue }
            admit(place, content, routed, until: nil, isHeld: &isHeld, &turn)
        }
        advanceStories(&turn)
    }

    /// The original stands on the held topic.
    mutating func finishHold(_ first: Place, _ turn: inout Turn) {
        _ = pendingResults.takeOriginal(of: first.id)
        var story: String?
        for platform in settings.platforms.indices {
            let place = first.on(platform)
            guard partitions[place].phase == .pending,
                let request = pendingResults.take(place.id, endingAs: .held)
            else { continue }
            story = request.result.story ?? request.result.eventID
            write(request, place, &turn)
        }
        // A recall that came meanwhile found nothing here, and maybe nothing there yet.
        guard let story, orders.isRecalled(story) else { return }
        for key in orderKeys(of: story) { takeBackHeld(key, because: .recalled, &turn) }
    }

    /// Learns what is held. It is read with a delay: a newer version may have left here meanwhile, and is not to be replaced by
    /// the older one when its time comes.
    mutating func learn(_ stories: [HeldStory], _ turn: inout Turn) {
        for story in stories {
            held.learn(story)
            guard story.isHeld, let version = story.version, !held.isBeingHeld(story.story),
                hasSeen(newerThan: version, of: story.story)
            else { continue }
            takeBackHeld(story.story, because: .superseded, part: .upTo(version), &turn)
        }
    }

    /// An older version of what has left must not follow it: not from its topic, and not from the held topic, from which the
    /// process that sent the newer one may have died before it called it back.
    mutating func restoreVersion(of entry: LedgerEntry, _ platform: Int, _ slot: Int, _ turn: inout Turn) {
        guard entry.outcome?.mayHaveLeft == true, let version = entry.version.flatMap(NewsEvent.version(ofLedger:)),
            let story = entry.story ?? entry.eventID
        else { return }
        partitions[slot].recent.restore(version, ofStory: RecentDeliveries.story(story, platform: platform))
        if held.hasOlder(than: version, of: story) {
            takeBackHeld(story, because: .superseded, part: .upTo(version), &turn)
        }
    }

    private func hasSeen(newerThan version: NewsEvent.Version, of story: String) -> Bool {
        settings.platforms.indices.contains { platform in
            let fingerprint = RecentDeliveries.story(story, platform: platform)
            return lanes.ids.contains { lane in
                lanes[lane].slots.contains { partitions[$0].recent.hasNewer(than: version, ofStory: fingerprint) }
            }
        }
    }

    /// What is held of the story is older than this event, which does not wait: it would replace the newer one when its time
    /// comes.
    ///
    /// - Parameter isGone: the event has left, or never will: then the same version is not needed either. Before, it is what is
    ///   sent if this process does not come to it.
    mutating func takeBackHeld(
        olderThan routed: RoutedEvent, from source: ResultRecord.Source, isGone: Bool, _ turn: inout Turn
    ) {
        guard !held.isEmpty else { return }
        let relation = held.relation(to: routed, from: source)
        guard relation == .older || isGone && relation == .same else { return }
        // This very version may be held by another process meanwhile.
        let version = isGone ? routed.event.version : held.version(of: routed.orderKey)
        let part: HeldPart = version.map { .upTo($0) } ?? (routed.event.story == nil ? .all : .withoutVersion)
        takeBackHeld(routed.orderKey, because: .superseded, part: part, &turn)
    }

    /// Where the delivery's record stands.
    func source(of place: Place) -> ResultRecord.Source {
        .init(partition: partitions[place.slot].id, offset: partitions[recordOf: place].offset)
    }

    /// How an event ends that came back before its time; `nil` if its time has come.
    func returnedEnding(_ content: ExaminedRecord) -> (outcome: Outcome, failure: ResultRecord.Failure)? {
        switch content.returned {
        case nil, .due: nil
        case .recalled: (.canceled, .recalledWhileHeld)
        case .superseded: (.superseded, .supersededWhileHeld)
        }
    }

    mutating func takeBackHeld(
        _ story: String, because reason: ReturnReason, part: HeldPart = .all, _ turn: inout Turn
    ) {
        if held.takeBack(story) {
            turn.actions.append(.returnHeld(story: story, because: reason, part))
        }
    }
}

/// The time before which an event does not leave, and why.
struct Due: Sendable, Hashable {
    /// By the clock on the wall.
    let at: Instant
    let because: HeldEvent.Because

    /// The reason in a result; never a headline.
    var failure: ResultRecord.Failure {
        switch because {
        case .embargo: .init(.embargo, "under embargo until \(at)")
        case .quietHours: .init(.quietHours, "in quiet hours until \(at)")
        }
    }
}
