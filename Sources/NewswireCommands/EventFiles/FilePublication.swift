import ByteText
package import KafkaIO
import KafkaModel

/// Puts the events of one file on a topic.
package struct FilePublication {
    package struct Summary: Hashable, Sendable {
        /// Acknowledged by the broker.
        package var published = 0
        /// Items that are no events, or that the broker refuses.
        package var bad = 0
        /// Published by an earlier command.
        package var resumed = 0
        package var isInterrupted = false

        package init(published: Int = 0, bad: Int = 0, resumed: Int = 0, isInterrupted: Bool = false) {
            self.published = published
            self.bad = bad
            self.resumed = resumed
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
    /// Events per second; `nil` for as fast as the broker takes them.
    var rate: Int?
    /// When the first record of the publisher was due: all files of a command share one rate.
    var start = ContinuousClock.now
    package var isStrict = false
    /// The one that the events are published for; `nil` if it has no name.
    var environment: String?
    /// The run that the events belong to.
    var run: String?
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
    }

    /// Blocks until the end, or until the flag is raised and the broker has answered for what is under way.
    ///
    /// - Parameter publisher: skips refused records. After an interruption or a failure it takes no further record.
    /// - Throws: `KafkaFailure`, `EventFile.Failure`; progress is saved first.
    package func run(
        _ publisher: RecordPublisher, stop: StopFlag, report: (String) -> Void, bar: inout ProgressBar
    ) throws -> Summary {
        try withoutActuallyEscaping(report) { report in
            var run = try FileRun(self, publisher, stop, report, bar)
            defer { bar = run.bar }
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
    private let review: EventReview
    private let clock = ContinuousClock()
    /// The progress of an earlier command.
    private let earlier: PublishProgress
    private let acknowledgedBefore: Int

    var bar: ProgressBar
    private var summary = FilePublication.Summary()
    private var walk: PublishWalk
    private var silence: Silence
    private var savedAt: ContinuousClock.Instant

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
        review = EventReview(environment: publication.environment, run: publication.run)
        self.publisher = publisher
        self.stop = stop
        self.report = report
        self.bar = bar
        file = try EventFile(path: publication.path, format: publication.format)
        earlier = publication.progress?.earlier ?? PublishProgress(topic: publication.topic)
        walk = PublishWalk(publication.progress?.current ?? earlier)
        acknowledgedBefore = publisher.acknowledged
        silence = Silence(acknowledged: publisher.acknowledged, since: clock.now)
        savedAt = clock.now
    }

    mutating func run() throws -> FilePublication.Summary {
        summary.resumed = earlier.published
        do {
            try verify()
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
    private func complete() throws {
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
            throw EventFile.Failure(
                description:
                    "\(file.name): has changed in the part of which \(counted(earlier.published, "event was", plural: "events were")) published. Restore that part (a bad line may be mended, not removed) and run the same command again, or put only what is new into a file of its own; to forget what was published, remove \(ProgressFile.path(for: publication.path))"
            )
        }
    }

    private mutating func publishAll() throws {
        var number = 0
        while let items = try file.next() {
            for item in items {
                if stop.isRaised { break }
                if case .broken(let reason) = item.content { throw complaint(item.line, reason) }
                number += 1
                if !earlier.isDone(number) { try take(item, number) }
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
        switch review.record(item, topic: publication.topic) {
        case .success(let record):
            guard walk.canPublish(number) else {
                return try bad(number, fingerprint, item.line, "too many lines were mended; publish it in another file")
            }
            if let rate = publication.rate {
                let due = Int64(publisher.published) * 1_000_000_000 / Int64(rate)
                stop.wait(until: publication.start + .nanoseconds(due))
            }
            do {
                guard try put(record) else { return }
                walk.sent(index: publisher.published - 1, number: number, line: item.line, fingerprint)
            } catch let failure as KafkaFailure where failure.code == "MSG_SIZE_TOO_LARGE" {
                try bad(number, fingerprint, item.line, "\(failure)")
            }
        case .failure(let complaint): try bad(number, fingerprint, complaint.line, complaint.reason)
        }
        // The time is asked for now and then only: it costs as much as a short line.
        if number.isMultiple(of: 64) || publication.rate != nil { try tick() }
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
        let now = clock.now
        bar.draw(share: file.share, events: publisher.acknowledged - acknowledgedBefore, at: now)
        try answers()
        if savedAt.duration(to: now) > .seconds(1) {
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

    private func save() throws(EventFile.Failure) {
        guard let file = publication.progress, file.current != walk.progress else { return }
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
