import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// A fact that has just been written down.
enum Fact {
    case published(item: Int)
    /// An engine is about to take an input.
    case input(Address, Input)
    /// An engine has taken it.
    case acted(Address, EngineSnapshot)
    /// The reasons for waiting in an engine's status.
    case inspected(Address, WaitReasons)
    case began(ownership: Int)
    case restored(ownership: Int)
    case ended(ownership: Int)
    /// Records were handed to an engine.
    case taken(ownership: Int, items: [Int])
    /// `wall` is what the process takes for the time.
    case sent(attempt: Int, Address, wall: Instant)
    case accepted(attempt: Int)
    case replied(attempt: Int)
    /// An engine gave a delivery its outcome and wants its dead letter stored; the result follows.
    case deadLettered(delivery: Int, ownership: Int?, ResultRecord, Address)
    /// An engine wants the original held; the result follows.
    case holding(delivery: Int, ownership: Int?, ResultRecord, Address)
    /// The original of an item has come to stand on the held topic.
    case standsHeld(item: Int, partition: Int32)
    /// The held topic does not take the original: its engine keeps it, and the delivery has no outcome after all.
    case keptHere(delivery: Int, ownership: Int?)
    /// A process has put an original back on its lane, as another item.
    case returned(item: Int, of: Int, HeldEvent, ReturnReason, Address, wall: Instant)
    /// The held topic was deleted with these items; of some, not every process has read that they are there.
    case heldDeleted(items: Set<Int>, unread: Set<Int>)
    /// A process has written an original that vanished from the held topic to its lane again, as another item.
    case restoredHeld(item: Int, of: Int)
    /// An engine wants a result stored.
    case settled(delivery: Int, ownership: Int?, ResultRecord, Address)
    /// The result stands on the results topic.
    case stored(delivery: Int, GroundTruth.StoredResult, isAlive: Bool)
    case acknowledged(ownership: Int?, delivery: Int, StoredRecord.Kind, Address)
    /// A commit in the name of the member's present assignment.
    case committing(Address, lane: Int, Generation, [PartitionOffset])
    /// The broker took it.
    case committed(Address, lane: Int, [PartitionOffset])
    /// An engine has finished its drain.
    case finished(Address, Leftovers)
    case started(Address)
    case died(Address)
    /// A process goes on after a standstill of seconds.
    case thawed(Address)
    /// A record has come to stand on the control topic.
    case controlled(ControlLog.Row)
    /// Compaction has taken an order from the control topic, because garbage stood behind it under the same key.
    case orderLost(ControlScope)
    /// A process has written to the audit topic.
    case audited(Address, AuditEntry)
    /// An engine says that it has applied an order.
    case applied(Address, AppliedOrder)
    /// A process begins or ceases to know the orders in force.
    case ordersKnown(Address, Bool)
    case clockStepped(Address, by: Duration, wallBefore: Instant)
    /// An engine did something that makes no sense at all.
    case strange(String)
    case calm
    /// `held` is the number of events that wait on the held topic.
    case over(isSettled: Bool, held: Int)
}

/// A promise that is checked at every fact. Answers with a sentence when it is broken.
protocol Checker {
    var promise: Promise { get }
    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String?
}
