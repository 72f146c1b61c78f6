import DequeModule

/// One accepted send and the progress of its deliveries.
struct FanOut: Sendable {
    /// The send's number in the log.
    var number: Int
    var id: String
    var submission: Submission
    var query: TagQuery?
    /// The slots that receive the send; delivery continues at `next`. `nil` until the send is routed.
    var slots: [UInt32]?
    var next = 0

    /// The time at which a scheduled send is due.
    var due: HubTime { submission.due ?? .never }

    init(number: Int, id: String, submission: Submission) {
        (self.number, self.id, self.submission) = (number, id, submission)
        if case .tagged(let expression) = submission.audience { query = TagQuery(expression) }
    }
}

/// A first-in, first-out queue that knows the memory that its sends use.
struct FanOutQueue: Sendable {
    private var waiting: Deque<FanOut> = []
    /// The memory that the submissions use, in bytes.
    private(set) var weight = 0

    var count: Int { waiting.count }

    mutating func append(_ fanOut: FanOut) {
        weight += fanOut.submission.weight
        waiting.append(fanOut)
    }

    /// Removes the oldest send.
    mutating func pop() -> FanOut? {
        let first = waiting.popFirst()
        weight -= first?.submission.weight ?? 0
        return first
    }

    /// Returns an unfinished send to the front of the queue.
    mutating func putBack(_ fanOut: FanOut) {
        weight += fanOut.submission.weight
        waiting.prepend(fanOut)
    }
}
