import KafkaModel
import NewsModel
import NotificationHub

/// The state of one delivery, from its record to its stored result. Its partition makes the transitions that it counts.
struct Delivery: Sendable {
    private(set) var phase = Phase.unexamined
    /// Requests sent to the hub.
    private(set) var attempts: UInt16 = 0
    /// Attempts of its present send that count against the bound.
    private(set) var charged: UInt16 = 0
    /// Attempts of its present send whose acceptance is unknown.
    private(set) var unknowns: UInt16 = 0
    /// Requests that the hub accepted. News for many single readers or interests needs several; its number is bounded by the
    /// limits of an event and of languages.
    private(set) var sendsAccepted: UInt16 = 0
    /// Sends that ended otherwise after the hub had accepted another one of the same delivery: it refused them, or their retries ended.
    private(set) var sendsFailed: UInt16 = 0
    /// The reason not to send it again, decided while it was in flight.
    private(set) var withdrawal: Withdrawal?
    private(set) var claim = Claim.none
    private(set) var story = StoryID.none
    private(set) var cuts: PayloadCuts = []
    /// Its last request asked for no sound.
    private(set) var isQuiet = false
    private(set) var firstSentAt: Instant?
    /// The round trip of its last request.
    private(set) var hubTime: Duration?

    enum Phase: UInt8, Sendable {
        /// Its record was not examined yet. Any phase but `inFlight` may follow.
        case unexamined
        /// Behind another delivery of its story. Followed by `ready`, `delayed`, or an outcome.
        case waiting
        /// In its lane's queue. Followed by `inFlight`, `delayed`, or an outcome.
        case ready
        /// The head of its story waits for a retry, an embargo or a gate. Followed by `ready`, or an outcome.
        case delayed
        /// One of its sends is done, and this is being committed. In no queue of its lane. Followed by `ready`, or an outcome.
        case partlySent
        /// Its request is in flight. Followed by `ready` or `delayed` for another attempt, `partlySent` for the next
        /// send, or an outcome.
        case inFlight
        /// Has its outcome. Its result waits until its dead letter, the held original, or the order of its recall is
        /// stored. Followed by `settled`.
        case pending
        /// Has its outcome; the result is not acknowledged. Followed by `stored`.
        case settled
        /// Its result is acknowledged, or it was never wanted.
        case stored
    }

    enum Withdrawal: UInt8, Sendable {
        /// An editor recalled the story.
        case recalled
        /// A newer version of the story waits behind it.
        case superseded
    }

    /// The delivery's role in the duplicate window.
    enum Claim: UInt8, Sendable {
        case none
        /// It entered its event's id, and removes it if it ends without acceptance.
        case owner
        /// A redriven record of an event that was seen before. If it ends without acceptance, it forgets only itself.
        case repetition
        /// The same id and version was read before and has no outcome yet. That outcome decides if this is a duplicate.
        case awaitsTwin
    }

    /// Certainly no reader has it: every request was answered and none was accepted.
    var isCertain: Bool { unknowns == 0 && sendsAccepted == 0 }
    /// The number of its next send.
    var nextSend: Int { Int(sendsAccepted) + Int(sendsFailed) }
    var isQueued: Bool { phase == .waiting || phase == .ready || phase == .delayed || phase == .partlySent }
    /// It has no outcome, and no request of it is in flight.
    var waits: Bool { isQueued || phase == .unexamined }
    /// The delivery keeps its place in its story.
    var isOpen: Bool { isQueued || phase == .inFlight || phase == .pending }

    // MARK: In its story

    mutating func wait(in story: StoryID, awaitsTwin: Bool = false) {
        self.story = story
        if awaitsTwin { claim = .awaitsTwin }
        phase = .waiting
    }

    mutating func lead(_ story: StoryID) { self.story = story }
    mutating func claim(after entry: RecentDeliveries.Entry) { claim = entry == .first ? .owner : .repetition }
    mutating func becomeOwner() { claim = .owner }
    mutating func becomeReady() { phase = .ready }
    mutating func delay() { phase = .delayed }

    /// Marks a delivery in flight, which is awaited first; a recall outranks a newer version.
    mutating func withdraw(for reason: Withdrawal) {
        if withdrawal != .recalled { withdrawal = reason }
    }

    // MARK: On the wire

    mutating func depart(cuts: PayloadCuts, isQuiet: Bool, at wall: Instant) {
        phase = .inFlight
        self.cuts = cuts
        self.isQuiet = isQuiet
        // The probes of a hub that refuses the key for weeks are attempts, too.
        if attempts < .max { attempts += 1 }
        firstSentAt = firstSentAt ?? wall
    }

    /// Counts the attempt, unless the request never left. Attempts that a fault of the hub or the key ended are not
    /// charged.
    ///
    /// - Parameter roundTrip: `nil` if the request never left.
    mutating func arrive(_ meaning: SendMeaning, after roundTrip: Duration?) {
        if let roundTrip { hubTime = roundTrip } else { attempts -= 1 }
        switch meaning {
        case .unknownAcceptance:
            if unknowns < .max { unknowns += 1 }
            if charged < .max { charged += 1 }
        case .busy: if charged < .max { charged += 1 }
        case .accepted, .refusedEvent, .invalid, .tokenRefused, .forbidden, .missingHub, .certificate, .unreachable,
            .connectionLost:
            break
        }
    }

    mutating func acceptSend() {
        sendsAccepted += 1
        (charged, unknowns) = (0, 0)
    }

    /// Ends a send without its acceptance. Only after an accepted one, so that the delivery stays uncertain.
    mutating func failSend() {
        sendsFailed += 1
        (charged, unknowns) = (0, 0)
    }

    mutating func awaitCommit() { phase = .partlySent }

    /// Continues after the sends of a former owner.
    ///
    /// - Parameter isSame: our sends have the same tags as the former owner's. If not, the delivery starts again, although some of its
    ///   readers may have it.
    mutating func resume(after progress: SendProgress, isSame: Bool) {
        attempts = progress.sends
        if isSame {
            sendsFailed = progress.refused
            sendsAccepted = progress.sends - progress.refused
        } else {
            unknowns = 1
        }
    }

    // MARK: After its outcome

    mutating func settle(isPending: Bool) { phase = isPending ? .pending : .settled }
    mutating func resultWritten() { phase = .settled }
    mutating func store() { phase = .stored }

    /// Takes the delivery out of its story, to hold it or because it could not be held. It keeps its attempts.
    mutating func reopen() {
        phase = .unexamined
        withdrawal = nil
        claim = .none
        story = .none
    }
}
