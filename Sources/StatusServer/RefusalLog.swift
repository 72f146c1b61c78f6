import Logging
import NIOCore
import Synchronization

/// Logs refused actions: the first of each kind, then the number of further ones in each interval. Unauthorised callers
/// therefore cannot flood the log.
final class RefusalLog: Sendable {
    private let log: Logger
    private let interval: TimeAmount
    /// The refusals of each kind since its last line.
    private let counts = Mutex<[String: Int]>([:])

    init(_ log: Logger, interval: TimeAmount) {
        self.log = log
        self.interval = interval
    }

    /// - Parameters:
    ///   - kind: the kind of refusal, one of a few.
    ///   - loop: any event loop. It logs the count.
    func note(_ kind: String, _ facts: Logger.Metadata, on loop: any EventLoop) {
        let isFirst = counts.withLock { counts in
            defer { counts[kind] = counts[kind].map { $0 + 1 } ?? 0 }
            return counts[kind] == nil
        }
        guard isFirst else { return }
        log.warning("operator action refused", metadata: facts.merging(["reason": "\(kind)"]) { $1 })
        loop.scheduleTask(in: interval) { self.sumUp(kind, on: loop) }
    }

    private func sumUp(_ kind: String, on loop: any EventLoop) {
        let count = counts.withLock { counts in
            let count = counts[kind] ?? 0
            counts[kind] = count > 0 ? 0 : nil
            return count
        }
        guard count > 0 else { return }
        log.warning("more operator actions refused", metadata: ["count": "\(count)", "reason": "\(kind)"])
        loop.scheduleTask(in: interval) { self.sumUp(kind, on: loop) }
    }
}
