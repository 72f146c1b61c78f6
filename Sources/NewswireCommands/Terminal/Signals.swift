import Dispatch
import Foundation
import NewsModel
import Synchronization

/// Handles one signal, instead of its default effect, for as long as this lives.
final class SignalHandler: Sendable {
    /// Signal sources are safe to share; only their protocol does not say so.
    private struct Source: @unchecked Sendable {
        var source: any DispatchSourceSignal
    }

    private let source: Source

    init(_ number: Int32, on queue: DispatchQueue = .global(), handle: @escaping @Sendable () -> Void) {
        signal(number, SIG_IGN)
        source = Source(source: DispatchSource.makeSignalSource(signal: number, queue: queue))
        source.source.setEventHandler(handler: handle)
        source.source.resume()
    }

    deinit { source.source.cancel() }
}

/// Turns SIGTERM and SIGINT into an orderly end. The second one ends the process at once.
final class StopSignals: Sendable {
    private let handlers: [SignalHandler]

    /// A second signal within this time is the first one again: `timeout`, for one, signals its child and then the
    /// child's group.
    private static let echo = Duration.milliseconds(200)

    /// - Parameters:
    ///   - hangUp: whether a terminal that goes away is a reason to end too. Not under `nohup`, and it never ends the process
    ///     at once: it comes from the shell and from the system.
    ///   - stop: called once, on a thread of its own.
    init(hangUp: Bool = false, stop: @escaping @Sendable () -> Void) {
        let first = Mutex<ContinuousClock.Instant?>(nil)
        let numbers = [SIGTERM, SIGINT] + (hangUp && !Self.isIgnored(SIGHUP) ? [SIGHUP] : [])
        handlers = numbers.map { number in
            SignalHandler(number) {
                let now = ContinuousClock.now
                let before = first.withLock { first in
                    defer { first = first ?? now }
                    return first
                }
                guard let before else { return stop() }
                // A shell reports 128 plus the signal's number for a process that died of it.
                if number != SIGHUP, before.duration(to: now) >= Self.echo { _exit(128 + number) }
            }
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // `SIG_IGN` is a number in the place of a function.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// Ends a loop on another thread, even while it waits.
package final class StopFlag: Sendable {
    private let raised = Mutex(false)
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package var isRaised: Bool { raised.withLock { $0 } }

    package func raise() {
        raised.withLock { $0 = true }
        semaphore.signal()
    }

    /// Returns at the instant, or as soon as the flag is raised.
    func wait(until instant: ContinuousClock.Instant) {
        let left = ContinuousClock.now.duration(to: instant)
        guard left > .zero, !isRaised else { return }
        _ = semaphore.wait(timeout: .now() + .nanoseconds(Int(left.nanoseconds)))
    }
}
