import Backfill
import ByteText
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

/// Returns to their lanes the events that a recall has ended, after the recall was lifted. Calls block.
struct Republication {
    /// The deliveries that the recall has ended, without notifications of `newswire send`, which are on no lane.
    private let ended: [ResultRecord]
    /// The sorted ids of the notifications of `newswire send` that the recall has ended before all platforms had them.
    private let endedSends: [String]
    private let history: StoryHistory
    private let settings: Settings
    private let decoder: NewsDecoder
    /// The originals found, by the source that their results name.
    private var originals: [ResultRecord.Source: SourceRecord] = [:]
    private var written: Set<String> = []
    private var lost: Set<String> = []
    /// The events that stay ended, because later news of the story has left, waits, is held or is put back.
    private var overtaken: Set<String> = []
    private var overtaking: Set<String> = []

    /// Maximum time for reading originals from their topics.
    private static let patience = Duration.seconds(20)

    init(_ history: StoryHistory, _ settings: Settings) {
        self.history = history
        // Leaves out replacements, because they are about the recall that is over.
        let all = history.ended.filter { $0.eventID.map { !$0.hasPrefix(Replacement.idPrefix) } ?? false }
        let isOfSend = { (result: ResultRecord) in
            result.source.partition.topic == settings.control.topics.audit
        }
        ended = all.filter { !isOfSend($0) }
        endedSends = Set(all.filter(isOfSend).compactMap(\.eventID)).sorted()
        self.settings = settings
        decoder = settings.decoders.make()
    }

    /// - Returns: false if an event is not on its lane again.
    mutating func run(_ client: OrderClient) throws(KafkaFailure) -> Bool {
        let counts = try KafkaAdmin(settings: settings.kafkaSettings).partitionCounts()
        try findWhereTheyStood(counts)
        if !missing.isEmpty, counts[settings.deadLettersTopic] != nil {
            try scan(settings.deadLettersTopic) { record in record }
        }
        if !missing.isEmpty, counts[settings.control.topics.held] != nil {
            try scan(settings.control.topics.held) { record in
                HeldRecord.original(record, because: .recalled).map {
                    SourceRecord(
                        offset: record.offset, timestamp: record.timestamp, key: $0.key, value: $0.value,
                        headers: $0.headers)
                }
            }
        }
        let topics = Set(settings.engine.lanes.flatMap(\.topics))
        let redrive = Redrive(
            topics: counts.filter { topics.contains($0.key) }, group: settings.kafkaSettings.group,
            platforms: settings.engine.platforms)
        // Its age counts from now, because an operator wants it sent.
        let now = client.latest(ServiceClock.wall)
        var returning: [(result: ResultRecord, record: ProducedRecord)] = []
        for result in ended {
            guard let original = originals[result.source],
                case .putBack(var record) = redrive.verdict(on: original, of: result)
            else {
                if let id = result.eventID { lost.insert(id) }
                continue
            }
            record.timestamp = now
            returning.append((result, record))
        }
        var records: [ProducedRecord] = []
        for (result, record) in returning {
            guard let id = result.eventID else { continue }
            // Between versions, the engine decides.
            if let original = originals[result.source],
                (try? decoder.decode(original, topic: result.source.partition.topic))?.version == nil
            {
                let later = history.later(than: result, returning: returning.map(\.result))
                if !later.isEmpty {
                    overtaken.insert(id)
                    overtaking.formUnion(later)
                    continue
                }
            }
            records.append(record)
            written.insert(id)
        }
        overtaking.subtract(overtaken)
        for record in Redrive.joined(records) { try client.store(record) }
        return lost.isEmpty && overtaken.isEmpty && endedSends.isEmpty
    }

    private var missing: [ResultRecord] { ended.filter { originals[$0.source] == nil } }

    private mutating func findWhereTheyStood(_ counts: [String: Int]) throws(KafkaFailure) {
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        for (topic, results) in Dictionary(grouping: missing, by: \.source.partition.topic) where counts[topic] != nil {
            let places = Dictionary(grouping: Set(results.map(\.source)), by: \.partition.partition)
                .mapValues { $0.map(\.offset).sorted() }
            let reader = try PlaceReader(settings: settings.kafkaSettings, topic: topic, partitions: places.count)
            try reader.begin(places)
            while !reader.isDone, clock.now < deadline {
                for event in try reader.next(timeout: .milliseconds(200)) {
                    guard case .found(let number, let record) = event else { continue }
                    let place = TopicPartition(topic: topic, partition: number)
                    keep(record, for: .init(partition: place, offset: record.offset), in: results)
                }
            }
        }
    }

    /// Keeps a record if it is the event of a result. A recreated topic may have another event at that offset.
    private mutating func keep(_ record: SourceRecord, for source: ResultRecord.Source, in results: [ResultRecord]) {
        guard let id = (try? decoder.decode(record, topic: source.partition.topic))?.id,
            results.contains(where: { $0.source == source && $0.eventID == id })
        else { return }
        originals[source] = record
    }

    /// Searches a topic that keeps originals with the headers `nw-…`.
    private mutating func scan(
        _ topic: String, _ original: (SourceRecord) -> SourceRecord?
    ) throws(KafkaFailure) {
        let reader = try TopicReader(settings: settings.kafkaSettings, topic: topic)
        while !reader.isAtEnd {
            for read in try reader.next(timeout: .milliseconds(200)) {
                guard read.record.hasValue, let record = original(read.record) else { continue }
                // The original's topic may decide its format.
                for (topic, results) in Dictionary(grouping: missing, by: \.source.partition.topic) {
                    guard let id = (try? decoder.decode(record, topic: topic))?.id else { continue }
                    for result in results where result.eventID == id { originals[result.source] = record }
                }
            }
        }
    }

    // MARK: Report

    private var names: [String] { Array(Set(ended.compactMap(\.eventID))).sorted() }

    private static let namedMax = 20

    private func phrase(_ names: some Collection<String>) -> String {
        let more = names.count - Self.namedMax
        return names.sorted().prefix(Self.namedMax).joined(separator: ", ")
            + (more > 0 ? " and \(grouped(more)) more" : "")
    }

    /// - Parameter isDone: true if the events were returned to their lanes, as far as possible.
    func show(isDone: Bool, story: String) {
        let output = Terminal.standardError
        for line in RecallReport(history).doubtful { output.line(line) }
        if !endedSends.isEmpty {
            output.plainLine(
                "\(isDone ? "error: not put back: " : "")the recall has ended newswire send before all platforms had its notification: "
                    + "\(phrase(endedSends)). newswire send sends a text again, with --platform to those that lack it")
        }
        guard isDone else {
            guard !names.isEmpty else {
                return endedSends.isEmpty ? output.line("the recall has ended no event that waited") : ()
            }
            output.plainLine(
                "the recall has ended \(counted(names.count, "event")), and lifting it does not bring \(names.count == 1 ? "it" : "them") "
                    + "back: \(phrase(names))")
            return output.plainLine("to send them: newswire recall --config FILE '\(story)' --lift --republish")
        }
        if names.isEmpty, endedSends.isEmpty {
            output.line("there is nothing to republish: the recall has ended no event that waited")
        }
        if !written.isEmpty { output.plainLine("put on the lane again: \(phrase(written))") }
        if !lost.isEmpty {
            output.plainLine("error: the originals are gone, or were put back too often: \(phrase(lost))")
        }
        if !overtaken.isEmpty {
            output.plainLine(
                "error: not put back: \(phrase(overtaken)). Later news of the story has left, waits, is held or is put back: "
                    + "\(phrase(overtaking)). Without versions, the older text would follow it. newswire send sends a text all the same"
            )
        }
    }

    /// Writes the members of the JSON object.
    func list(isDone: Bool, into json: inout JSONWriter) {
        history.list(into: &json)
        json.array("ended", of: names)
        if !endedSends.isEmpty { json.array("endedSends", of: endedSends) }
        if isDone {
            json.array("republished", of: written.sorted())
            json.array("lost", of: lost.sorted())
            json.array("overtaken", of: overtaken.sorted())
        }
    }
}
