import Dispatch
import Foundation
import NewsModel
import Synchronization

/// Handlers of signals. They stay until the process ends.
enum Signals {
    /// Signal sources are safe to share, but their protocol does not declare it.
    private struct Source: @unchecked Sendable {
        var source: any DispatchSourceSignal
    }

    private static let sources = Mutex<[Source]>([])

    /// A second signal within this time counts as the first one. For example, `timeout` signals its child and then the child's
    /// group.
    private static let echo = Duration.milliseconds(200)

    /// Handles a signal instead of its default effect.
    static func handle(_ number: Int32, on queue: DispatchQueue = .global(), _ body: @escaping @Sendable () -> Void) {
        signal(number, SIG_IGN)
        let source = Source(source: DispatchSource.makeSignalSource(signal: number, queue: queue))
        source.source.setEventHandler(handler: body)
        source.source.resume()
        sources.withLock { $0.append(source) }
    }

    /// Turns SIGTERM and SIGINT into an orderly end. The second one ends the process at once.
    ///
    /// - Parameters:
    ///   - hangUp: true if the loss of the terminal ends the process too. Has no effect under `nohup`. A hang-up never ends
    ///     the process at once, because both the shell and the system send it.
    ///   - stop: called once, on a thread of a global dispatch queue.
    static func onStop(hangUp: Bool = false, _ stop: @escaping @Sendable () -> Void) {
        let first = Mutex<ContinuousClock.Instant?>(nil)
        for number in [SIGTERM, SIGINT] + (hangUp && !isIgnored(SIGHUP) ? [SIGHUP] : []) {
            handle(number) {
                let now = ContinuousClock.now
                let before = first.withLock { first in
                    defer { first = first ?? now }
                    return first
                }
                guard let before else { return stop() }
                // A shell reports 128 plus the signal's number for a process that a signal ended.
                if number != SIGHUP, before.duration(to: now) >= echo { _exit(128 + number) }
            }
        }
    }

    /// A flag that SIGTERM and SIGINT raise.
    static func stopFlag(hangUp: Bool = false) -> StopFlag {
        let flag = StopFlag()
        onStop(hangUp: hangUp) { flag.raise() }
        return flag
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        // `SIG_IGN` is a number in place of a function pointer.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// A flag that ends a loop on another thread, even while the loop waits.
package final class StopFlag: Sendable {
    private let raised = Mutex(false)
    private let semaphore = DispatchSemaphore(value: 0)

    package init() {}

    package var isRaised: Bool { raised.withLock { $0 } }

    package func raise() {
        raised.withLock { $0 = true }
        semaphore.signal()
    }

    /// Returns at the given time, or as soon as the flag is raised.
    func wait(until instant: ContinuousClock.Instant) {
        let left = ContinuousClock.now.duration(to: instant)
        guard left > .zero, !isRaised else { return }
        _ = semaphore.wait(timeout: .now() + .nanoseconds(Int(left.nanoseconds)))
    }
}
