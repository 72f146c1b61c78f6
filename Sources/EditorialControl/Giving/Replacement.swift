public import KafkaModel
public import NewsModel

/// The quiet notification that takes the place of a recalled story on the phones: found out from the results of the story.
public struct Replacement: Sendable, Hashable {
    private let story: String
    private var accepted: ResultRecord?
    private var categories: [String] = []
    private var isTest = true
    /// Requests that were under way when the story was recalled, and have their outcome by now.
    public private(set) var lateOutcomes = 0

    /// A notification that nobody opened in a day is not worth another word.
    public static let lasts = Duration.seconds(86_400)

    public init(story: String) { self.story = story }

    /// - Parameter result: any result; those of other stories change nothing.
    public mutating func take(_ result: ResultRecord) {
        guard result.story ?? result.eventID == story else { return }
        if result.afterRecall || result.outcome == .unknown { lateOutcomes += 1 }
        guard result.outcome == .accepted else { return }
        for category in result.categories where !categories.contains(category) { categories.append(category) }
        isTest = isTest && result.isTest
        // The newest goes where all of the story goes in order.
        if accepted.map({ $0.settledAt <= result.settledAt }) ?? true { accepted = result }
    }

    /// The record for the lane that the story was on; `nil` if the hub never took anything of it.
    public func record(_ text: String, for order: Order, environment: String? = nil) -> ProducedRecord? {
        guard let accepted else { return nil }
        var event = NewsEvent(id: "replacement-\(order.id)", headline: text, categories: categories, story: story)
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
            topic: accepted.source.partition.topic, partition: accepted.source.partition.partition,
            key: Array(story.utf8), value: value, headers: headers)
    }

    /// Where readers get it.
    public var reach: [String] { accepted == nil ? [] : categories }
}
