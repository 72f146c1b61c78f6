import NewsModel

/// One delivery on its way from its record to its stored result. Its partition makes the transitions that it counts.
struct Delivery: Sendable {
    private(set) var phase = Phase.unexamined
    /// Requests put on the wire.
    private(set) var attempts: UInt16 = 0
    /// Attempts that count against the bound.
    private(set) var charged: UInt16 = 0
    /// Attempts whose acceptance is unknown.
    private(set) var unknowns: UInt16 = 0
    /// Requests that the hub took, of the several that news for many single readers needs.
    private(set) var sendsAccepted: UInt8 = 0
    /// Why it must not leave again, though it was in flight when that was decided.
    private(set) var withdrawal: Withdrawal?
    private(set) var claim = Claim.none
    private(set) var story = StoryID.none
    /// The parts cut from its payload.
    private(set) var cuts: PayloadCuts = []
    /// Its last request asked for no sound.
    private(set) var isQuiet = false
    private(set) var firstSentAt: Instant?
    /// The round trip of its last request.
    private(set) var hubTime: Duration?

    enum Phase: UInt8, Sendable {
        /// Its record was not examined yet. Anything but `inFlight` may follow.
        case unexamined
        /// Behind another delivery of its story. Next: `ready`, `delayed`, or an outcome.
        case waiting
        /// In its lane's queue. Next: `inFlight`, `delayed`, or an outcome.
        case ready
        /// The head of its story waits for a time (a retry, an embargo) or before a gate. Next: `ready`, or an outcome.
        case delayed
        /// Next: `ready` or `delayed` for another attempt, or an outcome.
        case inFlight
        /// Has its outcome. Its result is written once something else is stored: its dead letter, the original on the held topic,
        /// or the order for the recall that it gives. Next: `settled`.
        case pending
        /// Has its outcome; the result is not acknowledged. Next: `stored`.
        case settled
        /// Done, or not asked for.
        case stored
    }

    enum Withdrawal: UInt8, Sendable {
        /// An editor recalled the story.
        case recalled
        /// A newer version of the story waits behind it.
        case superseded
    }

    /// Its part in the duplicate window.
    enum Claim: UInt8, Sendable {
        case none
        /// It entered its event's id, and takes it out again if it ends without acceptance.
        case owner
        /// The same id and version was read before and has no outcome yet. That outcome decides whether this is a duplicate.
        case awaitsTwin
    }

    /// No request of it is unanswered, and none was accepted: nobody has it.
    var isCertain: Bool { unknowns == 0 && sendsAccepted == 0 }
    var isQueued: Bool { phase == .waiting || phase == .ready || phase == .delayed }
    /// Keeps its place in its story.
    var isOpen: Bool { isQueued || phase == .inFlight || phase == .pending }

    // MARK: In its story

    mutating func wait(in story: StoryID, awaitsTwin: Bool = false) {
        self.story = story
        if awaitsTwin { claim = .awaitsTwin }
        phase = .waiting
    }

    mutating func lead(_ story: StoryID) { self.story = story }
    mutating func claim(isOwner: Bool) { claim = isOwner ? .owner : .none }
    mutating func becomeReady() { phase = .ready }
    mutating func delay() { phase = .delayed }

    /// In flight, it is awaited first; a recall outranks a newer version.
    mutating func withdraw(for reason: Withdrawal) {
        if withdrawal != .recalled { withdrawal = reason }
    }

    // MARK: On the wire

    mutating func depart(cuts: PayloadCuts, isQuiet: Bool, at wall: Instant) {
        phase = .inFlight
        self.cuts = cuts
        self.isQuiet = isQuiet
        attempts += 1
        firstSentAt = firstSentAt ?? wall
    }

    /// - Parameter roundTrip: `nil` if the request never left.
    mutating func arrive(after roundTrip: Duration?) {
        if let roundTrip { hubTime = roundTrip } else { attempts -= 1 }
    }

    mutating func charge() { charged += 1 }

    mutating func chargeUnknown() { unknowns += 1 }

    mutating func acceptSend() { sendsAccepted += 1 }

    // MARK: After its outcome

    mutating func settle(isPending: Bool) { phase = isPending ? .pending : .settled }
    mutating func resultWritten() { phase = .settled }
    mutating func store() { phase = .stored }

    /// It could not be held: it begins anew.
    mutating func reopen() { self = Delivery() }
}
