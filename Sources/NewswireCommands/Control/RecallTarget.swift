import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

/// The story that a recall is about. The operator names the story or one of its events.
struct RecallTarget {
    let name: String
    let story: String
    let found: Found

    /// The meaning that was found for the name.
    enum Found: String {
        case story, event
        /// The name was found nowhere, or was not looked up.
        case unseen
    }

    /// Looks up the name, unless the name itself is already recalled.
    ///
    /// - Throws: an exit if the name was never seen or is ambiguous, after writing the reason to standard error.
    init(_ name: String, _ settings: Settings, isLift: Bool, isUnseen: Bool) throws {
        self.name = name
        if isUnseen {
            (story, found) = (name, .unseen)
            return
        }
        let known: (view: ControlView, search: NameSearch)
        do throws(KafkaFailure) {
            known = try Self.lookUp(name, settings)
        } catch {
            let remedy = isLift ? "" : " --unseen recalls it without looking it up."
            throw CommandFailure("nothing was ordered: \(name) cannot be looked up. \(error)\(remedy)")
        }
        func isRecalled(_ story: String) -> Bool { known.view.orders[.recall(story: story)] != nil }
        switch known.search.meaning {
        case _ where isRecalled(name), .story: (story, found) = (name, .story)
        case .event(of: let stories):
            // A lift is about the story that is recalled.
            let recalled = stories.filter(isRecalled)
            let candidates = isLift && !recalled.isEmpty ? recalled : stories
            guard candidates.count == 1, let story = candidates.first else {
                throw CommandFailure(
                    "nothing was ordered: \(name) is the id of events of several stories; name one of them: "
                        + stories.joined(separator: ", "))
            }
            (self.story, found) = (story, .event)
        // The command itself reports that there is nothing to lift.
        case .unseen where isLift: (story, found) = (name, .unseen)
        case .unseen:
            let near = Spelling.near(name, among: known.search.seen, atMost: 3)
            throw CommandFailure(
                "nothing was recalled: \(name) was not seen, as a story or as an event, in the results of the last 7 days, on "
                    + "the held topic or on the lanes. "
                    + (near.isEmpty ? "" : "Similar: \(near.joined(separator: ", ")). ")
                    + "--unseen recalls it all the same.")
        }
    }

    private static func lookUp(
        _ name: String, _ settings: Settings
    ) throws(KafkaFailure) -> (view: ControlView, search: NameSearch) {
        let view = try ControlReading(settings.kafkaSettings, settings.control.topics).view()
        // This machine's clock may be ahead.
        let wall = ServiceClock.wall
        var lookup = NameLookup(name, settings, at: view.lapseClock(wall) ?? wall)
        if view.orders[.recall(story: name)] == nil { try lookup.run() }
        return (view, lookup.search)
    }

    /// The story that was found for an event's id; `nil` if the name is not an event's id.
    var sentence: String? {
        found == .event ? "\(name) is an event of the story \(story): the order is about that" : nil
    }
}

/// Looks up a name in the latest results, on the held topic, and in the records that wait on the lanes' topics. Last, it reads
/// the results of a week. Stops as soon as the name is found. Calls block.
struct NameLookup {
    private let settings: Settings
    private let now: Instant
    private(set) var search: NameSearch
    /// The open transaction that hides results.
    private var hidden: KafkaFailure?

    /// The number of results per partition that are read first.
    private static let latest: Int64 = 5_000
    /// Maximum number of waiting events that are read from each topic of a lane.
    private static let waitingMax = 200_000

    init(_ name: String, _ settings: Settings, at now: Instant) {
        self.settings = settings
        self.now = now
        search = NameSearch(name)
    }

    /// - Throws: an error if Kafka cannot be read, or if the name was not found and an open transaction hides results. A missing
    ///   topic is no error.
    mutating func run() throws(KafkaFailure) {
        let kafka = settings.kafkaSettings
        let counts = try KafkaAdmin(settings: kafka).partitionCounts()
        let results = settings.engine.resultsTopic
        if counts[results] != nil {
            try readResults(TopicReader(settings: kafka, topic: results, from: .last(Self.latest), end: .highWatermark))
            if isFound { return }
        }
        if counts[settings.control.topics.held] != nil {
            try readHeld()
            if isFound { return }
        }
        for (index, lane) in settings.engine.lanes.enumerated() {
            for topic in lane.topics {
                guard let partitions = counts[topic] else { continue }
                try readWaiting(topic, partitions, group: kafka.consumerGroup(lane: index, named: lane.name))
                if isFound { return }
            }
        }
        if counts[results] != nil {
            let since = now - Order.recallLasts
            try readResults(TopicReader(settings: kafka, topic: results, from: .time(since), end: .highWatermark))
        }
        if !isFound, let hidden { throw hidden }
    }

    private var isFound: Bool { search.meaning != .unseen }

    private mutating func readResults(_ reader: TopicReader) throws(KafkaFailure) {
        let named = NamedResults(search.name)
        do throws(KafkaFailure) {
            try reader.readToEnd { read in
                // The key of a result is the event's id.
                if let key = read.record.key.flatMap({ String(validating: $0, as: UTF8.self) }) { search.note(key) }
                guard let result = named.result(in: read.record) else { return }
                search.note(eventID: result.eventID, story: result.story)
            }
        } catch {
            guard error.isOpenTransaction else { throw error }
            hidden = error
        }
    }

    private mutating func readHeld() throws(KafkaFailure) {
        let editions = settings.payload.localization?.languages.map { "#\($0.code)" } ?? []
        for event in try HeldReading.all(settings.kafkaSettings, topic: settings.control.topics.held).events {
            // Where languages have tags, the held topic separates the languages of a story, but recalls do not.
            let edition = editions.first { event.story.hasSuffix($0) }
            search.note(eventID: event.eventID, story: String(event.story.dropLast(edition?.count ?? 0)))
        }
    }

    private mutating func readWaiting(_ topic: String, _ partitions: Int, group: String) throws(KafkaFailure) {
        let kafka = settings.kafkaSettings
        let all = (0..<Int32(clamping: partitions)).map { TopicPartition(topic: topic, partition: $0) }
        let committed = try GroupOffsets(settings: kafka, group: group).read(all).mapValues(\.offset)
        let reader = try TopicReader(settings: kafka, topic: topic, from: .offsets(committed))
        let decoder = NewsDecoder()
        var count = 0
        while !reader.isAtEnd, count < Self.waitingMax {
            for read in try reader.next(timeout: .milliseconds(200)) {
                count += 1
                guard let event = try? decoder.decode(read.record) else { continue }
                search.note(eventID: event.id, story: event.orderKey)
            }
        }
    }
}
