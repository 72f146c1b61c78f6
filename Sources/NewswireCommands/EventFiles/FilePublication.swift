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
