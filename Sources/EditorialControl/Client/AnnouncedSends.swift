public import NewsModel

/// The notifications of `newswire send` about one story, as the audit topic announces them. Finds the requests that may still be in
/// flight: those without a result.
///
/// A send writes its line before it reads the orders a last time, and a recall reads these lines after it has written its order.
/// Therefore one of the two learns of the other.
public struct AnnouncedSends: Sendable, Hashable {
    private let story: String
    private let group: String
    /// The notifications by the place of their audit line.
    private var announced: [ResultRecord.Source: Announced] = [:]

    private struct Announced: Hashable {
        var eventID: String
        /// Number of requests without a result.
        var open: Int
    }

    private static let linesMax = 1_000

    /// - Parameter group: the consumer group on whose results topic the results are. The sends of other groups are left out.
    public init(story: String, group: String) { (self.story, self.group) = (story, group) }

    /// - Parameter place: the place of the line on the audit topic.
    public mutating func apply(_ entry: AuditEntry, at place: ResultRecord.Source) {
        guard let requests = entry.requests, requests.story == story, requests.group == group,
            announced.count < Self.linesMax
        else { return }
        announced[place] = Announced(eventID: entry.order ?? story, open: requests.count)
    }

    /// - Returns: true if the result is that of an announced request.
    @discardableResult
    public mutating func apply(_ result: ResultRecord) -> Bool {
        guard let count = announced[result.source]?.open else { return false }
        announced[result.source]?.open = max(count - 1, 0)
        return true
    }

    /// Number of requests without a result. The hub may have accepted them.
    public var inFlight: Int { announced.values.reduce(0) { $0 + $1.open } }

    /// The sorted ids of the notifications with such requests.
    public var unsettled: [String] { Set(announced.values.lazy.filter { $0.open > 0 }.map(\.eventID)).sorted() }
}
