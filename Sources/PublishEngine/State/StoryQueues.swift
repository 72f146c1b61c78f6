import DequeModule
import KafkaModel

/// A story on one platform in one lane.
struct StoryID: Hashable, Sendable {
    private let value: UInt64

    private init(value: UInt64) { self.value = value }

    init(_ orderKey: String, platform: Int, lane: LaneID) {
        self.init(RecentDeliveries.story(orderKey, platform: platform), lane: lane)
    }

    init(_ story: Fingerprint, lane: LaneID) { value = story.value &+ UInt64(lane.index) }

    /// The id of a delivery that has joined no story.
    static let none = StoryID(value: 0)
}

/// The deliveries of each story, in order: the head may leave, the others wait behind it.
struct StoryQueues: Sendable {
    private var queues: [StoryID: Queue] = [:]
    /// Stories whose head may be done. They advance after the present story, not inside its advance.
    private var toAdvance: [StoryID] = []

    private struct Queue: Sendable {
        var head: DeliveryID
        /// The waiting deliveries; `nil` for an empty queue, because a queue object would cost a reference count.
        var waiting: Deque<DeliveryID>?

        mutating func append(_ id: DeliveryID) {
            if waiting == nil { waiting = [] }
            waiting?.append(id)
        }

        /// Makes `id` the head; `false` if there is a head already.
        static func begin(_ queue: inout Queue?, with id: DeliveryID) -> Bool {
            guard queue == nil else { return false }
            queue = Queue(head: id)
            return true
        }
    }

    var count: Int { queues.count }

    /// Makes a delivery the head of its story; `false` if the story has one.
    mutating func begin(_ story: StoryID, with id: DeliveryID) -> Bool {
        Queue.begin(&queues[story], with: id)
    }

    /// Queues a delivery behind the story's head; `false` without a head.
    mutating func append(_ id: DeliveryID, to story: StoryID) -> Bool {
        guard let place = queues.index(forKey: story) else { return false }
        queues.values[place].append(id)
        return true
    }

    /// The story's deliveries, first to last.
    func deliveries(of story: StoryID) -> [DeliveryID] {
        queues[story].map { [$0.head] + ($0.waiting ?? []) } ?? []
    }

    /// Records that the story's head may be done.
    mutating func noteEnd(of story: StoryID) { toAdvance.append(story) }

    /// The next story whose head is done and that has waiting deliveries. Stories without any are removed.
    mutating func nextToAdvance(in partitions: borrowing PartitionTable) -> StoryID? {
        while let story = toAdvance.popLast() {
            guard let place = queues.index(forKey: story), !partitions.isOpen(queues.values[place].head) else {
                continue
            }
            guard queues.values[place].waiting?.isEmpty ?? true else { return story }
            queues.remove(at: place)
        }
        return nil
    }

    /// Removes the next waiting delivery; without one the story is removed.
    mutating func popWaiting(of story: StoryID) -> DeliveryID? {
        if let next = queues[story]?.waiting?.popFirst() { return next }
        queues[story] = nil
        return nil
    }

    mutating func setHead(_ id: DeliveryID, of story: StoryID) { queues[story]?.head = id }
}
