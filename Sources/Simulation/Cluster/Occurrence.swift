import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// One run of one process: what is meant for an earlier one never reaches a later one.
struct Address: Hashable {
    var process: Int
    var run: Int

    /// Its name on the control topic.
    var replica: String { "p\(process)-\(run)" }
}

/// An entry of the agenda.
enum Occurrence {
    // The life's script.
    case publish(item: Int)
    case begins(fault: Int)
    case ends(fault: Int)
    case giveOrder(Int, isLift: Bool)
    case start(process: Int)
    case thaw(process: Int)
    /// Nothing goes wrong from here on.
    case calm
    /// Look whether everything is settled.
    case review

    // Inside a process: these wait while it is frozen.
    /// `items` are the news behind the records of the input.
    case input(Address, Input, items: [Int])
    case reply(Flight, Reply)
    case alarm(Address, serial: Int)
    case command(Address, KafkaCommand)
    case close(Address)
    case poll(Address)
    case readLedger(Address, lane: Int, turn: Int)
    case locate(Address, lane: Int, [LedgerState.Request])
    case noticeRebalance(Address, lane: Int, round: Int)
    case takeAssignment(Address, lane: Int, groupGeneration: Int, partitions: [TopicPartition])
    case noticeLoss(Address, lane: Int)
    case expireRelease(Address, lane: Int)
    case askCounts(Address, isRegular: Bool)
    case takeCounts(Address, [String: Int], readIn: [Generation])
    case lookAtIncarnations(Address)
    case examine(Address, lane: Int, [ConsumerState.IncarnationCheck])
    case retryProduce(Address)
    case inspect(Address)
    case askHub(Address)
    case hearHub(Address, Instant)
    case exit(Address)
    case readControl(Address)
    case tickControl(Address)
    case answerDesk(Address, ControlDesk.Input)
    case readHeld(Address)
    case alarmHeld(Address, serial: Int)
    case tellHeld(Address, HeldDesk.Input)

    // At the broker.
    case append(Address, Production)
    case acknowledge(Address)
    case commit(Address, CommitRequest)
    case completeJoin(lane: Int, round: Int, isForced: Bool)
    case expireSession(Address, lane: Int)
    case createTopic(String, partitions: Int)
    case growTopic(String, to: Int)
    case writeControl(Address, ControlDesk.WriteID, ControlRecord, until: Instant)
    case writeHeld(Address, ProducedRecord, HeldPlace)
    case putBack(Address, HeldDesk.Return)
    case restoreHeld(Address, HeldDesk.Restore)
    case findHeldEnds(Address, look: Int)
    case announceCounts
    /// Records can be fetched again.
    case serveReaders
    case noticeCounts(lane: Int)

    // At the hub.
    case arrive(Flight)

    /// The process in which it happens.
    var place: Address? {
        switch self {
        case .input(let address, _, _), .alarm(let address, _), .command(let address, _), .close(let address),
            .poll(let address), .readLedger(let address, _, _), .locate(let address, _, _),
            .noticeRebalance(let address, _, _), .takeAssignment(let address, _, _, _), .noticeLoss(let address, _),
            .expireRelease(let address, _), .askCounts(let address, _), .takeCounts(let address, _, _),
            .lookAtIncarnations(let address), .examine(let address, _, _), .retryProduce(let address),
            .inspect(let address), .askHub(let address), .hearHub(let address, _), .exit(let address),
            .readControl(let address), .tickControl(let address),
            .answerDesk(let address, _),
            .readHeld(let address), .alarmHeld(let address, _), .tellHeld(let address, _):
            address
        case .reply(let flight, _): flight.address
        case .publish, .begins, .ends, .giveOrder, .start, .thaw, .calm, .review, .append, .acknowledge, .commit,
            .completeJoin,
            .expireSession, .createTopic, .growTopic, .writeControl, .writeHeld, .putBack, .restoreHeld, .findHeldEnds,
            .announceCounts, .serveReaders, .noticeCounts, .arrive:
            nil
        }
    }
}

struct CommitRequest {
    var lane: Int
    var generation: Generation
    /// The generation of the group in which the member got its partitions.
    var groupGeneration: Int
    var offsets: [PartitionOffset]
    /// The notes beside them.
    var notes: [TopicPartition: String]
}

/// A record on its way to the results or the dead-letter topic.
struct Production {
    var key: RefusedRecords.Key
    var request: StoreRequest
    var partition: TopicPartition
    /// The delivery it is about, and under which ownership it was settled.
    var delivery: Int
    var ownership: Int?
    var bytes: Int
    var smallestBytes: Int
    /// In a batch of its own.
    var isAlone = false
    /// By the writer's clock on the wall.
    var timestamp: Instant
    /// Of the held topic.
    var record: ProducedRecord?
    /// When the producer gives up for now.
    var until = Instant.distantFuture
}

/// A request on its way.
struct Flight {
    var address: Address
    var request: RequestID
    /// Index into the attempts of the ground truth.
    var attempt: Int
    var mintedAt: Instant
}
