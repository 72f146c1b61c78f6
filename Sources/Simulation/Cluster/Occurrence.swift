import EditorialControl
import HubModel
import KafkaModel
import NewsModel
import PublishEngine

/// One run of one process. Messages for an earlier run never reach a later one.
struct Address: Hashable {
    var process: Int
    var run: Int

    /// The name of the run on the control topic.
    var replica: String { "p\(process)-\(run)" }
}

/// An entry of the agenda.
enum Occurrence {
    // The script of the life.
    case publish(item: Int)
    case begins(fault: Int)
    case ends(fault: Int)
    case giveOrder(Int, isLift: Bool)
    case replaceStory(Int)
    case rename(CategoryRename)
    case start(process: Int)
    case thaw(process: Int)
    /// All faults have ended.
    case calm
    /// Checks whether everything is settled.
    case review

    // Inside a process. These occurrences wait while the process is frozen.
    /// `items` are the news in the input's records.
    case input(Address, Input, items: [Int])
    case connection(Address, ConnectionID, number: Int, ConnectionEvent)
    case wakePool(Address)
    case handOver(Address)
    case alarm(Address, serial: Int)
    case command(Address, KafkaCommand)
    case close(Address)
    case poll(Address)
    case readLedger(Address, lane: LaneID, turn: Int)
    case locate(Address, lane: LaneID, [LedgerState.Request])
    case noticeRebalance(Address, lane: LaneID, round: Int)
    case takeAssignment(Address, lane: LaneID, groupGeneration: Int, partitions: [TopicPartition])
    case noticeLoss(Address, lane: LaneID)
    case expireRelease(Address, lane: LaneID)
    case askCounts(Address, isRegular: Bool)
    case takeCounts(Address, [String: Int], readIn: [Generation])
    case lookAtIncarnations(Address)
    case examine(Address, lane: LaneID, [ConsumerState.IncarnationCheck])
    case examineRemovals(Address, lane: LaneID, [ConsumerState.RemovalCheck])
    case retryProduce(Address)
    case inspect(Address)
    case askHub(Address)
    case hearHub(Address, Instant)
    case exit(Address)
    case writeLog(Address)
    case readControl(Address)
    case tickControl(Address)
    case answerControlState(Address, ControlState.Input)
    case readHeld(Address)
    case alarmHeld(Address, serial: Int)
    case tellHeld(Address, HeldState.Input)

    // Occurrences at the broker.
    case append(Address, Production)
    case acknowledge(Address)
    case commit(Address, CommitRequest)
    case completeJoin(lane: LaneID, round: Int, isForced: Bool)
    case expireSession(Address, lane: LaneID)
    case createTopic(String, partitions: Int)
    case growTopic(String, to: Int)
    case writeControl(Address, ControlState.WriteID, ControlRecord, until: Instant)
    case writeHeld(Address, ProducedRecord, item: Int?, HeldPlace?)
    case putBack(Address, HeldState.Return)
    case restoreHeld(Address, HeldState.Restore)
    case findHeldEnds(Address, look: Int)
    case announceCounts
    /// Records can be fetched again.
    case serveReaders
    case noticeCounts(lane: LaneID)

    // Occurrences at the hub.
    case arrive(Flight)

    /// The process in which the occurrence happens.
    var place: Address? {
        switch self {
        case .input(let address, _, _), .alarm(let address, _), .command(let address, _), .close(let address),
            .poll(let address), .readLedger(let address, _, _), .locate(let address, _, _),
            .noticeRebalance(let address, _, _), .takeAssignment(let address, _, _, _), .noticeLoss(let address, _),
            .expireRelease(let address, _), .askCounts(let address, _), .takeCounts(let address, _, _),
            .lookAtIncarnations(let address), .examine(let address, _, _), .examineRemovals(let address, _, _),
            .retryProduce(let address),
            .inspect(let address), .askHub(let address), .hearHub(let address, _), .exit(let address),
            .readControl(let address), .tickControl(let address), .writeLog(let address),
            .answerControlState(let address, _),
            .readHeld(let address), .alarmHeld(let address, _), .tellHeld(let address, _):
            address
        case .connection(let address, _, _, _), .wakePool(let address), .handOver(let address): address
        case .publish, .begins, .ends, .giveOrder, .replaceStory, .rename, .start, .thaw, .calm, .review, .append,
            .acknowledge, .commit,
            .completeJoin,
            .expireSession, .createTopic, .growTopic, .writeControl, .writeHeld, .putBack, .restoreHeld, .findHeldEnds,
            .announceCounts, .serveReaders, .noticeCounts, .arrive:
            nil
        }
    }
}

struct CommitRequest {
    var lane: LaneID
    var generation: Generation
    /// The generation of the group in which the member was assigned its partitions.
    var groupGeneration: Int
    var offsets: [PartitionOffset]
    var notes: [TopicPartition: String]
}

/// A record in flight to the results, dead-letter or held topic.
struct Production {
    var key: RefusedRecords.Key
    var request: StoreRequest
    var partition: TopicPartition
    /// The delivery of the record, and the ownership under which it was settled.
    var delivery: Int
    var ownership: Int?
    var bytes: Int
    var smallestBytes: Int
    /// True if it is the only record of its batch.
    var isAlone = false
    /// Time by the writer's wall clock.
    var timestamp: Instant
    /// The record for the held topic.
    var record: ProducedRecord?
    /// Time at which the producer's attempt times out.
    var until = Instant.distantFuture
}
