import KafkaModel
import Synchronization

/// A request of another thread to the polling thread.
enum DriverCommand: Sendable {
    case carryOut(KafkaCommand, ShardID)
    /// Hands events on, so that one thread alone delivers.
    case forward(ShardEvents)
    case report(KafkaFailure)
    /// The producer did not even take a record into its queue.
    case refused(ProducedRecord, RefusedRecords.Key, KafkaFailure)
    case found(IncarnationNotes, LaneID)
    case checked(LaneID, ConsumerState.IncarnationCheck, IncarnationAnchor.Finding)
    case close
}

/// Commands that wait for the polling thread. Bounded by the work that the engines and our own threads have under way.
final class CommandQueue: Sendable {
    let wakeUp: WakeUp
    private let waiting = Mutex<[DriverCommand]>([])

    init() throws(KafkaFailure) {
        wakeUp = try WakeUp()
    }

    func post(_ command: DriverCommand) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(command)
            return waiting.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    /// Exchanges the waiting commands for `emptied`, whose storage is used again.
    func take(_ emptied: consuming [DriverCommand]) -> [DriverCommand] {
        waiting.withLock { waiting in
            let taken = waiting
            waiting = emptied
            return taken
        }
    }
}
