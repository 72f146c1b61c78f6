import KafkaIO
import KafkaModel
import NewsModel

/// Puts the events of one file on a topic.
struct FilePublication {
    struct Summary: Hashable {
        var published = 0
        var bad = 0
        /// Acknowledged in an earlier run.
        var resumed = 0
        var isInterrupted = false
    }

    let file: EventFile
    let topic: String
    /// The file's path when its progress is kept.
    var progressPath: String?
    /// Events per second; `nil` for as fast as the broker takes them.
    var rate: Int?
    var isStrict = false
    /// Complaints shown; the others are only counted.
    static let complaintsShown = 20

    private let review = EventReview()

    init(file: EventFile, topic: String) {
        self.file = file
        self.topic = topic
    }

    /// Blocks until the end, or until the sign is raised.
    ///
    /// - Throws: `KafkaFailure`, `EventFile.Failure`. What was acknowledged until then is kept as progress.
    func run(_ publisher: RecordPublisher, stop: StopSign, report: (String) -> Void, bar: inout ProgressBar) throws
        -> Summary
    {
        var summary = Summary()
        summary.resumed = try begin()
        var walk = Walk(event: 0, first: publisher.published, acknowledged: summary.resumed)
        do {
            try publishAll(publisher, stop, &summary, &walk, report, &bar)
            try publisher.flush()
        } catch {
            // What is known to be stored is not sent again; the first reason is the one to tell.
            walk.settle(publisher.contiguous)
            try? save(walk.acknowledged)
            throw error
        }
        if summary.isInterrupted {
            walk.settle(publisher.contiguous)
            try save(walk.acknowledged)
        } else if let progressPath {
            PublishProgress.remove(for: progressPath)
        }
        return summary
    }

    private func publishAll(
        _ publisher: RecordPublisher, _ stop: StopSign, _ summary: inout Summary, _ walk: inout Walk,
        _ report: (String) -> Void, _ bar: inout ProgressBar
    ) throws {
        let clock = ContinuousClock()
        let start = clock.now
        var saved = start
        while let items = try file.next() {
            for item in items {
                if stop.isRaised {
                    summary.isInterrupted = true
                    return
                }
                walk.event += 1
                guard walk.event > summary.resumed else { continue }
                switch review.record(item, topic: topic) {
                case .success(let record):
                    if let rate {
                        stop.wait(until: start + .nanoseconds(Int64(summary.published) * 1_000_000_000 / Int64(rate)))
                    }
                    try publisher.publish(record)
                    walk.published()
                    summary.published += 1
                case .failure(let complaint):
                    summary.bad += 1
                    let text = "\(file.name):\(complaint.line): \(complaint.reason)"
                    if isStrict { throw EventFile.Failure(description: text) }
                    if summary.bad <= Self.complaintsShown {
                        bar.clear()
                        report(text)
                    }
                }
                let now = clock.now
                bar.draw(share: share, events: summary.published, at: now)
                if saved.duration(to: now) > .seconds(1) {
                    saved = now
                    walk.settle(publisher.contiguous)
                    try save(walk.acknowledged)
                }
            }
        }
    }

    private var share: Double? {
        file.size.map { $0 > 0 ? Double(file.bytesRead) / Double($0) : 1 }
    }

    // MARK: Progress

    /// How many events to pass over.
    private func begin() throws(EventFile.Failure) -> Int {
        guard let progressPath, let current = progress(0), let earlier = try PublishProgress.load(for: progressPath)
        else { return 0 }
        if let mismatch = earlier.mismatch(current) {
            throw EventFile.Failure(
                description:
                    "\(progressPath): \(mismatch); remove \(PublishProgress.path(for: progressPath)) to publish it from its beginning"
            )
        }
        return earlier.events
    }

    private func save(_ events: Int) throws(EventFile.Failure) {
        guard let progressPath, let progress = progress(events) else { return }
        try progress.save(for: progressPath)
    }

    private func progress(_ events: Int) -> PublishProgress? {
        guard let size = file.size, let modified = file.modified else { return nil }
        return PublishProgress(topic: topic, size: size, modified: modified, events: events)
    }

    /// Which event of the file each record under way is.
    private struct Walk {
        /// The number of the event looked at last, from 1.
        var event: Int
        /// The publisher's index of the first record in `underWay`.
        var first: Int
        /// All events up to this number are stored, or bad.
        var acknowledged: Int
        /// Bounded by the publisher's own queue.
        private var underWay: [Int] = []

        init(event: Int, first: Int, acknowledged: Int) {
            self.event = event
            self.first = first
            self.acknowledged = acknowledged
        }

        mutating func published() { underWay.append(event) }

        mutating func settle(_ contiguous: Int) {
            let count = min(max(contiguous - first, 0), underWay.count)
            if count > 0 { acknowledged = underWay[count - 1] }
            underWay.removeFirst(count)
            first += count
        }
    }
}
