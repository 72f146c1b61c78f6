package import KafkaModel
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

typealias CommandQueue = Mailbox<DriverCommand>

/// Commands that wait for a polling thread. Bounded by the work that those who post have under way.
package final class Mailbox<Command: Sendable>: Sendable {
    package let wakeUp: WakeUp
    private let waiting = Mutex<[Command]>([])

    package init() throws(KafkaFailure) {
        wakeUp = try WakeUp()
    }

    package func post(_ command: Command) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(command)
            return waiting.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    /// Exchanges the waiting commands for `emptied`, whose storage is used again.
    package func take(_ emptied: consuming [Command]) -> [Command] {
        waiting.withLock { waiting in
            let taken = waiting
            waiting = emptied
            return taken
        }
    }
}
