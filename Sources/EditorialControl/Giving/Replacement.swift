public import KafkaModel
public import NewsModel

/// The quiet notification that takes the place of a recalled story on the phones: found out from the results of the story.
public struct Replacement: Sendable, Hashable {
    private let story: String
    private var accepted: ResultRecord?
    private var categories: [String] = []
    private var isTest = true
    /// Where the events stand that single readers got: results do not name these readers.
    public private(set) var originals: Set<ResultRecord.Source> = []
    private var audiences: Set<Set<String>> = []
    /// Requests that were under way when the story was recalled, and have their outcome by now.
    public private(set) var lateOutcomes = 0

    /// How the ids of replacements begin.
    package static let idPrefix = "replacement-"

    /// Events for single readers that are replaced; those beyond are left.
    public static let originalsMax = 1_000

    /// A notification that nobody opened in a day is not worth another word.
    public static let lasts = Duration.seconds(86_400)

    /// The topics of all lanes, the most urgent first.
    private let topics: [String]

    /// - Parameter topics: those of all lanes, the most urgent first. The replacement of what was not on one of them, such as a
    ///   notification of `newswire send`, goes to the first.
    public init(story: String, topics: [String] = []) {
        self.story = story
        self.topics = topics
    }

    /// - Parameter result: any result; those of other stories change nothing.
    public mutating func take(_ result: ResultRecord) {
        guard result.story ?? result.eventID == story else { return }
        if result.afterRecall || result.outcome == .unknown { lateOutcomes += 1 }
        guard result.outcome == .accepted else { return }
        // Its categories have other readers, who know nothing of it.
        guard result.users.isEmpty else {
            if originals.count < Self.originalsMax { originals.insert(result.source) }
            return
        }
        for category in result.categories where !categories.contains(category) { categories.append(category) }
        isTest = isTest && result.isTest
        // The newest goes where all of the story goes in order.
        if accepted.map({ $0.settledAt <= result.settledAt }) ?? true { accepted = result }
    }

    /// The record for the lane that the story was on; `nil` if the hub never took anything of it.
    public func record(_ text: String, for order: Order, environment: String? = nil) -> ProducedRecord? {
        guard let accepted, !categories.isEmpty else { return nil }
        let event = NewsEvent(id: Self.idPrefix + order.id, headline: text, categories: categories, story: story)
        let place = accepted.source.partition
        var record = record(event, isTest: isTest, at: place, for: order, environment)
        if let topic = topics.first, !topics.contains(place.topic) { (record.topic, record.partition) = (topic, nil) }
        return record
    }

    /// The record for the readers of an original that named them; `nil` if it does not, or if they have got theirs.
    public mutating func record(
        _ text: String, for order: Order, inPlaceOf original: SourceRecord, at partition: TopicPartition,
        environment: String? = nil
    ) -> ProducedRecord? {
        guard let event = try? NewsDecoder().decode(original), !event.users.isEmpty,
            event.orderKey == story, audiences.insert(Set(event.users)).inserted
        else { return nil }
        let replacement = NewsEvent(
            id: "\(Self.idPrefix)\(order.id)-\(audiences.count)", headline: text, categories: event.categories,
            subjects: event.subjects, story: story, users: event.users)
        return record(replacement, isTest: event.isTest, at: partition, for: order, environment)
    }

    private func record(
        _ event: NewsEvent, isTest: Bool, at partition: TopicPartition, for order: Order, _ environment: String?
    ) -> ProducedRecord {
        var event = event
        // Routine news makes no sound on platforms that know silence.
        event.urgency = 9
        event.publishedAt = order.at
        event.expiresAt = order.at + Self.lasts
        event.environment = environment
        event.isTest = isTest
        var value: [UInt8] = []
        event.encode(into: &value)
        var headers = [RecordHeader(HeaderName.replacement, order.id)]
        if let environment { headers.append(RecordHeader(HeaderName.environment, environment)) }
        return ProducedRecord(
            topic: partition.topic, partition: partition.partition,
            key: Array(story.utf8), value: value, headers: headers)
    }

    /// Where readers get it.
    public var reach: [String] {
        (accepted == nil ? [] : categories) + (audiences.isEmpty ? [] : [Self.singleReaders])
    }

    /// Stands in `reach` for readers whom events named.
    public static let singleReaders = "single readers"
}
