import NotificationHub

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

    init(number: Int, id: String, submission: Submission) {
        (self.number, self.id, self.submission) = (number, id, submission)
        if case .tagged(let expression) = submission.audience { query = TagQuery(expression) }
    }
}

/// A first-in, first-out queue that does not move its elements.
struct FanOutQueue: Sendable {
    private var waiting: [FanOut?] = []
    private var head = 0
    /// The memory that the submissions use, in bytes.
    private(set) var weight = 0

    var count: Int { waiting.count - head }

    mutating func append(_ fanOut: FanOut) {
        weight += fanOut.submission.weight
        waiting.append(fanOut)
    }

    /// Removes the oldest send.
    mutating func pop() -> FanOut? {
        guard head < waiting.count else { return nil }
        let first = waiting[head]
        weight -= first?.submission.weight ?? 0
        waiting[head] = nil
        head += 1
        if head == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 1024, head > waiting.count / 2 {
            waiting.removeFirst(head)
            head = 0
        }
        return first
    }

    /// Returns an unfinished send to the front of the queue.
    mutating func putBack(_ fanOut: FanOut) {
        weight += fanOut.submission.weight
        if head > 0 {
            head -= 1
            waiting[head] = fanOut
        } else {
            waiting.insert(fanOut, at: 0)
        }
    }
}
