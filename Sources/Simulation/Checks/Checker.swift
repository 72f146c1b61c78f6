import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// An event in a life, reported to the checkers after it was recorded.
enum Fact {
    case published(item: Int)
    /// An engine is about to receive an input.
    case input(Address, Input)
    /// An engine has handled the input.
    case acted(Address, EngineSnapshot)
    /// The reasons for waiting in an engine's status.
    case inspected(Address, WaitReasons)
    case began(ownership: Int)
    case restored(ownership: Int)
    case ended(ownership: Int)
    /// Records were handed to an engine.
    case taken(ownership: Int, items: [Int])
    /// `wall` is the time by the process's wall clock.
    case sent(attempt: Int, Address, wall: Instant)
    /// The pool wrote the request. `inFlight` is the number of the process's requests that are written and not answered.
    case written(attempt: Int, inFlight: Int)
    /// The hub has read the request, and does not say that it ignored it.
    case processed(attempt: Int)
    case accepted(attempt: Int)
    case replied(attempt: Int)
    /// An engine settled a delivery and requests the storage of its dead letter. The result follows.
    case deadLettered(delivery: Int, ownership: Int?, ResultRecord, Address)
    /// An engine requests that the original be held. The result follows.
    case holding(delivery: Int, ownership: Int?, ResultRecord, Address)
    /// The original of an item is now on the held topic.
    case standsHeld(item: Int, partition: Int32)
    /// The held topic refuses the original. The engine keeps it, so the delivery is not settled.
    case keptHere(delivery: Int, ownership: Int?)
    /// A process has returned an original to its lane as a new item.
    case returned(item: Int, of: Int, HeldEvent, ReturnReason, Address, wall: Instant)
    /// The held topic was deleted with these items. `unread` are those that some process had not read; `isAttended` is false if no
    /// process ran.
    case heldDeleted(items: Set<Int>, unread: Set<Int>, isAttended: Bool)
    /// The records of these items were removed from the held topic, which remains.
    case heldTruncated(items: Set<Int>, unread: Set<Int>)
    /// At the end of the life: the log of a living process.
    case logged(Address, SimulatedLog)
    /// A process reports that this many held events are lost.
    case heldLost(Int)
    /// A process has written an original that vanished from the held topic to its lane again as a new item.
    case restoredHeld(item: Int, of: Int, Address)
    /// Retention has removed these records, which the lane's group had not committed.
    case removedUnread(items: [Int])
    /// A process reports records that were removed unread.
    case reportedRemoved([RemovedRecords])
    /// An engine requests the storage of a result.
    case settled(delivery: Int, ownership: Int?, ResultRecord, Address)
    case stored(delivery: Int, GroundTruth.StoredResult, isAlive: Bool)
    case acknowledged(ownership: Int?, delivery: Int, StoredRecord.Kind, Address)
    /// A commit of the member's present assignment.
    case committing(Address, lane: LaneID, Generation, [PartitionOffset])
    /// The broker accepted the commit.
    case committed(Address, lane: LaneID, [PartitionOffset])
    /// An engine has finished its drain.
    case finished(Address, Leftovers)
    case started(Address)
    case died(Address)
    /// A process continues after a standstill of seconds.
    case thawed(Address)
    /// A record was appended to the control topic.
    case controlled(ControlLog.Row)
    /// An editor has written the replacement of a story that they recalled.
    case replaced(item: Int)
    /// Compaction has removed an order from the control topic, because an invalid record with the same key followed it.
    case orderLost(ControlScope)
    /// An administrator has removed all records of the control topic.
    case controlTruncated
    /// A process has written to the audit topic.
    case audited(Address, AuditEntry)
    /// An engine reports that it has applied an order.
    case applied(Address, AppliedOrder)
    /// A process starts or stops knowing the orders in force.
    case ordersKnown(Address, Bool)
    case clockStepped(Address, by: Duration, wallBefore: Instant)
    /// An engine did something invalid.
    case strange(String)
    case calm
    /// `held` is the number of events on the held topic.
    case over(isSettled: Bool, held: Int)
}

/// Checks one promise after every fact. Returns a sentence if the promise is broken.
protocol Checker {
    var promise: Promise { get }
    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String?
}
