import DequeModule
import EditorialControl
import KafkaModel
import NewsModel

/// Deliveries of one story leave in order, and the newest version wins.
extension Engine {
    mutating func join(
        _ story: StoryID, _ place: Place, _ content: ExaminedRecord, _ routed: RoutedEvent, _ turn: inout Turn
    ) {
        if stories.begin(story, with: place.id) {
            partitions[place].lead(story)
            lead(place, content, turn)
            return
        }
        partitions[place].wait(in: story)
        _ = stories.append(place.id, to: story)
        if routed.event.version != nil { supersede(in: story, by: routed, place.id, &turn) }
        supersedeDelayed(in: story, of: place.lane, by: routed, content, from: partitions.source(of: place), &turn)
    }

    /// Settles queued older events of the story that wait for the end of an embargo or of quiet hours, so that a later one does not
    /// wait too. On the held topic they would lose their place in the same way.
    ///
    /// - Parameter source: the later event's place.
    mutating func supersedeDelayed(
        in story: StoryID, of lane: LaneID, by newer: RoutedEvent, _ content: ExaminedRecord,
        from source: ResultRecord.Source, _ turn: inout Turn
    ) {
        guard lanes[lane].delayed.hasEmbargoes, endsDelayed(newer, content) else { return }
        for id in openDeliveries(of: story) {
            guard let other = partitions.place(of: id), let older = partitions.content(of: other),
                partitions.source(of: other) != source, older.record.origin == .published, older.due(turn) != nil,
                partitions[other].isCertain, partitions[other].attempts == 0, precedes(id, newer, from: source)
            else { continue }
            withdraw(id, for: .superseded, &turn)
        }
    }

    /// Returns true if an event does not wait behind earlier ones of its story that are delayed: these end as superseded. A copy is
    /// not compared, because its offset is higher than its age.
    private func endsDelayed(_ newer: RoutedEvent, _ content: ExaminedRecord) -> Bool {
        newer.event.story != nil && content.record.origin == .published && content.returned == nil
            && content.heldFrom == nil
    }

    /// Returns true if a later event of the story is on its way here, so that this one must not follow when its embargo ends: it is
    /// delayed again, because the held topic has refused it. It may follow a copy of itself that fails.
    ///
    /// - Parameter includesDuplicates: a second copy counts as a later event although its first one may have been accepted.
    func isBehindLater(
        _ story: StoryID, _ place: Place, _ routed: RoutedEvent, includesDuplicates: Bool = true
    ) -> Bool {
        openDeliveries(of: story).contains { id in
            guard let other = partitions.place(of: id), let content = partitions.content(of: other),
                let later = content.routed, endsDelayed(later, content),
                later.event.id != routed.event.id || later.ledgerVersion != routed.ledgerVersion,
                includesDuplicates || partitions[other].claim != .awaitsTwin
                    || !partitions[other.slot].recent.contains(later, platform: other.platform)
            else { return false }
            return precedes(place.id, later, from: partitions.source(of: other))
        }
    }

    /// Returns true if the first delivery of its story is not due, and a later event that waits behind it would wait too. The later
    /// event arrived when this one was not delayed yet, otherwise `supersedeDelayed` would have ended it. A copy that came back from
    /// the held topic was due, and is not compared, because its offset is higher than its age.
    func givesWay(_ place: Place, in story: StoryID, _ turn: borrowing Turn) -> Bool {
        guard let content = partitions.content(of: place), let routed = content.routed, content.due(turn) != nil,
            content.record.origin == .published, content.returned == nil, partitions[place].isCertain,
            partitions[place].attempts == 0
        else { return false }
        return isBehindLater(story, place, routed, includesDuplicates: false)
    }

    /// Makes the delivery ready as the head of its story, or delays it until it is due.
    private mutating func lead(_ place: Place, _ content: ExaminedRecord, _ turn: borrowing Turn) {
        // Quiet hours do not delay the rest of the readers. Those that began after the event was read delay it when its turn comes.
        if let due = content.due(turn), due.because == .embargo || partitions[place].isCertain,
            content.release ?? .distantPast >= due.at
        {
            lanes[place.lane].embargo(place.id, &partitions[place], until: due.at)
        } else {
            lanes[place.lane].append(place.id, &partitions[place], isReturned: content.returned != nil)
        }
    }

    /// Settles every queued older version of the story. A version in flight is awaited and not retried. One that has other readers
    /// too leaves first, because the newer one waits behind it.
    mutating func supersede(
        in story: StoryID, by newer: RoutedEvent, _ newest: DeliveryID, _ turn: inout Turn
    ) {
        for id in openDeliveries(of: story) where id != newest {
            guard let routed = partitions.event(of: id), routed.orderKey == newer.orderKey,
                routed.event.hasReaders(among: newer.event), let version = routed.event.version,
                let newerVersion = newer.event.version, version < newerVersion
            else { continue }
            withdraw(id, for: .superseded, &turn)
        }
    }

    /// True if a newer version for one of the event's single readers is open in its partition, so that this one would leave after it.
    func isBehindNewer(_ routed: RoutedEvent, in story: StoryID, at place: Place) -> Bool {
        guard let version = routed.event.version, !routed.event.users.isEmpty else { return false }
        return openDeliveries(of: story).contains { id in
            guard id.slot == place.slot, let other = partitions.place(of: id), partitions[other].phase != .pending,
                let newer = partitions.event(of: id), newer.orderKey == routed.orderKey,
                let newest = newer.event.version, version < newest
            else { return false }
            return newer.event.users.contains(where: routed.event.users.contains)
        }
    }

    /// Ends everything of a story that waits, here or on the held topic, and is not newer than a withheld event. Older versions that
    /// arrive later are outdated.
    ///
    /// - Parameter slot: the slot of the event's partition.
    mutating func withhold(
        _ withheld: RoutedEvent, from source: ResultRecord.Source, writtenAt: Instant?, in slot: Int,
        _ turn: inout Turn
    ) {
        takeBackHeld(olderThan: withheld, from: source, writtenAt: writtenAt, isGone: true, &turn)
        for key in held.otherKeys(of: withheld)
        where held.mayBeReplaced(by: withheld, at: key, from: source, writtenAt: writtenAt, isGone: true) {
            takeBackHeld(key, because: .superseded, &turn)
        }
        partitions[slot].ended.note(
            EndedStories.event(withheld.event.id, of: withheld.orderKey), at: source.offset, writtenAt: writtenAt,
            withheld.event.version, as: .withheld, isPart: true)
        for platform in settings.platforms.indices {
            let fingerprint = RecentDeliveries.story(withheld.orderKey, platform: platform)
            partitions[slot].recent.note(withheld, fingerprint)
            for lane in lanes.ids {
                for id in openDeliveries(of: StoryID(fingerprint, lane: lane))
                where precedes(id, withheld, from: source) {
                    withdraw(id, for: .superseded, &turn)
                }
            }
        }
        advanceStories(&turn)
    }

    /// Returns true if the withheld event is for all readers of the delivery, or is the same event, and the delivery is no newer
    /// version. If one of the two has no version, records on the same partition are compared by their offsets, as on the held topic.
    private func precedes(_ id: DeliveryID, _ withheld: RoutedEvent, from source: ResultRecord.Source) -> Bool {
        guard let place = partitions.place(of: id), let routed = partitions.event(of: id),
            routed.orderKey == withheld.orderKey
        else { return false }
        let isSame = routed.event.id == withheld.event.id
        guard isSame || routed.event.hasReaders(among: withheld.event) else { return false }
        if let version = routed.event.version, let limit = withheld.event.version { return version <= limit }
        let other = partitions.source(of: place)
        return other.partition == source.partition && other.offset < source.offset
    }

    /// Ends a waiting delivery; one in flight is awaited first and not retried.
    mutating func withdraw(_ id: DeliveryID, for reason: Delivery.Withdrawal, _ turn: inout Turn) {
        guard let place = partitions.place(of: id) else { return }
        if partitions[place].isQueued {
            endWithdrawn(place, for: reason, reply: nil, &turn)
        } else if partitions[place].phase == .inFlight {
            partitions[place].withdraw(for: reason)
        }
    }

    /// The story's deliveries without an outcome, first to last.
    func openDeliveries(of story: StoryID) -> [DeliveryID] {
        stories.deliveries(of: story).filter(partitions.isOpen)
    }

    /// Advances stories whose head is done or gone.
    mutating func advanceStories(_ turn: inout Turn) {
        while let story = stories.nextToAdvance(in: partitions) { advance(story, &turn) }
    }

    private mutating func advance(_ story: StoryID, _ turn: inout Turn) {
        while let next = stories.popWaiting(of: story) {
            guard let place = partitions.place(of: next), partitions[place].phase == .waiting,
                let content = partitions.content(of: place), let routed = content.routed
            else { continue }
            if partitions[place].claim == .awaitsTwin, let ending = takePlaceOfTwin(place, content, routed) {
                settle(place, as: ending.outcome, ending.failure, &turn)
                continue
            }
            if givesWay(place, in: story, turn) {
                settle(place, as: .superseded, .superseded, &turn)
                continue
            }
            stories.setHead(next, of: story)
            lead(place, content, turn)
            return
        }
    }

    // MARK: Duplicates

    /// Queues a second copy behind its story if that has open deliveries. If the first copy ends without acceptance,
    /// the second is an editor's retry. Otherwise it is a duplicate.
    mutating func joinTwin(_ story: StoryID, _ place: Place, _ turn: inout Turn) {
        if stories.append(place.id, to: story) {
            partitions[place].wait(in: story, awaitsTwin: true)
        } else {
            settle(place, as: .duplicate, .duplicate, &turn)
        }
    }

    /// - Returns: the reason not to send: the twin was accepted, or a newer version between them was seen.
    private mutating func takePlaceOfTwin(
        _ place: Place, _ content: ExaminedRecord, _ routed: RoutedEvent
    ) -> (outcome: Outcome, failure: ResultRecord.Failure)? {
        let story = RecentDeliveries.story(routed.orderKey, platform: place.platform)
        let entry = partitions[place.slot].recent.enter(
            routed, platform: place.platform, story, origin: content.record.origin)
        switch entry {
        case .seen: return (.duplicate, .duplicate)
        case .outdated: return (.superseded, .outdated)
        case .first, .redriven:
            partitions[place].claim(after: entry)
            return nil
        }
    }

    /// Allows another attempt of a delivery that was not accepted, for example by an editor, unless a redriven copy is
    /// already queued or in flight.
    mutating func forget(_ place: Place, _ content: ExaminedRecord, _ routed: RoutedEvent) {
        let isOwner = partitions[place].claim == .owner && !leaveID(of: routed, place)
        partitions[place.slot].recent.remove(
            routed, platform: place.platform, origin: content.record.origin, isOwner: isOwner)
    }

    /// - Returns: `false` if no copy takes over the id in the duplicate window.
    private mutating func leaveID(of routed: RoutedEvent, _ place: Place) -> Bool {
        // A delivery that ends as held is in no story.
        let story = StoryID(RecentDeliveries.story(routed.orderKey, platform: place.platform), lane: place.lane)
        for other in openDeliveries(of: story)
        where other != place.id && other.slot == place.slot && other.platform == place.platform {
            guard let other = partitions.place(of: other),
                let twin = partitions.content(of: other)?.routed?.event,
                twin.id == routed.event.id, twin.version?.text == routed.event.version?.text,
                // A copy that waits for this ending checks the window when its turn comes. One that waits for its dead letter
                // has ended, so it would never remove the id.
                partitions[other].claim != .awaitsTwin, partitions[other].phase != .pending
            else { continue }
            partitions[other].becomeOwner()
            return true
        }
        return false
    }
}
