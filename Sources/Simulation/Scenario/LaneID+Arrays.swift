import KafkaModel

extension LaneID {
    static let mostUrgent = LaneID(0)
}

/// An array with one element for each lane.
extension Array {
    var laneIDs: [LaneID] { indices.map { LaneID($0) } }

    subscript(lane: LaneID) -> Element {
        _read { yield self[lane.index] }
        _modify { yield &self[lane.index] }
    }
}
