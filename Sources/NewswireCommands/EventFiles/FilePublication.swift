import ByteText
package import KafkaIO
import KafkaModel
package import NewsModel

/// Puts the events of one file on a topic.
package struct FilePublication {
    package struct Summary: Hashable, Sendable {
        /// Acknowledged by the broker.
        package var published = 0
        /// Items that are no events, or that the broker refuses.
        package var bad = 0
        /// Published by an earlier command.
        package var resumed = 0
        /// Events beyond a bound of the command.
        package var skipped = 0
        package var isInterrupted = false

        package init(
            published: Int = 0, bad: Int = 0, resumed: Int = 0, skipped: Int = 0, isInterrupted: Bool = false
        ) {
            self.published = published
            self.bad = bad
            self.resumed = resumed
            self.skipped = skipped
            self.isInterrupted = isInterrupted
        }

        /// There was nothing in the file.
        var isEmpty: Bool { self == Summary() }
    }

    let path: String
    let format: EventFileFormat?
    let topic: String
    /// `nil` to keep no progress.
    package var progress: ProgressFile?
    /// `nil` for as fast as the broker takes them.
    package var pace: PublishPace?
    package var isStrict = false
    /// Finds what a command that was killed has put on the topic since a time; `nil` not to look.
    package var findOnTopic: ((Instant) throws -> EventsOnTopic)?
    package var review = EventReview()
    /// Goes on from file to file.
    package var selection: EventSelection
    /// `nil` for any hour.
    package var schedule: PublishSchedule?
    package var wall = PublishClock.system
    /// The most records of all files together, where their events cannot be counted before; more are an error.
    package var recordsMax: Int?
    /// The longest wait for the broker's answers after an interruption or a failure.
    package var waitMax: Duration = .seconds(10)

    /// The most complaints that are shown; further ones are only counted.
    static let complaintsShown = 20
    /// Without any answer of the broker for this long, it says what it waits for.
    static let silenceToTell = Duration.seconds(5)
    /// Without any answer for this long, it gives up.
    static let silenceMax = Duration.seconds(60)

    package init(path: String, format: EventFileFormat? = nil, topic: String) {
        self.path = path
        self.format = format
        self.topic = topic
        selection = EventSelection(review, start: .distantPast)
    }

    /// Blocks until the end, or until the flag is raised and the broker has answered for what is under way.
    ///
    /// - Parameter publisher: skips refused records. After an interruption or a failure it takes no further record.
    /// - Throws: `KafkaFailure`, `EventFile.Failure`; progress is saved first.
    package mutating func run(
        _ publisher: RecordPublisher, stop: StopFlag, report: (String) -> Void, bar: inout ProgressBar
    ) throws -> Summary {
        let publication = self
        return try withoutActuallyEscaping(report) { report in
            var run = try FileRun(publication, publisher, stop, report, bar)
            defer {
                bar = run.bar
                selection = run.selection
            }
            return try run.run()
        }
    }
}

/// One file's way to the topic.
private struct FileRun {
    private let publication: FilePublication
    private let file: EventFile
    private let publisher: RecordPublisher
    private let stop: StopFlag
    private let report: (String) -> Void
    private let clock = ContinuousClock()
    /// The progress of an earlier command.
    private let earlier: PublishProgress
    private let acknowledgedBefore: Int
    private let stamp: FileStamp?

    var bar: ProgressBar
    private(set) var selection: EventSelection
    private var summary = FilePublication.Summary()
    private var walk: PublishWalk
    private var silence: Silence
    private var savedAt: ContinuousClock.Instant
    /// Records sent by a time: once all of them are answered for, nothing older is missing in the progress.
    private var sentBefore: (count: Int, at: Instant)
    /// What is still to be met of what an earlier command wrote last, and how many events were not of it since.
    private var onTopic = EventsOnTopic()
    private var missed = 0

    /// As many records as a publisher has under way by default: behind so many that are not on the topic, none is.
    private static let underWayMax = 100_000
    /// The first save comes sooner.
    private static let saveInterval = Duration.seconds(1)
    private static let firstSave = Duration.milliseconds(100)

    /// How long the broker has said nothing although it should.
    private struct Silence {
        var acknowledged: Int
        var since: ContinuousClock.Instant
        var isTold = false
        /// It was too long.
        var isOver = false
    }

    init(
        _ publication: FilePublication, _ publisher: RecordPublisher, _ stop: StopFlag,
        _ report: @escaping (String) -> Void, _ bar: ProgressBar
    ) throws {
        self.publication = publication
        selection = publication.selection
        self.publisher = publisher
        self.stop = stop
        self.report = report
        self.bar = bar
        file = try EventFile(path: publication.path, format: publication.format)
        earlier = publication.progress?.earlier ?? PublishProgress(topic: publication.topic)
        walk = PublishWalk(publication.progress?.current ?? earlier)
        // Before the first byte is read: what is changed from now on will differ from it.
        stamp = publication.progress.flatMap { _ in FileStamp(of: publication.path) }
        acknowledgedBefore = publisher.acknowledged
        silence = Silence(acknowledged: publisher.acknowledged, since: clock.now)
        savedAt = clock.now - Self.saveInterval + Self.firstSave
        sentBefore = (publisher.published, publication.wall.now())
    }

    mutating func run() throws -> FilePublication.Summary {
        summary.resumed = earlier.published
        do {
            try verify()
            if !stop.isRaised { walk.identify(stamp) }
            findOnTopic()
            try publishAll()
            if !summary.isInterrupted { try awaitAnswers() }
            if !summary.isInterrupted { try complete() }
        } catch {
            conclude(waiting: silence.isOver ? .zero : publication.waitMax)
            throw error
        }
        if summary.isInterrupted { conclude(waiting: publication.waitMax) }
        summary.published = publisher.acknowledged - acknowledgedBefore
        return summary
    }

    /// It was read to its end, and all of it is on the topic.
    private mutating func complete() throws {
        // Its beginning and its end may be of different versions.
        guard file.isUnchanged else {
            throw EventFile.Failure(
                description:
                    "\(file.name): was changed while it was read; \(advice("compares it and publishes the rest"))")
        }
        try save()
    }

    /// The part that an earlier command has published is still the same. Reads it, and sends nothing.
    private mutating func verify() throws {
        guard earlier.last > 0 else { return }
        // A mended line may change the file anywhere; the comparison below finds out if that was all.
        if earlier.absent.isEmpty, let difference = earlier.input?.difference(publication.path) {
            throw changed("\(difference), and")
        }
        let file = try EventFile(path: publication.path, format: publication.format)
        var (number, sum) = (0, 0 as UInt64)
        reading: while let items = try file.next() {
            bar.draw(share: file.share, events: 0, at: clock.now)
            for item in items {
                if stop.isRaised { return }
                if case .broken = item.content { break reading }
                number += 1
                if earlier.isDone(number) { sum &+= item.fingerprint(number) }
                if number == earlier.last { break reading }
            }
        }
        guard number == earlier.last, sum == earlier.fingerprint else {
            throw changed("has changed in the part of which")
        }
    }

    /// What an earlier command wrote, and was killed before it could record it.
    private mutating func findOnTopic() {
        guard publication.progress?.earlier != nil, let find = publication.findOnTopic,
            let since = earlier.coveredUntil ?? earlier.begunAt
        else { return }
        do {
            onTopic = try find(Instant(milliseconds: since))
        } catch {
            tell(
                "\(file.name): what an earlier command wrote last cannot be looked for, and may be published twice: \(error)"
            )
        }
    }

    private mutating func isOnTopic(_ event: [UInt8]) -> Bool {
        if onTopic.isEmpty { return false }
        if onTopic.take(event) {
            missed = 0
            return true
        }
        missed += 1
        if missed >= Self.underWayMax { onTopic = EventsOnTopic() }
        return false
    }

    private func changed(_ what: String) -> EventFile.Failure {
        EventFile.Failure(
            description:
                "\(file.name): \(what) \(counted(earlier.published, "event was", plural: "events were")) published. Restore it (a bad line may be mended, not removed) and run the same command again, or put only what is new into a file of its own; to forget what was published, remove \(ProgressFile.path(for: publication.path))"
        )
    }

    private mutating func publishAll() throws {
        var number = 0
        while let items = try file.next() {
            for item in items {
                if stop.isRaised { break }
                if case .broken(let reason) = item.content { throw complaint(item.line, reason) }
                number += 1
                if !earlier.isDone(number) {
                    try take(item, number)
                } else if selection.needsAllItems {
                    _ = selection.choose(item)
                }
            }
            if stop.isRaised {
                summary.isInterrupted = true
                return
            }
            // A stream that gives nothing: what was sent may be answered meanwhile.
            if items.isEmpty { _ = publisher.settle(within: .zero) }
            try tick()
        }
    }

    private mutating func take(_ item: EventFileItem, _ number: Int) throws {
        let fingerprint = item.fingerprint(number)
        switch selection.choose(item) {
        case .event(let event, let bytes):
            let record = publication.review.record(event, bytes, topic: publication.topic)
            guard walk.canPublish(number) else {
                return try bad(number, fingerprint, item.line, "too many lines were mended; publish it in another file")
            }
            if isOnTopic(bytes) {
                summary.resumed += 1
                return walk.there(number, fingerprint)
            }
            if let most = publication.recordsMax, publisher.published >= most {
                throw complaint(
                    item.line,
                    "only \(counted(most, "event is", plural: "events are")) allowed; \(PublishPermission.remedy)")
            }
            try awaitHours()
            if let pace = publication.pace { stop.wait(until: pace.due(after: publisher.published)) }
            do {
                guard try put(record) else { return }
                walk.sent(index: publisher.published - 1, number: number, line: item.line, fingerprint)
            } catch let failure as KafkaFailure where failure.code == "MSG_SIZE_TOO_LARGE" {
                try bad(number, fingerprint, item.line, "\(failure)")
            }
        case .bad(let complaint): try bad(number, fingerprint, complaint.line, complaint.reason)
        case .skipped:
            summary.skipped += 1
            walk.skipped(number, fingerprint)
        }
        // The time is asked for now and then only: it costs as much as a short line.
        if number.isMultiple(of: 64) || publication.pace != nil { try tick() }
    }

    /// Waits for the hours in which events are written, or for the flag. Answers are taken meanwhile.
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

    /// - Returns: `false` if there was no room until the flag was raised: the record was not taken.
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

    /// The broker has answered for everything, or the flag is raised.
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

    // MARK: Bad items

    private mutating func bad(_ number: Int, _ fingerprint: UInt64, _ line: Int, _ reason: String) throws {
        walk.bad(number, fingerprint)
        try complain(line, reason)
    }

    private mutating func complain(_ line: Int, _ reason: String) throws {
        summary.bad += 1
        if publication.isStrict { throw complaint(line, reason) }
        if summary.bad <= FilePublication.complaintsShown { tell(complaint(line, reason).description) }
    }

    private func complaint(_ line: Int, _ reason: String) -> EventFile.Failure {
        EventFile.Failure(description: "\(file.name):\(line): \(reason)")
    }

    private func tell(_ text: String) {
        bar.clear()
        report(text)
    }

    /// What the same command does next time.
    private func advice(_ does: String) -> String {
        publication.progress != nil
            ? "the same command \(does)" : "no position is kept: the same command starts again from the beginning"
    }

    // MARK: The broker's answers

    /// What is due now and then.
    private mutating func tick() throws {
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

    private mutating func answers() throws {
        for refusal in publisher.takeRefused() {
            guard let line = walk.refused(index: refusal.index) else { continue }
            try complain(line, "the broker refuses it: \(refusal.failure)")
        }
        walk.settle(before: publisher.contiguous)
    }

    /// - Throws: the reason, when the broker has not answered for too long.
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

    private mutating func save() throws(EventFile.Failure) {
        guard let file = publication.progress, file.current != walk.progress else { return }
        // Killed before all of that is met again, the next command has to look for it too.
        if onTopic.isEmpty, publisher.contiguous >= sentBefore.count {
            walk.covers(until: sentBefore.at.milliseconds)
            sentBefore = (publisher.published, publication.wall.now())
        }
        try file.save(walk.progress)
    }

    /// Waits a little for what is under way, gives up the rest, and saves what is certain.
    private mutating func conclude(waiting limit: Duration) {
        let deadline = clock.now + limit
        try? save()
        while !publisher.settle(within: .milliseconds(100)), clock.now < deadline {
            try? answers()
            try? save()
        }
        let unknown = publisher.abandon()
        try? answers()
        var repeated = walk.conclude(publisher.isAcknowledged)
        do {
            try save()
        } catch {
            tell("\(error)")
            repeated = max(repeated, walk.progress.published - (publication.progress?.current?.published ?? 0))
        }
        summary.published = publisher.acknowledged - acknowledgedBefore
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
        // Of nothing there is nothing to continue.
        let stored = publication.progress != nil ? walk.progress.published : summary.published
        if stored + unknown == 0, !summary.isInterrupted { return }
        let ending = summary.isInterrupted ? "interrupted" : "stopped"
        tell("\(file.name): \(ending) with \(counted(stored, "event")) on the topic; \(advice("publishes the rest"))")
    }
}
