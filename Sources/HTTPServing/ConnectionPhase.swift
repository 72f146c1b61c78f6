import NIOCore

/// The next step that a connection's client owes the server, and its deadline.
struct ConnectionPhase {
    enum Activity: Hashable {
        /// No byte of a request has arrived since the connection was opened or the last answer was given.
        case silent
        case receivingHead
        case receivingBody
        /// The request is complete and the server owes an answer.
        case answering
        /// The answer is given, but the rest of the request is still arriving.
        case draining
        /// The last answer is given; the client may still read it.
        case leaving
    }

    /// The reaction to a client that misses its deadline.
    enum Verdict: Hashable {
        case close
        /// Answer 408 and close.
        case timeOut
    }

    private(set) var activity = Activity.silent
    /// The start of the activity.
    private(set) var since: NIODeadline

    private let limits: ConnectionLimits
    /// Requests whose head has arrived and that are not answered.
    private var unanswered = 0
    private var isReceiving = false
    private var hasAnswered = false
    private var bodyBytes = 0

    init(_ limits: ConnectionLimits, at now: NIODeadline) {
        self.limits = limits
        since = now
    }

    /// The client's deadline; `nil` while the server owes an answer.
    var deadline: NIODeadline? {
        switch activity {
        case .silent: since + TimeAmount(hasAnswered ? limits.idle : limits.firstByte)
        case .receivingHead: since + TimeAmount(limits.head)
        case .receivingBody:
            since + TimeAmount(limits.body) + .milliseconds(Int64(bodyBytes) * 1000 / Int64(limits.bytesPerSecond))
        case .answering: nil
        case .draining, .leaving: since + TimeAmount(limits.farewell)
        }
    }

    func verdict(at now: NIODeadline) -> Verdict? {
        guard let deadline, now >= deadline else { return nil }
        return activity == .receivingHead || activity == .receivingBody ? .timeOut : .close
    }

    // MARK: Events

    /// Records the arrival of bytes that do not complete a head.
    mutating func receivedBytes(at now: NIODeadline) {
        if activity == .silent { change(to: .receivingHead, at: now) }
    }

    mutating func receivedHead(at now: NIODeadline) {
        unanswered += 1
        isReceiving = true
        bodyBytes = 0
        if activity == .silent || activity == .receivingHead { change(to: .receivingBody, at: now) }
    }

    mutating func receivedBody(_ bytes: Int) { bodyBytes += bytes }

    mutating func receivedEnd(at now: NIODeadline) {
        isReceiving = false
        if activity == .receivingBody || activity == .draining { settle(at: now) }
    }

    mutating func answered(at now: NIODeadline) {
        hasAnswered = true
        unanswered = max(0, unanswered - 1)
        if activity != .leaving { settle(at: now) }
    }

    mutating func leave(at now: NIODeadline) { change(to: .leaving, at: now) }

    private mutating func settle(at now: NIODeadline) {
        switch (unanswered, isReceiving) {
        case (0, true): change(to: .draining, at: now)
        case (0, false): change(to: .silent, at: now)
        case (1, true): change(to: .receivingBody, at: now)
        default: change(to: .answering, at: now)
        }
    }

    private mutating func change(to activity: Activity, at now: NIODeadline) {
        self.activity = activity
        since = now
    }
}
