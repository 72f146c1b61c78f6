import NewsModel
import PublishEngine

/// One life of one process: what is meant for an earlier one never reaches a later one.
struct Address: Hashable {
    var process: Int
    var incarnation: Int
}

/// What can be on the agenda.
enum Occurrence {
    // The life's script.
    case publish(item: Int)
    case begins(fault: Int)
    case ends(fault: Int)
    case start(process: Int)
    case thaw(process: Int)
    /// Nothing goes wrong from here on.
    case calm

    // Inside a process: these wait while it is frozen.
    case input(Address, Input)
    case reply(Flight, Reply)
    case alarm(Address, serial: Int)
    case command(Address, Command)
    case poll(Address)
    case readLedger(Address, LedgerJob)
    case hear(Address, lane: Int, round: Int)
    case takeAssignment(Address, lane: Int, groupGeneration: Int, partitions: [TopicPartition])
    case noticeLoss(Address, lane: Int)
    case loseReleasePatience(Address, lane: Int, generation: Int)
    case exit(Address)

    // At the broker.
    case append(Address, Production)
    case acknowledge(Address)
    case commit(Address, CommitRequest)
    case completeJoin(lane: Int, round: Int, isForced: Bool)
    case expireSession(Address, lane: Int)

    // At the hub.
    case arrive(Flight)

    /// The process in which it happens.
    var place: Address? {
        switch self {
        case .input(let address, _), .alarm(let address, _), .command(let address, _), .poll(let address),
            .readLedger(let address, _), .hear(let address, _, _), .takeAssignment(let address, _, _, _),
            .noticeLoss(let address, _), .loseReleasePatience(let address, _, _), .exit(let address):
            address
        case .reply(let flight, _): flight.address
        case .publish, .begins, .ends, .start, .thaw, .calm, .append, .acknowledge, .commit, .completeJoin,
            .expireSession, .arrive:
            nil
        }
    }
}

/// What an engine's actions ask of its Kafka bridge.
enum Command {
    case grant(lane: Int, records: Int, bytes: Int)
    case hold(TopicPartition, lane: Int, generation: Int, Bool)
    case commit(lane: Int, generation: Int, [CommitOffset])
    case release(lane: Int, generation: Int)
    case restore(lane: Int, generation: Int, results: TopicPartition)
    case close
}

struct CommitRequest {
    var lane: Int
    /// The generation of the group in which the member got its partitions.
    var groupGeneration: Int
    var offsets: [CommitOffset]
}

/// A results partition being read back.
struct LedgerJob {
    var lane: Int
    var generation: Int
    var results: TopicPartition
    /// `nil` before the reading began.
    var range: Range<Int64>?
}

/// A record on its way to the results or the dead-letter topic.
struct Production {
    var token: UInt64
    /// `nil` for a dead letter.
    var result: StoreRequest?
    var delivery: Int?
    var tenure: Int?
}

/// A request on its way.
struct Flight {
    var address: Address
    var token: UInt64
    /// Index into the books' attempts.
    var attempt: Int
    var mintedAt: Instant
}
