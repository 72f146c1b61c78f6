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
    case clockStepped(Address, by: Duration, wallBefore: Instant)
    /// An engine did something that makes no sense at all.
    case strange(String)
    case calm
    case over(isSettled: Bool)
}

/// A promise that is checked at every fact. Answers with a sentence when it is broken.
protocol Checker {
    var promise: Promise { get }
    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String?
}
