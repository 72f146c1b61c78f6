public import NewsModel

/// The notifications of `newswire send` about one story, as the audit topic announces them. Finds the requests that may still be in
/// flight: those without a result.
///
/// A send writes its line before it reads the orders a last time, and a recall reads these lines after it has written its order.
/// Therefore one of the two learns of the other.
public struct AnnouncedSends: Sendable, Hashable {
    private let story: String
    private let group: String
    /// Number of requests without a result, by the place of the audit line.
    private var open: [ResultRecord.Source: Int] = [:]

    private static let linesMax = 1_000

    /// - Parameter group: the consumer group on whose results topic the results are. The sends of other groups are left out.
    public init(story: String, group: String) { (self.story, self.group) = (story, group) }

    /// - Parameter place: the place of the line on the audit topic.
    public mutating func apply(_ entry: AuditEntry, at place: ResultRecord.Source) {
        guard let requests = entry.requests, requests.story == story, requests.group == group,
            open.count < Self.linesMax
        else { return }
        open[place] = requests.count
    }

    /// - Returns: true if the result is that of an announced request.
    @discardableResult
    public mutating func apply(_ result: ResultRecord) -> Bool {
        guard let count = open[result.source] else { return false }
        open[result.source] = max(count - 1, 0)
        return true
    }

    /// Number of requests without a result. The hub may have accepted them.
    public var inFlight: Int { open.values.reduce(0, +) }
}
