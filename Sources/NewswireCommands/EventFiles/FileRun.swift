import Backfill
import ByteText
import KafkaIO
import KafkaModel
import NewsModel

/// The publication of one file to the topic.
struct FileRun {
    let publication: FilePublication
    let file: EventFile
    let publisher: RecordPublisher
    private let stop: StopFlag
    let report: (String) -> Void
    let bar: ProgressBar
    let clock = ContinuousClock()
    let acknowledgedBefore: Int
    private let stamp: FileStamp?

    var state: PublicationState
    var summary = FilePublication.Summary()
    var silence: Silence
    var savedAt: ContinuousClock.Instant
    /// True once events of the file may be written.
    private var isBegun = false

    /// The time between saves, except before the first one.
    static let saveInterval = Duration.seconds(1)
    private static let firstSave = Duration.milliseconds(100)

    /// The silence of the broker while records wait for its answer.
    struct Silence {
        var acknowledged: Int
        var since: ContinuousClock.Instant
        var isTold = false
        /// True if the silence was too long.
        var isOver = false
    }

    init(
        _ publication: FilePublication, _ publisher: RecordPublisher, _ stop: StopFlag, _ bar: ProgressBar,
        _ report: @escaping (String) -> Void
    ) throws {
        (self.publication, self.publisher, self.stop) = (publication, publisher, stop)
        (self.bar, self.report) = (bar, report)
        file = try EventFile(path: publication.path, format: publication.format)
        state = PublicationState(
            publication.progress?.earlier ?? PublishProgress(topic: publication.topic),
            current: publication.progress?.current, selection: publication.selection, sent: publisher.published,
            at: publication.wall.now())
        // Taken before the first byte is read, so that any later change differs from it.
        stamp = publication.progress.flatMap { _ in FileStamp(of: publication.path) }
        acknowledgedBefore = publisher.acknowledged
        silence = Silence(acknowledged: publisher.acknowledged, since: clock.now)
        savedAt = clock.now - Self.saveInterval + Self.firstSave
    }

    mutating func run() throws -> FilePublication.Summary {
        do {
            try verify()
            // Only after the comparison. A refused command would make the changed file the one to continue otherwise.
            if !stop.isRaised { state.identify(stamp) }
            try publishAll()
            if !summary.isInterrupted { try awaitAnswers() }
            if !summary.isInterrupted { try complete() }
        } catch {
            // On a recreated topic, every further event would be there twice after everything is published again.
            let isHopeless = silence.isOver || publisher.recreatedTopic != nil
            conclude(waiting: isHopeless ? .zero : publication.waitMax)
            try checkTopic()
            throw error
        }
        if summary.isInterrupted {
            conclude(waiting: publication.waitMax)
            try checkTopic()
        }
        summary.published = publisher.acknowledged - acknowledgedBefore
        (summary.resumed, summary.skipped) = (state.resumed, state.skipped)
        return summary
    }

    /// Saves the progress of a file that was read to its end and is completely on the topic.
    private mutating func complete() throws {
        // The beginning and the end of a changed file may come from different versions.
        guard file.isUnchanged else {
            throw EventFile.Failure(
                "\(file.name): was changed while it was read; \(advice("compares it and publishes the rest"))")
        }
        try save()
    }

    /// Checks that the part published by an earlier command is unchanged. Reads it, and sends nothing.
    private func verify() throws {
        let earlier = state.earlier
        guard earlier.last > 0 else { return }
        // A mended line may change the file anywhere. The comparison below detects any other change.
        if earlier.absent.isEmpty, let difference = earlier.input?.difference(publication.path) {
            throw changed("\(difference), and")
        }
        let file = try EventFile(path: publication.path, format: publication.format)
        var part = PublishedPart(earlier)
        reading: while let items = try file.next() {
            bar.draw(share: file.share, events: 0, at: clock.now)
            for item in items {
                if stop.isRaised { return }
                if case .broken = item.content { break reading }
                part.read(item)
                if part.isRead { break reading }
            }
        }
        if !part.isUnchanged { throw changed("has changed in the part of which") }
    }

    /// Prepares for the first event that may be written. A file that is completely on the topic does not get here.
    private mutating func begin() throws {
        isBegun = true
        findOnTopic()
        // If this command is killed before the next save, the saved time makes the next one search for its events.
        state.cover(answered: publisher.contiguous, sent: publisher.published, at: publication.wall.now())
        try save()
    }

    /// Finds the events that an earlier command wrote but could not record before it was killed.
    private mutating func findOnTopic() {
        guard publication.progress?.earlier != nil, let find = publication.findOnTopic,
            let since = state.unrecordedSince
        else { return }
        do {
            let events = try find(since)
            if events.mayLackSome {
                tell(
                    "\(file.name): warning: records were removed from \(publication.topic); if an earlier command wrote some of them last, at \(since) or later, they are published again"
                )
            }
            state.found(events, isComplete: !stop.isRaised)
        } catch {
            state.found(EventsOnTopic(), isComplete: false)
            tell(
                "\(file.name): what an earlier command wrote last cannot be looked for, and may be published twice: \(error)"
            )
        }
    }

    private func changed(_ what: String) -> EventFile.Failure {
        EventFile.Failure(
            "\(file.name): \(what) \(counted(state.earlier.published, "event was", plural: "events were")) published. Restore it (a bad line may be mended, not removed) and run the same command again, or put only what is new into a file of its own; to forget what was published, remove \(ProgressFile.path(for: publication.path))"
        )
    }

    private mutating func publishAll() throws {
        while let items = try file.next() {
            for item in items {
                if stop.isRaised { break }
                if case .broken(let reason) = item.content { throw complaint(item.line, reason) }
                try publish(item)
            }
            if stop.isRaised {
                summary.isInterrupted = true
                return
            }
            // While a stream has no data, answers for sent records may arrive.
            if items.isEmpty { _ = publisher.settle(within: .zero) }
            try tick()
        }
    }

    private mutating func publish(_ item: EventFileItem) throws {
        if !isBegun, !state.isNextDone { try begin() }
        switch state.decide(item) {
        case .write(let event, let bytes):
            if let most = publication.recordsMax, publisher.published >= most {
                throw complaint(
                    item.line,
                    "only \(counted(most, "event is", plural: "events are")) allowed; \(PublishPermission.remedy)")
            }
            try awaitHours()
            if let pace = publication.pace { stop.wait(until: pace.due(after: publisher.published)) }
            do {
                guard try put(publication.review.record(event, bytes, topic: publication.topic, of: item)) else {
                    return
                }
                state.sent(index: publisher.published - 1)
            } catch let failure as KafkaFailure where failure.code == "MSG_SIZE_TOO_LARGE" {
                try complain(state.reject("\(failure)"))
            }
        case .bad(let complaint): try complain(complaint)
        case .done: break
        }
        // The clock is read only now and then, because that costs as much as a short line.
        if state.number.isMultiple(of: 64) || publication.pace != nil { try tick() }
    }

    /// Waits until events may be written, or until the flag is raised. Applies the broker's answers meanwhile.
    private mutating func awaitHours() throws {
        guard let schedule = publication.schedule else { return }
        let opening = schedule.opening(at: publication.wall.now())
        guard opening > publication.wall.now() else { return }
        tell("\(file.name): pauses until \(opening)")
        let since = clock.now
        while publication.wall.now() < opening, !stop.isRaised {
            _ = publisher.settle(within: .zero)
            try tick()
            publication.wall.wait(min(opening, publication.wall.now() + .seconds(1)), stop)
        }
        bar.pause(since.duration(to: clock.now))
        publication.pace?.restart(after: publisher.published, at: clock.now)
    }

    /// - Returns: `false` if the flag was raised before there was room, so that the record was not published.
    private mutating func put(_ record: ProducedRecord) throws -> Bool {
        while !stop.isRaised {
            do {
                try publisher.publish(record, timeout: .milliseconds(100))
                return true
            } catch  where error.code == "_QUEUE_FULL" {
                try tick()
            }
        }
        return false
    }

    /// Waits until the broker has answered for everything, or until the flag is raised.
    private mutating func awaitAnswers() throws {
        while !publisher.settle(within: .milliseconds(100)) {
            if stop.isRaised {
                summary.isInterrupted = true
                return
            }
            try tick()
        }
        try publisher.flush()
        try answers()
    }
}

/// Handles bad items and the broker's answers.
extension FileRun {
    // MARK: Bad items

    mutating func complain(_ complaint: EventReview.Complaint) throws {
        summary.bad += 1
        let failure = self.complaint(complaint.line, complaint.reason)
        if publication.isStrict { throw failure }
        if summary.bad <= FilePublication.complaintsShown { tell(failure.description) }
    }

    func complaint(_ line: Int, _ reason: String) -> EventFile.Failure {
        EventFile.Failure("\(file.name):\(line): \(reason)")
    }

    func tell(_ text: String) {
        bar.clear()
        report(text)
    }

    /// A sentence about what the same command does when it is given again.
    func advice(_ does: String) -> String {
        publication.progress != nil
            ? "the same command \(does)" : "no position is kept: the same command starts again from the beginning"
    }

    // MARK: The broker's answers

    /// Does periodic work: draws the bar, applies answers, saves progress, and checks for silence of the broker.
    mutating func tick() throws {
        let (now, publication) = (clock.now, publication)
        bar.draw(share: file.share, events: publisher.acknowledged - acknowledgedBefore, at: now) { work in
            guard let schedule = publication.schedule else { return work }
            let wall = publication.wall.now()
            return schedule.end(of: work, from: wall) - wall
        }
        try answers()
        if savedAt.duration(to: now) > Self.saveInterval {
            savedAt = now
            try save()
        }
        try listen(at: now)
    }

    mutating func answers() throws {
        // Registers all refusals first, because a strict publication ends at the first complaint.
        let refusals = publisher.takeRefused().compactMap { refusal in
            state.refused(index: refusal.index).map { (line: $0, failure: refusal.failure) }
        }
        state.settle(before: publisher.contiguous)
        try checkTopic()
        for (line, failure) in refusals {
            try complain(.init(line: line, reason: "the broker refuses it: \(failure)"))
        }
    }

    /// - Throws: an error if what was published before is gone.
    private func checkTopic() throws(EventFile.Failure) {
        guard let topic = publisher.recreatedTopic else { return }
        let remedy =
            publication.progress != nil
            ? "remove \(ProgressFile.path(for: publication.path)) to publish everything" : "publish everything again"
        throw EventFile.Failure(
            "\(file.name): \(topic) was deleted and made again, or cut back, while events were published to it, and those before are gone; \(remedy)"
        )
    }

    /// - Throws: the reason, if the broker has not answered for too long.
    private mutating func listen(at now: ContinuousClock.Instant) throws(KafkaFailure) {
        let waiting = publisher.waiting
        if waiting == 0 || publisher.acknowledged != silence.acknowledged {
            silence = Silence(acknowledged: publisher.acknowledged, since: now)
            return
        }
        let silent = silence.since.duration(to: now)
        if silent > FilePublication.silenceMax {
            silence.isOver = true
            throw publisher.silence
        }
        if silent > FilePublication.silenceToTell, !silence.isTold {
            silence.isTold = true
            tell("waiting for the broker to acknowledge \(counted(waiting, "event"))")
        }
    }

    mutating func save() throws(EventFile.Failure) {
        // A broker that recognises a repeated record does not say where it is.
        if publisher.recreatedTopic != nil {
            state.stored(at: .gone)
        } else if let last = publisher.lastStored, last.offset >= 0 {
            state.stored(at: .init(partition: last.partition, offset: last.offset))
        }
        guard let file = publication.progress, file.current != state.progress else { return }
        state.cover(answered: publisher.contiguous, sent: publisher.published, at: publication.wall.now())
        try file.save(state.progress)
    }

    /// Waits up to `limit` for records in flight, abandons the rest, and saves what is certain.
    mutating func conclude(waiting limit: Duration) {
        let deadline = clock.now + limit
        repeat {
            try? answers()
            try? save()
        } while !publisher.settle(within: .milliseconds(100)) && clock.now < deadline
        let unknown = publisher.abandon()
        if unknown > 0 { publication.progress?.isUncertain = true }
        try? answers()
        var repeated = state.conclude(publisher.isAcknowledged)
        do {
            try save()
        } catch {
            tell("\(error)")
            repeated = max(repeated, state.progress.published - (publication.progress?.current?.published ?? 0))
        }
        summary.published = publisher.acknowledged - acknowledgedBefore
        // Gives no advice about a recreated topic, because the same command refuses to publish the rest to it.
        if publisher.recreatedTopic != nil { return }
        if unknown > 0 {
            tell(
                "\(file.name): the broker did not answer for \(counted(unknown, "event")): each may be on the topic or not; \(advice("publishes them again"))"
            )
        }
        if repeated > 0 {
            tell(
                "\(file.name): \(counted(repeated, "event")) on the topic could not be recorded; the same command publishes them again"
            )
        }
        // Without any event on the topic there is nothing to continue.
        let stored = publication.progress != nil ? state.progress.published : summary.published
        if stored + unknown == 0, !summary.isInterrupted { return }
        let ending = summary.isInterrupted ? "interrupted" : "stopped"
        tell("\(file.name): \(ending) with \(counted(stored, "event")) on the topic; \(advice("publishes the rest"))")
    }
}
