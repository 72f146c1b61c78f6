import DequeModule

/// The deliveries of one story on one platform: one holds the line, the others wait behind it in order.
struct StoryLine: Sendable {
    var holder: DeliveryID
    var waiting: Deque<DeliveryID> = []
}
