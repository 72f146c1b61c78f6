import Dispatch
import Foundation
import NewsModel
import StatusServer
import Synchronization

/// Log lines that wait to be written, at most `bytesMax` of them. Lines beyond that are dropped and counted.
package struct LogQueue {
    package static let bytesMax = 1 << 20

    private var lines: [String] = []
    private var bytes = 0
    /// Lines dropped after the last one in `lines`, and not reported yet.
    private var dropped = 0

    package init() {}

    /// - Returns: `false` if there is no room, and the line is dropped.
    package mutating func append(_ line: String) -> Bool {
        let count = line.utf8.count
        guard bytes + count <= Self.bytesMax else {
            dropped += 1
            return false
        }
        lines.append(line)
        bytes += count
        return true
    }

    /// Removes all lines.
    ///
    /// - Returns: the lines, and the number of those that were dropped after them; without lines, no number, so that a stream
    ///   that stays broken is not tried again for the report alone.
    package mutating func takeAll() -> (lines: [String], dropped: Int) {
        guard !lines.isEmpty else { return ([], 0) }
        defer { self = LogQueue() }
        return (lines, dropped)
    }

    /// Lines could not be written, or a report of lost lines could not.
    package mutating func lost(_ count: Int) { dropped += count }
}

/// Writes log lines on a thread of its own, so that nobody who logs waits for a reader of the log.
///
/// Standard error is often a pipe. Its reader may stop while it keeps the pipe open: a write then blocks for as long as that
/// lasts. Event loops, Kafka's threads and signal handlers all log, and each of them would stop with it.
package final class LogWriter: Sendable {
    /// The log of this process. Counts what it drops for `/metrics`.
    static let standardError = LogWriter(
        write: { Terminal(descriptor: 2).failure(writing: $0) == nil },
        onLoss: { LogLoss.lines.add(UInt64($0), ordering: .relaxed) })

    private struct State {
        var queue = LogQueue()
        var hasThread = false
        /// The thread has written everything and sleeps.
        var isIdle = true
        /// Callers of `flush` that wait for `isIdle`.
        var flushers = 0
        /// Makes the line that reports a number of lost lines.
        var report: @Sendable (Int) -> String = { "\($0) log lines dropped\n" }
    }

    private let state = Mutex(State())
    private let hasWork = DispatchSemaphore(value: 0)
    private let isDrained = DispatchSemaphore(value: 0)
    private let write: @Sendable (String) -> Bool
    private let onLoss: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - write: writes one whole line, and may block. Returns `false` if that is not possible.
    ///   - onLoss: called with the number of lines that were just dropped, on any thread.
    package init(write: @escaping @Sendable (String) -> Bool, onLoss: @escaping @Sendable (Int) -> Void) {
        self.write = write
        self.onLoss = onLoss
    }

    /// Never blocks.
    package func append(_ line: String) {
        let (starts, wakes, isKept) = state.withLock { state in
            let isKept = state.queue.append(line)
            let (starts, wakes) = (!state.hasThread, state.isIdle && isKept)
            state.hasThread = true
            if isKept { state.isIdle = false }
            return (starts, wakes, isKept)
        }
        if starts { start() }
        if wakes { hasWork.signal() }
        if !isKept { onLoss(1) }
    }

    private func start() {
        let thread = Thread { self.run() }
        thread.name = "log-writer"
        thread.start()
    }

    func reportLoss(with line: @escaping @Sendable (Int) -> String) { state.withLock { $0.report = line } }

    /// Waits until everything is written, but no longer than `limit`: a process must be able to end while nobody reads its log.
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
        // A stream that takes no lines takes no report of them either.
        if failed > 0 || !write(report(lost)) { state.withLock { $0.queue.lost(lost) } }
    }
}
