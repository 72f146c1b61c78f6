import KafkaModel
import NewsModel

/// Results that are written only after another record is stored, so that a crash between the two loses neither.
///
/// Bounded by the windows of the lanes that own the records.
struct PendingResults: Sendable {
    private var requests: [DeliveryID: StoreRequest] = [:]
    /// Deliveries of events whose recall is not on the control topic yet, by recalled story.
    private var ofRecalls: [String: [DeliveryID]] = [:]
    /// Originals sent to the held topic and not acknowledged, by delivery.
    private var originals: [DeliveryID: ExaminedRecord] = [:]
    /// Held copies to take back once the results of accepted deliveries are stored, by delivery.
    private var copies: [DeliveryID: HeldCopy] = [:]

    mutating func add(_ request: StoreRequest) { requests[request.delivery] = request }

    mutating func add(_ request: StoreRequest, untilRecallOf story: String) {
        add(request)
        ofRecalls[story, default: []].append(request.delivery)
    }

    mutating func keep(_ original: ExaminedRecord, of id: DeliveryID) { originals[id] = original }

    mutating func takeOriginal(of id: DeliveryID) -> ExaminedRecord? {
        originals.isEmpty ? nil : originals.removeValue(forKey: id)
    }

    mutating func keep(_ copy: HeldCopy, of id: DeliveryID) { copies[id] = copy }

    mutating func takeCopy(of id: DeliveryID) -> HeldCopy? { copies.isEmpty ? nil : copies.removeValue(forKey: id) }

    mutating func take(_ id: DeliveryID) -> StoreRequest? { requests.removeValue(forKey: id) }

    /// - Parameter outcome: the result's outcome; results with other outcomes stay.
    mutating func take(_ id: DeliveryID, endingAs outcome: Outcome) -> StoreRequest? {
        requests[id]?.result.outcome == outcome ? take(id) : nil
    }

    /// Removes the deliveries that waited for a story's recall, in order of arrival.
    mutating func recalls(of story: String) -> [DeliveryID] {
        ofRecalls.isEmpty ? [] : ofRecalls.removeValue(forKey: story) ?? []
    }

    /// Forgets the results of a revoked partition.
    mutating func forget(slot: Int) {
        for key in copies.keys where key.slot == slot { copies[key] = nil }
        guard !requests.isEmpty else { return }
        for key in requests.keys where key.slot == slot { (requests[key], originals[key]) = (nil, nil) }
        for story in ofRecalls.keys {
            ofRecalls[story]?.removeAll { $0.slot == slot }
            if ofRecalls[story]?.isEmpty == true { ofRecalls[story] = nil }
        }
    }

    /// The reason why results of a lane are pending.
    ///
    /// - Parameter isOfLane: true for deliveries of the lane.
    func reason(where isOfLane: (DeliveryID) -> Bool) -> Wait.Reason? {
        if ofRecalls.values.contains(where: { $0.contains(where: isOfLane) }) { return .control }
        guard let request = requests.first(where: { isOfLane($0.key) })?.value else { return nil }
        return request.result.outcome == .held ? .heldTopic : .deadLetters
    }
}

/// An accepted event whose story has an event on the held topic that must not follow it.
///
/// That event is the fallback if this process ends before the accepted result is stored.
struct HeldCopy: Sendable {
    let routed: RoutedEvent
    /// `nil` for a redriven record.
    let source: ResultRecord.Source?
    let writtenAt: Instant?
    /// Every platform has its outcome, so this same version is not needed on the held topic either.
    let isGone: Bool
}
