/// A kind of fault without its parameters, for counting.
public enum FaultName: String, Sendable, Hashable, CaseIterable {
    case replyLost = "hub: reply lost"
    case resetBefore = "hub: reset before acceptance"
    case resetAfter = "hub: reset after acceptance"
    case hang = "hub: hangs"
    case connectionLost = "hub: connection lost"
    case throttled = "hub: 429"
    case quota = "hub: 403 with Retry-After"
    case busy = "hub: 503"
    case serverError = "hub: 500, 502, 504"
    case tokenExpired = "hub: token expired"
    case keyRefused = "hub: key refused"
    case rightMissing = "hub: right missing"
    case hubMissing = "hub: 404"
    case unreachable = "hub: unreachable"
    case certificate = "hub: certificate"
    case refusedStream = "hub: stream refused"
    case misdirected = "hub: 421"
    case connectionsReset = "connections: reset"
    case goAway = "connections: GOAWAY"
    case askedForCalm = "connections: GOAWAY that asks for calm"
    case fewStreams = "connections: fewer streams"
    case closedWindows = "connections: windows closed"
    case brokenHTTP2 = "connections: HTTP/2 chosen and not spoken"
    case onlyHTTP1 = "connections: HTTP/1.1 only"
    case silentNetwork = "network: silent"
    case badMinute = "hub: a bad minute"
    case slowHub = "hub: slow"
    case poison = "hub: refuses a lane's events"
    case crash = "process: killed"
    case drain = "process: shut down"
    case freeze = "process: frozen"
    case blockedLog = "process: log blocked"
    case standstill = "process: noticed that it stood still"
    case wrongClock = "clock: wrong at start"
    case clockStepForward = "clock: set forward"
    case clockStepBack = "clock: set back"
    case rebalance = "group: rebalance"
    case expel = "group: member expelled"
    case impatientDriver = "group: partitions taken early"
    case failingCommits = "commits: fail"
    case appliedCommits = "commits: answer lost"
    case refusedCommits = "commits: one partition refused"
    case slowLedger = "ledger: slow"
    case retention = "ledger: oldest results gone"
    case forgottenOffsets = "ledger: L forgotten"
    case pausedLane = "lane: paused"
    case releasedToSend = "lane: released from a flood, to send"
    case releasedToDeadLetters = "lane: released from a flood, to the dead letters"
    case recreatedWhileRunning = "topic: made again while running"
    case recreatedWhileStopped = "topic: made again while stopped"
    case regressedOffsets = "topic: offsets start again"
    case silentRecreation = "topic: made again, unnoticed at first"
    case foundIncarnation = "topic: made again, found by its records"
    case cutBack = "topic: cut back"
    case sourceRetention = "topic: unread records gone"
    case grownSource = "topic: source grown"
    case grownResults = "topic: results grown"
    case unavailableSource = "partition: source unavailable"
    case unavailableResults = "partition: results unavailable"
    case unavailableLedger = "partition: ledger unreadable"
    case unavailableHeld = "partition: held events unavailable"
    case unavailableDeadLetters = "partition: dead letters unavailable"
    case stalledResults = "producer: results stalled"
    case refusedTopic = "producer: topic refused"
    case tooLarge = "producer: record too large"
    case controlAway = "control: topic away"
    case slowControl = "control: read late"
    case openTransaction = "control: open transaction"
    case compactedControl = "control: compacted"
    case garbledControl = "control: garbage"
    case recallOrdered = "control: recall ordered"
    case recallByEvent = "control: recall by an event"
    case truncatedControl = "control: records removed"
    case stopOrdered = "control: stop ordered"
    case replaced = "control: story replaced"
    case renamed = "control: category renamed"
    case lapsingRecall = "control: recall that lapses"
    case lapsedOrder = "control: lapsed order taken away"
    case renewedOrder = "control: lapsed order given again"
    case held = "held: event written"
    case returnedDue = "held: back when due"
    case returnedRecalled = "held: back for a recall"
    case returnedSuperseded = "held: back for a newer version"
    case failedReturn = "held: lane away when due"
    case slowHeld = "held: erased late"
    case writtenAgain = "held: written again"
    case recreatedHeld = "held: topic made again"
    case unattendedHeld = "held: topic made again while no process ran"
    case restoredHeld = "held: original written again after that"
    case compactedHeld = "held: compacted"
    case truncatedHeld = "held: records removed"
    case keptHere = "held: too large for the topic"
    case redriven = "news: redriven"
    case republished = "news: republished"
    case recalled = "news: story recalled"
    case embargoed = "news: under embargo"
    case oddTimestamp = "news: odd timestamp"
    case largeRecord = "news: large record"
}

extension HubFailure {
    var name: FaultName {
        switch self {
        case .replyLost: .replyLost
        case .resetBefore: .resetBefore
        case .resetAfter: .resetAfter
        case .hang: .hang
        case .connectionLost: .connectionLost
        case .throttled: .throttled
        case .quota: .quota
        case .busy: .busy
        case .serverError: .serverError
        case .tokenExpired: .tokenExpired
        case .keyRefused: .keyRefused
        case .rightMissing: .rightMissing
        case .hubMissing: .hubMissing
        case .unreachable: .unreachable
        case .certificate: .certificate
        case .refusedStream: .refusedStream
        case .misdirected: .misdirected
        }
    }
}
