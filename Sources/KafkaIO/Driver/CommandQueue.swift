package import Foundation
package import KafkaModel
import Synchronization

/// A request from another thread to the polling thread.
enum DriverCommand: Sendable {
    case carryOut(KafkaCommand, ShardID)
    /// Forwards events, so that only one thread delivers.
    case forward(ShardEvents)
    case report(KafkaFailure)
    /// The producer did not accept a record into its queue.
    case refused(ProducedRecord, RefusedRecords.Key, KafkaFailure)
    case found(IncarnationNotes, LaneID)
    case checked(LaneID, ConsumerState.IncarnationCheck, IncarnationAnchor.Finding)
    /// A partition could not be read for a check.
    case failed(LaneID, ConsumerState.IncarnationCheck, KafkaFailure)
    /// The first offset of a partition in which reading has skipped offsets.
    case begins(LaneID, ConsumerState.RemovalCheck, at: Int64?)
    case close
}

extension Thread {
    /// Starts a thread with a name that debuggers and `top` show.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }
}

/// Commands that wait for a thread. Bounded by the pending work of the posting threads.
package final class CommandQueue<Command: Sendable>: Sendable {
    package let wakeUp: WakeUp
    private let waiting = Mutex<[Command]>([])

    package init() throws(KafkaFailure) { wakeUp = try WakeUp() }

    package func post(_ command: Command) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(command)
            return waiting.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    /// Exchanges the waiting commands for `emptied`, whose storage is reused.
    package func exchange(_ emptied: consuming [Command]) -> [Command] {
        waiting.withLock { waiting in
            let taken = waiting
            waiting = emptied
            return taken
        }
    }
}
