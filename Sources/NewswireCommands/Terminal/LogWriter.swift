import Dispatch
import Foundation
import KafkaIO
import NewsModel
import StatusServer
import Synchronization

/// Writes log lines on its own thread, so that callers never wait for a reader of the log.
///
/// Standard error is often a pipe. If its reader stops but keeps the pipe open, a write blocks until the reader continues.
/// Event loops, Kafka's threads and signal handlers all log, and would block too.
package final class LogWriter: Sendable {
    /// The log of this process. Counts dropped lines for `/metrics`.
    static let standardError = LogWriter(
        write: { Terminal(descriptor: 2).failure(writing: $0) == nil },
        onLoss: { LogLoss.lines.add(UInt64($0), ordering: .relaxed) })

    private struct State {
        var queue = LogQueue()
        var hasThread = false
        /// True if the thread has written everything and sleeps.
        var isIdle = true
        /// The number of `flush` callers that wait for `isIdle`.
        var flushers = 0
        /// Formats the line that reports a number of lost lines.
        var report: @Sendable (Int) -> String = { "\($0) log lines dropped\n" }
    }

    private let state = Mutex(State())
    private let hasWork = DispatchSemaphore(value: 0)
    private let isDrained = DispatchSemaphore(value: 0)
    private let write: @Sendable (String) -> Bool
    private let onLoss: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - write: writes one whole line, and may block. Returns `false` if that fails.
    ///   - onLoss: receives the number of lines that were just dropped. Called on any thread.
    package init(write: @escaping @Sendable (String) -> Bool, onLoss: @escaping @Sendable (Int) -> Void) {
        self.write = write
        self.onLoss = onLoss
    }

    /// Buffers the line, or drops it if there is no room. Never blocks.
    package func append(_ line: String) {
        let (starts, wakes, isKept) = state.withLock { state in
            let isKept = state.queue.append(line)
            let (starts, wakes) = (!state.hasThread, state.isIdle && isKept)
            state.hasThread = true
            if isKept { state.isIdle = false }
            return (starts, wakes, isKept)
        }
        if starts { Thread.start("log-writer") { self.run() } }
        if wakes { hasWork.signal() }
        if !isKept { onLoss(1) }
    }

    func reportLoss(with line: @escaping @Sendable (Int) -> String) { state.withLock { $0.report = line } }

    /// Waits until everything is written, but at most `limit`, so that a process can end while nobody reads its log.
    package func flush(within limit: Duration) {
        let mustWait = state.withLock { state in
            if !state.isIdle { state.flushers += 1 }
            return !state.isIdle
        }
        if mustWait { _ = isDrained.wait(timeout: .now() + .nanoseconds(Int(limit.nanoseconds))) }
    }

    private func run() {
        while true {
            let (lines, dropped) = state.withLock { state in
                let taken = state.queue.takeAll()
                guard taken.lines.isEmpty else { return taken }
                state.isIdle = true
                for _ in 0..<state.flushers { isDrained.signal() }
                state.flushers = 0
                return taken
            }
            if lines.isEmpty { hasWork.wait() } else { write(lines, dropped: dropped) }
        }
    }

    private func write(_ lines: [String], dropped: Int) {
        let failed = lines.reduce(0) { write($1) ? $0 : $0 + 1 }
        if failed > 0 { onLoss(failed) }
        let lost = failed + dropped
        guard lost > 0 else { return }
        let report = state.withLock { $0.report }
        // If lines could not be written, a report of their loss cannot be written either.
        if failed > 0 || !write(report(lost)) { state.withLock { $0.queue.lost(lost) } }
    }
}
