import NewsModel
import PublishEngine

/// Something the books have just been told.
enum Fact {
    case published(item: Int)
    /// An engine is about to take an input.
    case input(Address, Input)
    /// An engine has taken it.
    case acted(Address, Moment)
    case began(tenure: Int)
    case restored(tenure: Int)
    case ended(tenure: Int)
    case sent(attempt: Int)
    case accepted(attempt: Int)
    case replied(attempt: Int)
    /// An engine gave a delivery its outcome.
    case settled(delivery: Int, tenure: Int?, ResultRecord)
    /// The result stands on the results topic.
    case stored(delivery: Int, Books.StoredResult, isAlive: Bool)
    case acknowledged(tenure: Int?, delivery: Int)
    /// A commit in the name of the member's present assignment.
    case committing(Address, lane: Int, generation: Int, [CommitOffset])
    /// The broker took it.
    case committed(Address, lane: Int, [CommitOffset])
    case clockJumped
    case calm
    case over(isSettled: Bool)
}

/// An engine after one input.
struct Moment {
    var input: InputKind
    var actions: Int
    var now: Instant
    var wakeAt: Instant?
    var vitals: Vitals
    var census: Census

    enum InputKind {
        case alarm, other
    }
}

/// A promise that is checked at every fact. Answers with a sentence when it is broken.
protocol Checker {
    var promise: Promise { get }
    mutating func see(_ fact: Fact, _ books: Books) -> String?
}

/// The promises that are checked, by name.
public enum Promise: String, Sendable, Hashable, CaseIterable {
    case oneResult = "one result per delivery"
    case nothingLost = "nothing is lost"
    case truthfulOutcomes = "outcomes tell the truth"
    case commitsForward = "commits go forward, by the owner alone"
    case commitsBehindResults = "commits never pass an unstored result"
    case ledgerReach = "the ledger reaches back far enough"
    case repeats = "repeats only of what was under way"
    case drainFirst = "a partition is drained before it is given up"
    case duplicateWindow = "duplicates are recognised"
    case storyOrder = "stories keep their order"
    case rateLaw = "the rate law holds in every window"
    case memoryBounds = "memory is bounded"
    case haltKeepsEvents = "a halt keeps the events"
    case liveness = "everything settles once faults end"
    case quietAlarms = "alarms do not spin"

    var checker: any Checker {
        switch self {
        case .oneResult: OneResult()
        case .nothingLost: NothingLost()
        case .truthfulOutcomes: TruthfulOutcomes()
        case .commitsForward: CommitsForward()
        case .commitsBehindResults: CommitsBehindResults()
        case .ledgerReach: LedgerReach()
        case .repeats: Repeats()
        case .drainFirst: DrainFirst()
        case .duplicateWindow: DuplicateWindow()
        case .storyOrder: StoryOrder()
        case .rateLaw: RateLaw()
        case .memoryBounds: MemoryBounds()
        case .haltKeepsEvents: HaltKeepsEvents()
        case .liveness: Liveness()
        case .quietAlarms: QuietAlarms()
        }
    }
}
