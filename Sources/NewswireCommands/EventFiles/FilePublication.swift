package import Backfill
package import KafkaIO
package import KafkaModel
package import NewsModel

/// Publishes the events of one file to a topic.
package struct FilePublication {
    package struct Summary: Hashable, Sendable {
        /// Events that the broker has acknowledged.
        package var published = 0
        /// Items that are not events, or that the broker refuses.
        package var bad = 0
        /// Events that an earlier command has published.
        package var resumed = 0
        /// Events beyond a bound of the command.
        package var skipped = 0
        package var isInterrupted = false

        package init(
            published: Int = 0, bad: Int = 0, resumed: Int = 0, skipped: Int = 0, isInterrupted: Bool = false
        ) {
            (self.published, self.bad, self.resumed, self.skipped) = (published, bad, resumed, skipped)
            self.isInterrupted = isInterrupted
        }

        var isEmpty: Bool { self == Summary() }
    }

    /// The path of the file; `-` for standard input.
    var path: String
    let format: EventFileFormat?
    let topic: String
    /// The progress of the file; `nil` to keep no progress.
    package var progress: ProgressFile?
    /// The limit of events per second; `nil` to publish as fast as the broker accepts.
    package var pace: PublishPace?
    package var isStrict = false
    /// Finds the events that a killed command has written to the topic since a time; `nil` to skip the search.
    package var findOnTopic: ((Instant) throws -> EventsOnTopic)?
    package var review = EventReview()
    /// The selection of events, which continues from file to file.
    package var selection: EventSelection
    /// The hours in which events are written; `nil` for any hour.
    package var schedule: PublishSchedule?
    package var wall = PublishClock.system
    /// Maximum number of records of all files together, if events cannot be counted first. More are an error.
    package var recordsMax: Int?
    /// Maximum wait for the broker's answers after an interruption or a failure.
    package var waitMax: Duration = .seconds(10)

    /// Maximum number of complaints that are shown; further ones are only counted.
    static let complaintsShown = 20
    /// Time without any answer of the broker after which the wait is reported.
    static let silenceToTell = Duration.seconds(5)
    /// Time without any answer of the broker after which the publication fails.
    static let silenceMax = Duration.seconds(60)

    package init(path: String, format: EventFileFormat? = nil, topic: String) {
        (self.path, self.format, self.topic) = (path, format, topic)
        selection = EventSelection(review, start: .distantPast)
    }

    /// Publishes the file. Blocks until the end, or until the flag is raised and the broker has answered for records in flight.
    ///
    /// - Parameter publisher: skips refused records. After an interruption or a failure it accepts no further record.
    /// - Throws: `KafkaFailure` or `EventFile.Failure`, after saving the progress.
    package mutating func run(
        _ publisher: RecordPublisher, stop: StopFlag, bar: ProgressBar, report: @escaping (String) -> Void
    ) throws -> Summary {
        var run = try FileRun(self, publisher, stop, bar, report)
        defer { selection = run.state.selection }
        return try run.run()
    }
}

/// The wall clock, and a way to wait until one of its times.
package struct PublishClock: Sendable {
    package var now: @Sendable () -> Instant
    /// Returns at the given time, or earlier if the flag is raised.
    package var wait: @Sendable (Instant, StopFlag) -> Void

    package init(now: @escaping @Sendable () -> Instant, wait: @escaping @Sendable (Instant, StopFlag) -> Void) {
        (self.now, self.wait) = (now, wait)
    }

    package static let system = PublishClock(
        now: { ServiceClock.wall },
        wait: { time, stop in stop.wait(until: .now + (time - ServiceClock.wall)) })
}

extension EventsOnTopic {
    /// The precision of publishers' clocks and of brokers' search by time.
    private static let slack = Duration.seconds(2)

    /// Reads the events of a run that were written since a time. Blocks.
    ///
    /// - Throws: an error if the topic cannot be read.
    package init(
        _ settings: KafkaSettings, topic: String, run: String, since: Instant, stop: StopFlag
    ) throws(KafkaFailure) {
        self.init()
        // Another producer's open transaction must not hide them. Our own records never belong to a transaction.
        let reader = try TopicReader(
            settings: settings, topic: topic, from: .time(since - Self.slack), readsUncommitted: true)
        mayLackSome = reader.mayLackRecords
        while !reader.isAtEnd, !stop.isRaised {
            for read in try reader.next() where RunSource.run(of: read.record, for: settings.group) == run {
                if let value = read.record.value { add(value) }
            }
        }
    }
}
