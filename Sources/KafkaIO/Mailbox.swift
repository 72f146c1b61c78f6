import Synchronization

/// Where commands wait for the polling thread.
final class Mailbox: Sendable {
    let wakeUp: WakeUp
    private let waiting = Mutex<[BridgeCommand]>([])

    init() throws(KafkaFailure) {
        wakeUp = try WakeUp()
    }

    func post(_ command: BridgeCommand) {
        let first = waiting.withLock { waiting in
            waiting.append(command)
            return waiting.count == 1
        }
        if first { wakeUp.signal() }
    }

    /// Exchanges the waiting commands for `emptied`, whose storage is used again.
    func take(_ emptied: consuming [BridgeCommand]) -> [BridgeCommand] {
        waiting.withLock { waiting in
            let taken = waiting
            waiting = emptied
            return taken
        }
    }
}
