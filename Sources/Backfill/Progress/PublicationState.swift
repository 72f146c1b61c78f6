import KafkaModel
package import NewsModel

/// The publication of one file, as a plain value without IO.
///
/// Its inputs are the items of the file in their order, and the broker's answers. It decides which items a command must still
/// write to the topic, after one that was interrupted or killed, and computes the progress to save.
package struct PublicationState {
    package enum Decision {
        /// The event must be written. `sent` or `reject` must follow.
        case write(NewsEvent, [UInt8])
        case bad(EventReview.Complaint)
        /// There is nothing to do: the event is on the topic already, or is beyond a bound.
        case done
    }

    /// The progress of an earlier command.
    package let earlier: PublishProgress
    package private(set) var selection: EventSelection
    /// The number of events that earlier commands have written.
    package private(set) var resumed: Int
    /// The number of events beyond a bound of the command.
    package private(set) var skipped = 0
    /// The number of the last item.
    package private(set) var number = 0

    private var walk: PublishWalk
    /// Events that an earlier command wrote last and that were not met again yet. `missed` counts other events since then.
    private var onTopic = EventsOnTopic()
    private var missed = 0
    /// Records sent by a time. Once all of them are answered for, the progress covers everything before that time.
    private var sentBefore: (count: Int, at: Instant)
    private var pending: (line: Int, fingerprint: UInt64) = (0, 0)

    /// A publisher's default number of records in flight. After that many events in a row not on the topic, no later one is.
    private static let inFlightMax = 100_000

    /// - Parameters:
    ///   - earlier: the progress of an earlier command, or that of a file at its beginning.
    ///   - current: the progress that was saved last.
    ///   - sent: the number of records sent until now, of all files.
    package init(
        _ earlier: PublishProgress, current: PublishProgress?, selection: EventSelection, sent: Int, at now: Instant
    ) {
        self.earlier = earlier
        self.selection = selection
        resumed = earlier.published
        walk = PublishWalk(current ?? earlier)
        sentBefore = (sent, now)
        mayCover = unrecordedSince == nil
    }

    package var progress: PublishProgress { walk.progress }
    /// False while the topic may have events of an earlier command that were not searched for.
    private var mayCover = false

    /// Records the stamp that the file had before its first byte was read.
    package mutating func identify(_ stamp: FileStamp?) { walk.progress.input = stamp }

    /// The time from which the topic may have events that no progress mentions; `nil` if there was no earlier command.
    package var unrecordedSince: Instant? {
        (earlier.coveredUntil ?? earlier.begunAt).map(Instant.init(milliseconds:))
    }

    /// Adds the events that were found on the topic since `unrecordedSince`.
    ///
    /// - Parameter isComplete: false if the search was interrupted or has failed. The next command then searches again.
    package mutating func found(_ events: EventsOnTopic, isComplete: Bool = true) {
        onTopic = events
        mayCover = isComplete
    }

    // MARK: Items

    /// True if the next item is on the topic, or skipped for good, according to the earlier progress.
    package var isNextDone: Bool { earlier.isDone(number + 1) }

    package mutating func decide(_ item: EventFileItem) -> Decision {
        number += 1
        if earlier.isDone(number) {
            if selection.needsAllItems { _ = selection.choose(item) }
            return .done
        }
        pending = (item.line, item.fingerprint(number))
        switch selection.choose(item) {
        case .event(let event, let bytes):
            guard walk.canPublish(number) else {
                return .bad(reject("too many lines were mended; publish it in another file"))
            }
            guard isOnTopic(bytes) else { return .write(event, bytes) }
            resumed += 1
            walk.there(number, pending.fingerprint)
        case .bad(let complaint):
            walk.bad(number, pending.fingerprint)
            return .bad(complaint)
        case .skipped:
            skipped += 1
            walk.skipped(number, pending.fingerprint)
        }
        return .done
    }

    /// Records that the last item was sent as the record with this index.
    package mutating func sent(index: Int) {
        walk.sent(index: index, number: number, line: pending.line, pending.fingerprint)
    }

    /// Records that the last item cannot be sent.
    package mutating func reject(_ reason: String) -> EventReview.Complaint {
        walk.bad(number, pending.fingerprint)
        return EventReview.Complaint(line: pending.line, reason: reason)
    }

    private mutating func isOnTopic(_ event: [UInt8]) -> Bool {
        if onTopic.isEmpty { return false }
        if onTopic.remove(event) {
            missed = 0
            return true
        }
        missed += 1
        if missed >= Self.inFlightMax { onTopic = EventsOnTopic() }
        return false
    }

    // MARK: The broker's answers

    /// - Returns: the line of the refused record.
    package mutating func refused(index: Int) -> Int? { walk.refused(index: index) }

    /// Applies the answers: all records with an index below `contiguous` are answered for.
    package mutating func settle(before contiguous: Int) { walk.settle(before: contiguous) }

    /// Notes which records are answered for at a time, before the progress is saved.
    package mutating func cover(answered: Int, sent: Int, at now: Instant) {
        // Only once all events found on the topic were met again: if killed earlier, the next command must find them too.
        guard mayCover, onTopic.isEmpty, answered >= sentBefore.count else { return }
        walk.progress.coveredUntil = sentBefore.at.milliseconds
        sentBefore = (sent, now)
    }

    /// Records the place of a record that the broker has acknowledged.
    package mutating func stored(at place: PublishProgress.Place) { walk.progress.stored = place }

    /// Applies everything when no answer will come any more.
    ///
    /// - Returns: the number of stored records that cannot be recorded as such, so that the same command repeats them.
    package mutating func conclude(_ isAcknowledged: (Int) -> Bool) -> Int { walk.conclude(isAcknowledged) }
}

/// Compares the items of a file with the part that an earlier command has published.
package struct PublishedPart {
    private let earlier: PublishProgress
    private var number = 0
    private var sum: UInt64 = 0

    package init(_ earlier: PublishProgress) { self.earlier = earlier }

    /// True once the published part was read.
    package var isRead: Bool { number >= earlier.last }

    /// True if the part that was read is the published one.
    package var isUnchanged: Bool { number == earlier.last && sum == earlier.fingerprint }

    package mutating func read(_ item: EventFileItem) {
        number += 1
        if earlier.isDone(number) { sum &+= item.fingerprint(number) }
    }
}

extension EventFileItem {
    /// A fingerprint that distinguishes the item at this place from others.
    func fingerprint(_ number: Int) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(UInt64(clamping: number))
        switch content {
        case .event(let bytes): fingerprint.mix(bytes)
        case .bad(let reason), .broken(let reason): fingerprint.mix(reason)
        }
        return fingerprint.value
    }
}

/// The events of a run that are on its topic although a killed command could not record them.
///
/// Takes eight bytes per event. Identical events are counted separately.
package struct EventsOnTopic: Sendable {
    private var counts: [UInt64: Int] = [:]
    /// True if some of the run's events may have been removed from the topic.
    package var mayLackSome = false

    package init() {}

    package mutating func add(_ value: [UInt8]) { counts[Self.hash(value), default: 0] += 1 }

    package var isEmpty: Bool { counts.isEmpty }

    /// Removes one copy of the event; `false` if it is not among them.
    package mutating func remove(_ value: [UInt8]) -> Bool {
        let hash = Self.hash(value)
        guard let count = counts[hash] else { return false }
        counts[hash] = count > 1 ? count - 1 : nil
        return true
    }

    private static func hash(_ value: [UInt8]) -> UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.mix(value)
        return fingerprint.value
    }
}
