public import NewsModel

/// What a request under way is about.
public struct DepartedRequest: Sendable {
    /// The token that its delivery's result will have.
    public var result: UInt64
    public var source: ResultRecord.Source
    public var headers: [RecordHeader]
    public var eventID: String?
    public var lane: String
    public var platform: Platform
    /// Requests put on the wire for the delivery, this one included.
    public var attempt: Int
}

extension Engine {
    /// - Parameter token: of a `send` that has had no reply yet.
    public func departed(_ token: UInt64) -> DepartedRequest? {
        guard let flight = flights[token], let (slot, index) = locate(flight.delivery),
            let content = partitions[slot][entry: index].content
        else { return nil }
        let platform = Int(flight.delivery.platform)
        return DepartedRequest(
            result: flight.delivery.token(.result),
            source: .init(partition: partitions[slot].id, offset: partitions[slot][entry: index].offset),
            headers: content.record.headers, eventID: content.eventID,
            lane: lanes[partitions[slot].lane].settings.name, platform: settings.platforms[platform],
            attempt: Int(partitions[slot][delivery: index, platform].attempts))
    }
}
