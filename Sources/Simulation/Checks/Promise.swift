/// The checked promises, by name.
public enum Promise: String, Sendable, Hashable, CaseIterable {
    case oneResult = "one result per delivery"
    case nothingLost = "nothing is lost"
    case deadLettersFirst = "a dead letter stands before its result"
    case truthfulOutcomes = "outcomes tell the truth"
    case commitsForward = "commits go forward, by the owner alone"
    case commitsBehindResults = "commits never pass an unstored result"
    case ledgerReach = "the ledger reaches back far enough"
    case repeats = "repeats only of what was under way"
    case oneProcessing = "a request is processed once"
    case requestsBounded = "no more requests are in flight than the limit"
    case promptWrites = "a request leaves soon after it was decided"
    case drainFirst = "a partition is drained before it is given up"
    case duplicateWindow = "duplicates are recognized"
    case secondTry = "a second try is sent"
    case storyOrder = "stories keep their order"
    case recalls = "a recalled story does not leave"
    case recallsEverywhere = "an acknowledged recall holds everywhere"
    case recallsReported = "what is canceled was recalled, and what left before says so"
    case recallsCounted = "a recall's answer counts what may still be reported as accepted"
    case replacements = "a replacement goes to those who have the story, by the recall in force"
    case stops = "what is stopped is not sent"
    case ordersFirst = "orders are known before anything is sent"
    case heldComesBack = "what is held comes back"
    case heldInTime = "what is held is not back before its time"
    case newestVersion = "no older version follows a newer one"
    case quietHours = "readers sleep in quiet hours"
    case wallClock = "deadlines and embargoes go by the true time"
    case persistence = "a delivery is tried until its time is over"
    case rateLaw = "the rate law holds in every window"
    case laneIndependence = "a lane's faults hold no other lane"
    case memoryBounds = "memory is bounded"
    case haltKeepsEvents = "a halt keeps the events"
    case liveness = "everything settles once faults end"
    case waitsExplained = "every wait has a reason"
    case quietAlarms = "alarms do not spin"
    case logs = "a log says how many lines it lacks"
    case removalsReported = "records removed unread are reported"

    var checker: any Checker {
        switch self {
        case .oneResult: OneResult()
        case .nothingLost: NothingLost()
        case .deadLettersFirst: DeadLettersFirst()
        case .truthfulOutcomes: TruthfulOutcomes()
        case .commitsForward: CommitsForward()
        case .commitsBehindResults: CommitsBehindResults()
        case .ledgerReach: LedgerReach()
        case .repeats: Repeats()
        case .oneProcessing: OneProcessing()
        case .requestsBounded: RequestsBounded()
        case .promptWrites: PromptWrites()
        case .drainFirst: DrainFirst()
        case .duplicateWindow: DuplicateWindow()
        case .secondTry: SecondTry()
        case .storyOrder: StoryOrder()
        case .recalls: Recalls()
        case .recallsEverywhere: OrdersObeyed.recalls
        case .recallsReported: RecallsReported()
        case .recallsCounted: RecallsCounted()
        case .replacements: ReplacementsKept()
        case .stops: OrdersObeyed.stops
        case .ordersFirst: OrdersFirst()
        case .heldComesBack: HeldComesBack()
        case .heldInTime: HeldInTime()
        case .newestVersion: NewestVersion()
        case .quietHours: QuietHoursKept()
        case .wallClock: WallClockLaw()
        case .persistence: Persistence()
        case .rateLaw: RateLaw()
        case .laneIndependence: LaneIndependence()
        case .memoryBounds: MemoryBounds()
        case .haltKeepsEvents: HaltKeepsEvents()
        case .liveness: Liveness()
        case .waitsExplained: WaitsExplained()
        case .quietAlarms: QuietAlarms()
        case .logs: LogsComplete()
        case .removalsReported: RemovalsReported()
        }
    }
}
