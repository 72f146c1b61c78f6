import Dispatch
import Foundation
import Synchronization

/// Turns SIGTERM and SIGINT into an orderly end. The second one ends the process at once.
final class SignalWatch: Sendable {
    private let sources: Mutex<[Source]> = Mutex([])
    private let firstAt = Mutex<ContinuousClock.Instant?>(nil)

    /// What comes sooner is the same signal once more: `timeout`, for one, signals its child and then the child's group.
    private static let echo = Duration.milliseconds(200)

    /// Signal sources are safe to share; only the protocol does not say so.
    private struct Source: @unchecked Sendable {
        var source: any DispatchSourceSignal
    }

    /// - Parameter first: called once, on a thread of its own.
    init(first: @escaping @Sendable () -> Void) {
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in self?.received(number, at: .now, first) }
            source.resume()
            sources.withLock { $0.append(Source(source: source)) }
        }
    }

    private func received(_ number: Int32, at now: ContinuousClock.Instant, _ first: () -> Void) {
        let before = firstAt.withLock { firstAt in
            defer { firstAt = firstAt ?? now }
            return firstAt
        }
        guard let before else { return first() }
        // 128 + the signal's number is what a shell reports for a process that died of it.
        if before.duration(to: now) >= Self.echo { _exit(128 + number) }
    }
}
