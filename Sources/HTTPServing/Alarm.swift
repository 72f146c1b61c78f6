import NIOCore

/// Schedules the next check of a connection. An early check does no harm, so a pending one is never postponed.
struct Alarm {
    private var pending: (at: NIODeadline, task: Scheduled<Void>)?

    /// - Parameter due: `nil` if no check is due.
    /// - Parameter look: called on the event loop; calls `rang()` first.
    mutating func set(for due: NIODeadline?, on loop: any EventLoop, look: @escaping @Sendable () -> Void) {
        guard let due else { return }
        if let pending {
            if pending.at <= due { return }
            pending.task.cancel()
        }
        pending = (due, loop.scheduleTask(deadline: due, look))
    }

    mutating func rang() { pending = nil }

    mutating func cancel() {
        pending?.task.cancel()
        pending = nil
    }
}
