public import KafkaModel
public import NewsModel

/// What a request under way is about.
public struct DepartedRequest: Sendable {
    public var delivery: DeliveryID
    public var source: ResultRecord.Source
    public var headers: [RecordHeader]
    public var eventID: String?
    public var lane: String
    public var platform: Platform
    /// Requests put on the wire for the delivery, this one included.
    public var attempt: Int
}

extension Engine {
    /// - Parameter id: of a `send` that has had no reply yet.
    public func departed(_ id: RequestID) -> DepartedRequest? {
        guard let request = inFlight[id], let (slot, index) = locate(request.delivery),
            let content = partitions[slot][entry: index].content
        else { return nil }
        let platform = request.delivery.platform
        return DepartedRequest(
            delivery: request.delivery,
            source: .init(partition: partitions[slot].id, offset: partitions[slot][entry: index].offset),
            headers: content.record.headers, eventID: content.eventID,
            lane: lanes[partitions[slot].lane].settings.name, platform: settings.platforms[platform],
            attempt: Int(partitions[slot][delivery: index, platform].attempts))
    }
}
