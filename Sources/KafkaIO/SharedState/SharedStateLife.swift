import Foundation
package import KafkaModel
import Synchronization

/// The life of a process that reads its part of a state topic. It waits for the brokers and runs until its driver is closed.
/// If `finish` is called while it waits, it ends at once.
package final class SharedStateLife: Sendable {
    private struct State {
        var isFinishing = false
        var isClosed = false
        var failure: KafkaFailure?
        var driver: SharedStateDriver?
        /// Waits for `isClosed`.
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    /// Ends the wait for brokers when the process is to end.
    private let finishing = DispatchSemaphore(value: 0)

    private static let brokerPause = DispatchTimeInterval.seconds(2)

    package init() {}

    package var driver: SharedStateDriver? { state.withLock { $0.driver } }

    /// Prepares the driver, and runs until `close` was called.
    ///
    /// - Parameters:
    ///   - isPatient: false to fail at the first obstacle, because a job that cannot start must not hang.
    ///   - whenWaiting: called before the first wait for brokers.
    ///   - prepare: makes the driver. It may block, and is called again after a failure that may pass.
    /// - Throws: a failure that only a person or a restart can resolve.
    package func run(
        isPatient: Bool = true, whenWaiting: @escaping @Sendable (KafkaFailure) -> Void,
        prepare: @escaping @Sendable () throws(KafkaFailure) -> SharedStateDriver
    ) async throws(KafkaFailure) {
        let prepared = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                continuation.resume(
                    returning: Result { () throws(KafkaFailure) in
                        try self.prepared(isPatient: isPatient, whenWaiting, prepare)
                    })
            }
        }
        if let driver = try prepared.get() {
            let isFinishing = state.withLock { state in
                state.driver = driver
                return state.isFinishing
            }
            // A closed driver leaves the group, or never joins it.
            if isFinishing { driver.close() } else { driver.start() }
            await untilClosed()
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// - Returns: `nil` if `finish` was called first.
    private func prepared(
        isPatient: Bool, _ whenWaiting: (KafkaFailure) -> Void, _ prepare: () throws(KafkaFailure) -> SharedStateDriver
    ) throws(KafkaFailure) -> SharedStateDriver? {
        var isFirst = true
        while !state.withLock({ $0.isFinishing }) {
            do throws(KafkaFailure) {
                return try prepare()
            } catch {
                guard isPatient, error.isRetriable || error.isAboutToken else { throw error }
                if isFirst { whenWaiting(error) }
                isFirst = false
                if finishing.wait(timeout: .now() + Self.brokerPause) == .success { return nil }
            }
        }
        return nil
    }

    private func untilClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if !state.isClosed { state.waiter = continuation }
                return state.isClosed
            }
            if isClosed { continuation.resume() }
        }
    }

    /// Ends the wait for brokers. Any thread.
    ///
    /// - Returns: `false` if it was called before.
    package func finish() -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isFinishing = true }
            return !state.isFinishing
        }
        if isFirst { finishing.signal() }
        return isFirst
    }

    /// Ends `run`, because the driver is closed or has failed. Any thread.
    package func close(_ failure: KafkaFailure? = nil) {
        let waiter = state.withLock { state in
            state.isClosed = true
            state.failure = failure ?? state.failure
            return state.waiter.take()
        }
        waiter?.resume()
    }
}
