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
    let clock = ContinuousClock()
    /// The progress of an earlier command.
    private let earlier: PublishProgress
    let acknowledgedBefore: Int
    private let stamp: FileStamp?

    var bar: ProgressBar
    private(set) var selection: EventSelection
    var summary = FilePublication.Summary()
    var walk: PublishWalk
    var silence: Silence
    var savedAt: ContinuousClock.Instant
    /// Records sent by a time. Once all of them are answered for, the progress covers everything before that time.
    var sentBefore: (count: Int, at: Instant)
    /// Events that an earlier command wrote last and that were not met again yet. `missed` counts other events since then.
    var onTopic = EventsOnTopic()
    private var missed = 0

    /// A publisher's default number of records in flight. After that many events in a row not on the topic, no later one is.
    private static let underWayMax = 100_000
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
        // Taken before the first byte is read, so that any later change differs from it.
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
            // Only after the comparison. A refused command would make the changed file the one to continue otherwise.
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

    /// Saves the progress of a file that was read to its end and is completely on the topic.
    private mutating func complete() throws {
        // The beginning and the end of a changed file may come from different versions.
        guard file.isUnchanged else {
            throw EventFile.Failure(
                description:
                    "\(file.name): was changed while it was read; \(advice("compares it and publishes the rest"))")
        }
        try save()
    }

    /// Checks that the part published by an earlier command is unchanged. Reads it, and sends nothing.
    private mutating func verify() throws {
        guard earlier.last > 0 else { return }
        // A mended line may change the file anywhere. The comparison below detects any other change.
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

    /// Finds the events that an earlier command wrote but could not record before it was killed.
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
            // While a stream has no data, answers for sent records may arrive.
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
        // The clock is read only now and then, because that costs as much as a short line.
        if number.isMultiple(of: 64) || publication.pace != nil { try tick() }
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
