import DequeModule
import KafkaModel

/// The deliveries of one story on one platform: one holds the line, the others wait behind it in order.
struct StoryLine: Sendable {
    var holder: DeliveryID
    var waiting: Deque<DeliveryID> = []

    /// `false` when somebody holds the line already.
    static func begin(_ line: inout StoryLine?, with id: DeliveryID) -> Bool {
        guard line == nil else { return false }
        line = StoryLine(holder: id)
        return true
    }
}
