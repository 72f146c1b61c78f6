import Foundation
package import KafkaIO
package import KafkaModel
import NewsModel

/// Puts the events of one file on a topic.
package struct FilePublication {
    package struct Summary: Hashable {
        package var published: Int
        package var bad: Int
        /// Acknowledged in an earlier run.
        package var resumed: Int
        package var isInterrupted: Bool

        package init(published: Int = 0, bad: Int = 0, resumed: Int = 0, isInterrupted: Bool = false) {
            self.published = published
            self.bad = bad
            self.resumed = resumed
            self.isInterrupted = isInterrupted
        }
    }

    private let file: EventFile
    private let topic: String
    /// The file's path; `nil` to keep no progress.
    package var progressPath: String?
    /// Events per second; `nil` for as fast as the broker takes them.
    var rate: Int?
    var isStrict = false
    /// The most complaints that are shown; further ones are only counted.
    static let complaintsShown = 20

    private let review = EventReview()

    package init(file: EventFile, topic: String) {
        self.file = file
        self.topic = topic
    }

    /// Blocks until the end, or until the flag is raised.
    ///
    /// - Throws: `KafkaFailure`, `EventFile.Failure`; progress is saved first.
    package func run(
        _ publisher: RecordPublisher, stop: StopFlag, report: (String) -> Void, bar: inout ProgressBar
    ) throws -> Summary {
        var summary = Summary()
        summary.resumed = try begin()
        var walk = Walk(event: 0, first: publisher.published, acknowledged: summary.resumed)
        do {
            try publishAll(publisher, stop, &summary, &walk, report, &bar)
            try publisher.flush()
        } catch {
            // The next run does not repeat stored events. The first failure is the one to report.
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
        _ publisher: RecordPublisher, _ stop: StopFlag, _ summary: inout Summary, _ walk: inout Walk,
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

    /// The number of events to skip.
    private func begin() throws(EventFile.Failure) -> Int {
        guard let progressPath, let current = progress(0), let earlier = try PublishProgress.load(for: progressPath)
        else { return 0 }
        if let mismatch = earlier.mismatch(current) {
            throw EventFile.Failure(
                description:
                    "\(progressPath): \(mismatch); remove \(PublishProgress.path(for: progressPath)) to start again from the beginning"
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

    /// Maps the records in flight to the events of the file.
    private struct Walk {
        /// The number of the last event read, from 1.
        var event: Int
        /// The publisher's index of the first record in flight.
        var first: Int
        /// All events up to this number are stored, or bad.
        var acknowledged: Int
        /// Bounded by the publisher's own queue.
        private var inFlight: [Int] = []

        init(event: Int, first: Int, acknowledged: Int) {
            self.event = event
            self.first = first
            self.acknowledged = acknowledged
        }

        mutating func published() { inFlight.append(event) }

        mutating func settle(_ contiguous: Int) {
            let count = min(max(contiguous - first, 0), inFlight.count)
            if count > 0 { acknowledged = inFlight[count - 1] }
            inFlight.removeFirst(count)
            first += count
        }
    }
}

/// The position in a file, kept beside it, so that the same command can continue after an interruption.
package struct PublishProgress: Codable, Hashable {
    /// The topic of the events.
    var topic: String
    /// The file is recognised by its size in bytes and its time of change.
    var size: Int
    var modified: Date
    /// The broker has acknowledged all events up to this number, which counts the bad ones too.
    package var events: Int

    static func path(for file: String) -> String { file + ".newswire-progress" }

    /// `nil` if there is none.
    package static func load(for file: String) throws(EventFile.Failure) -> PublishProgress? {
        let path = path(for: file)
        guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
        do {
            return try JSONDecoder().decode(PublishProgress.self, from: bytes)
        } catch {
            throw EventFile.Failure(
                description: "\(path): was not written by newswire; remove it to publish \(file) from the beginning")
        }
    }

    func save(for file: String) throws(EventFile.Failure) {
        let path = Self.path(for: file)
        do {
            try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw EventFile.Failure(
                description: "\(path): cannot be written; make the folder writable, or use --no-resume")
        }
    }

    static func remove(for file: String) {
        try? FileManager.default.removeItem(atPath: path(for: file))
    }

    /// The reason this progress belongs to another file or topic; `nil` if it does not.
    func mismatch(_ other: PublishProgress) -> String? {
        if topic != other.topic { return "was partly published to topic \(topic)" }
        if size != other.size || modified != other.modified { return "has changed since it was interrupted" }
        return nil
    }
}

/// Decodes each event before it is published: a mistake is reported now, with its line, instead of later as a result.
package struct EventReview {
    private let decoder = NewsDecoder()

    package init() {}

    /// The record to publish. Its key is the story, or the id without one, so that updates of a story stay in order.
    package func record(_ item: EventFileItem, topic: String) -> Result<ProducedRecord, Complaint> {
        switch item.content {
        case .bad(let reason): return .failure(Complaint(line: item.line, reason: reason))
        case .event(let bytes):
            switch decoder.decode(SourceRecord(offset: 0, value: bytes)) {
            case .success(let event):
                return .success(ProducedRecord(topic: topic, key: Array(event.orderKey.utf8), value: bytes))
            case .failure(let undecodable):
                return .failure(Complaint(line: item.line, reason: undecodable.detail))
            }
        }
    }

    package struct Complaint: Error, Hashable {
        var line: Int
        var reason: String
    }
}
