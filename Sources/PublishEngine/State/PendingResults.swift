import KafkaModel
import NewsModel

/// Results that are written only after something else is stored: a crash between the two must lose neither.
///
/// Bounded by the lanes' windows, whose records they belong to.
struct PendingResults: Sendable {
    private var requests: [DeliveryID: StoreRequest] = [:]
    /// The deliveries of events whose recall does not stand on the control topic yet, by the story that they recall.
    private var ofRecalls: [String: [DeliveryID]] = [:]
    /// Originals on their way to the held topic, by the delivery that they go with.
    private var originals: [DeliveryID: ExaminedRecord] = [:]

    var count: Int { requests.count }
    var isEmpty: Bool { requests.isEmpty }

    mutating func add(_ request: StoreRequest) { requests[request.delivery] = request }

    mutating func add(_ request: StoreRequest, untilRecallOf story: String) {
        add(request)
        ofRecalls[story, default: []].append(request.delivery)
    }

    mutating func keep(_ original: ExaminedRecord, of id: DeliveryID) { originals[id] = original }

    mutating func takeOriginal(of id: DeliveryID) -> ExaminedRecord? {
        originals.isEmpty ? nil : originals.removeValue(forKey: id)
    }

    mutating func take(_ id: DeliveryID) -> StoreRequest? { requests.removeValue(forKey: id) }

    /// - Parameter outcome: of the result; others stay.
    mutating func take(_ id: DeliveryID, endingAs outcome: Outcome) -> StoreRequest? {
        requests[id]?.result.outcome == outcome ? take(id) : nil
    }

    /// The deliveries that waited for a story's recall to stand, in the order they came.
    mutating func recalls(of story: String) -> [DeliveryID] {
        ofRecalls.isEmpty ? [] : ofRecalls.removeValue(forKey: story) ?? []
    }

    /// A partition was given up.
    mutating func forget(slot: Int) {
        guard !requests.isEmpty else { return }
        for key in requests.keys where key.slot == slot { (requests[key], originals[key]) = (nil, nil) }
        for story in ofRecalls.keys {
            ofRecalls[story]?.removeAll { $0.slot == slot }
            if ofRecalls[story]?.isEmpty == true { ofRecalls[story] = nil }
        }
    }

    /// What results of a lane wait for.
    ///
    /// - Parameter isOfLane: says if a delivery is the lane's.
    func reason(where isOfLane: (DeliveryID) -> Bool) -> Wait.Reason? {
        if ofRecalls.values.contains(where: { $0.contains(where: isOfLane) }) { return .control }
        guard let request = requests.first(where: { isOfLane($0.key) })?.value else { return nil }
        return request.result.outcome == .held ? .heldTopic : .deadLetters
    }
}
